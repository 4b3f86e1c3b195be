package sparse

// Force has all products take a way, as far as they can, until undo is called.
func Force(way Way) (undo func()) {
	was := forced
	forced = &way
	return func() { forced = was }
}
