// Package atomicfile writes files whole or not at all. Its nouns are [Write] and
// [Lock]:
//
//	err := atomicfile.Write("model.safetensors", func(w io.Writer) error {
//		return save(w)
//	})
//
// The content goes to a temporary file beside the target, which takes the
// target's name only when it is complete and on the disk. A reader sees the old
// file or the new one, and a failure leaves the old one as it was. [Probe] says
// beforehand whether a file can be written.
//
// A process that is killed may leave a file named .NAME.PID-N.tmp behind. While
// it is written such a file is locked, so the next process that writes NAME
// knows what nobody writes any more, and removes it. A program that ends while
// others of its goroutines may be writing calls [Abandon] first.
//
// Where the system or the file system has no locks, nothing that is left behind
// is removed, and [Lock] says so. Locks are the kernel's: none outlives its
// process.
package atomicfile
