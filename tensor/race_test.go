//go:build race

package tensor

// Raced reports whether the race detector is on.
const Raced = true
