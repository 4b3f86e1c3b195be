// Package streamtest tries readers and writers on streams as they come: in pieces, cut short, or broken half way. [Reads] tries what takes
// an io.Reader, [ReadsAt] what takes an io.ReaderAt and a size, and [Writes] what takes an io.Writer:
//
//	b := streamtest.Writes(t, func(w io.Writer) error { return text.Write(w, words) })
//	streamtest.Reads(t, b, text.Read)
//
// What is read must be the same each time, as reflect.DeepEqual has it. Only tests import it.
package streamtest
