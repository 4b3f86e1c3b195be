// Package simd holds the kernels on rows and slices that everything else is
// made of. Each is written in plain Go, which is the truth; assembly, where it
// exists, gives the same values faster.
package simd
