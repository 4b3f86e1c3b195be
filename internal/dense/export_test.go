package dense

// SetFewWidth sets up to which width few rows are normalised element by element.
func SetFewWidth(n int) (undo func()) {
	old := fewWidth
	fewWidth = n
	return func() { fewWidth = old }
}
