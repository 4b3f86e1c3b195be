package attend

// SetCopiesFrom sets from how many edges the gradient of attention's logits is
// added up in 2, 4 and 8 copies.
func SetCopiesFrom(edges [3]int) (undo func()) {
	old := copiesFrom
	copiesFrom = edges
	return func() { copiesFrom = old }
}
