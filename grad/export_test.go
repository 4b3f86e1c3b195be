package grad

// SetHandLeast sets from how many elements a gradient is handed over.
func SetHandLeast(n int) (undo func()) {
	old := handLeast
	handLeast = n
	return func() { handLeast = old }
}

// SetJointLeast sets from how many elements a gradient gives those of weights and
// bias together.
func SetJointLeast(n int) (undo func()) {
	old := jointLeast
	jointLeast = n
	return func() { jointLeast = old }
}
