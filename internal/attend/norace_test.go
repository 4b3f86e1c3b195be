//go:build !race

package attend_test

// raced reports whether the race detector is on.
const raced = false

// sparing returns all cases; under the race detector some.
func sparing[T any](cases []T) []T { return cases }
