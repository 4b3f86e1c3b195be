// Package simdtest holds what the tests of the kernels have in common: slices with guard
// words around them, numbers that functions break at, and the comparison of assembly with
// plain Go.
package simdtest
