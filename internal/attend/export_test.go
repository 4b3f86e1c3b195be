package attend

// SetMostCopiesFrom sets from how many edges the gradient of attention's logits is
// added up in the most copies.
func SetMostCopiesFrom(edges int) (undo func()) {
	old := mostCopiesFrom
	mostCopiesFrom = edges
	return func() { mostCopiesFrom = old }
}
