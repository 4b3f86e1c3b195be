//go:build !race

package sparing

// Raced reports whether the race detector is on.
const Raced = false
