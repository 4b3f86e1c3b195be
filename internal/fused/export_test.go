package fused

// SetCopiesFrom sets from how many edges the gradient of attention's logits is
// added up in 2, 4 and 8 copies.
func SetCopiesFrom(edges [3]int) (undo func()) {
	old := copiesFrom
	copiesFrom = edges
	return func() { copiesFrom = old }
}

// SetErMost sets how many numbers of edges have places at once, of the gradient of attention's logits.
func SetErMost(numbers int) (undo func()) {
	old := erMost
	erMost = numbers
	return func() { erMost = old }
}
