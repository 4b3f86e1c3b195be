//go:build !race

package tensor

// Raced reports whether the race detector is on.
const Raced = false

// Sparing returns all cases; under the race detector some.
func Sparing[T any](cases []T) []T { return cases }
