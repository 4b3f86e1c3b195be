package grad

// SetHandLeast sets from how many elements a gradient is handed over.
func SetHandLeast(n int) (undo func()) {
	old := handLeast
	handLeast = n
	return func() { handLeast = old }
}
