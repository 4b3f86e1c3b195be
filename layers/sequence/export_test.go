package sequence

import "math"

// Swept has all recurrences go level by level until undo is called.
func Swept() (undo func()) {
	old := chainLevels
	chainLevels = math.MaxInt
	return func() { chainLevels = old }
}
