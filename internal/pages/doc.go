// Package pages makes large slices whose memory is in huge pages, where the
// operating system has them.
//
// A gather that reads rows here and there in 40 MB meets a new page of 4 KiB
// with nearly each row, and the processor has to look up where that is. With
// pages of 2 MiB it remembers them all. Linux gives them on request:
//
//	x := pages.Make[float32](n, n)
//
// On other systems, and for small slices, Make is make.
package pages
