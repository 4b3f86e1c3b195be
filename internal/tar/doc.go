// Package tar lists the members of tar archives and reads them: those of POSIX,
// with and without extended records, and of GNU. Its one noun is [Reader].
//
//	r := tar.NewReader(f)
//	for {
//		h, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//		data, err := io.ReadAll(r) // of h
//	}
//
// It stands in for archive/tar, with the same names and results where the two
// overlap: that package knows the users of the system, so wherever Go finds a C
// compiler it would link the C library into every program that reads a dataset.
// Owners, modes, times and links are left out. A sparse member has no content
// here.
package tar
