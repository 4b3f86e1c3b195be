// Package unpack opens files that may be compressed, and folders that may be
// archives, without writing anything to the disk.
//
//	r, err := unpack.Open("facebook_combined.txt.gz") // gzip, zstd, or plain
//	f, err := unpack.OpenFolder("cora.zip")           // a folder, zip or tar
//	r, err := f.Open("cora/cora.cites")
//
// What a file is, its first bytes say, not its name. A member whose name leads
// out of its archive makes the archive an error, and so does a file that expands
// to more than [Limit] allows: that is what small files do that are made to fill
// a memory.
package unpack
