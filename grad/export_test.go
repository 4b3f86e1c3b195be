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

// SetWaits says whether results wait for an operation that takes them along.
func SetWaits(on bool) (undo func()) {
	old := waits
	waits = on
	return func() { waits = old }
}

// Unread reports whether x will be worked out when it is first read.
func Unread(x *Var) bool {
	l := x.late.Load()
	return l != nil && l.state == waiting
}
