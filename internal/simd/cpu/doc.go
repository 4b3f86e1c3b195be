// Package cpu says which kernels this processor can run, and holds what the packages of
// kernels have in common: the element type, how much a call does, and when memory is
// asked for early or written past the caches.
package cpu
