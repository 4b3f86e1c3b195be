//go:build noasm || f64

package sparing

// plain reports whether every kernel is plain Go.
const plain = true
