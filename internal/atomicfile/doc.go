// Package atomicfile writes files whole or not at all. Its one noun is [Write]:
//
//	err := atomicfile.Write("model.safetensors", func(w io.Writer) error {
//		return save(w)
//	})
//
// The content goes to a temporary file beside the target, which takes the
// target's name only when it is complete and on the disk. A reader sees the old
// file or the new one, and a failure leaves the old one as it was. A process
// that is killed may leave a file named .NAME.*.tmp behind.
package atomicfile
