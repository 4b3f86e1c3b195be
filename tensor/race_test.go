//go:build race

package tensor

// Raced reports whether the race detector is on.
const Raced = true

// Sparing returns every third case: under the detector arithmetic is slow, and what it
// looks for are accesses.
func Sparing[T any](cases []T) []T {
	var some []T
	for i := 0; i < len(cases); i += 3 {
		some = append(some, cases[i])
	}
	return some
}
