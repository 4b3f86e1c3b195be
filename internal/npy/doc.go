// Package npy reads arrays in NumPy's formats: .npy, which holds one, and .npz,
// a zip archive of them.
//
// A reader allocates no more than the bytes that are there, whatever a header
// says, and gives an error that names the member and the value for anything
// that is not an array. All arrays of an archive together may take 48 MiB and 256
// times the file, 4 bytes more for each number than it has; two of one name are refused. Object arrays, whose elements are pickled, come with
// their bytes as they are: [Array.Pickled]. [WriteArchive] writes an archive.
//
//	z, err := npy.NewArchive("graph.npz", file, size)
//	a, err := z.Read("indptr")
//	offsets, err := a.Int64s()
package npy
