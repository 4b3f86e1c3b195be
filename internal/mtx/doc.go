// Package mtx reads matrices in the Matrix Market exchange format: coordinate or
// array; real, integer or pattern; general, symmetric or skew-symmetric.
//
//	m, err := mtx.Read(r)
//
// Its one noun is [Matrix], a list of elements. What a header says beyond that
// (complex, hermitian) is an error that says what to do. A reader allocates no
// more than the elements that are there, whatever a header says.
package mtx
