//go:build race

package attend_test

// raced reports whether the race detector is on.
const raced = true

// sparing returns every third case: under the detector arithmetic is slow, and what it
// looks for are accesses.
func sparing[T any](cases []T) []T {
	var some []T
	for i := 0; i < len(cases); i += 3 {
		some = append(some, cases[i])
	}
	return some
}
