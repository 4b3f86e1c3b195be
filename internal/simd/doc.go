// Package simd holds the kernels on rows and slices that everything else is
// made of. Each is written in plain Go, which is the truth; assembly, where it
// exists, gives the same values faster, though not the same bits.
//
// Assembly needs an amd64 with AVX2 and FMA, and is left out of builds with the
// tag noasm or f64; of a few kernels there is one for AVX-512, too. [Path] says
// which is in use, and [Disable] and [Narrow] are for tests:
//
//	defer simd.Disable()()
//
// A function of one element gives the same bits wherever the element stands in
// a slice and however long the slice is.
package simd

//go:generate go -C _gen run . -family pointwise -out ../pointwise_amd64.s -stubs ../pointwise_amd64.go -pkg simd
//go:generate go -C _gen run . -family rows -out ../rows_amd64.s -stubs ../rows_amd64.go -pkg simd
//go:generate go -C _gen run . -family messages -out ../messages_amd64.s -stubs ../messages_amd64.go -pkg simd
//go:generate go -C _gen run . -family fan -out ../fan_amd64.s -stubs ../fan_amd64.go -pkg simd
//go:generate go -C _gen run . -family scored -out ../scored_amd64.s -stubs ../scored_amd64.go -pkg simd
//go:generate go -C _gen run . -family product -out ../product_amd64.s -stubs ../product_amd64.go -pkg simd
//go:generate go -C _gen run . -family spmm -out ../spmm_amd64.s -stubs ../spmm_amd64.go -pkg simd
//go:generate go -C _gen run . -family attention -out ../attention_amd64.s -stubs ../attention_amd64.go -pkg simd
//go:generate go -C _gen run . -family kept -out ../kept_amd64.s -stubs ../kept_amd64.go -pkg simd
//go:generate go -C _gen run . -family ends -out ../ends_amd64.s -stubs ../ends_amd64.go -pkg simd
//go:generate go -C _gen run . -family bent -out ../bent_amd64.s -stubs ../bent_amd64.go -pkg simd
