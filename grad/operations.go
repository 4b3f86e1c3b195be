package grad

// Operations returns the names of what t has recorded since its last Reset, in
// order, each below the labels that [Tape.Label] gave: "Conv1/MatMul". Those of a
// sweep stand where it does. Of an expression that has a kernel of its own the
// name says which: "UpdateAll.Attention" and not "UpdateAll". Operations that ran
// as one have a plus between them: "UpdateAll.Attention+AddBias".
func (t *Tape) Operations() []string {
	if t == nil {
		return nil
	}
	return names(nil, t.nodes)
}

// names appends the names of nodes to to.
func names(to []string, nodes []node) []string {
	for i := range nodes {
		n := &nodes[i]
		if rounds, ok := n.by.(*loopPull); ok {
			to = names(to, rounds.nodes)
		} else if !n.skipped() {
			to = append(to, n.name())
		}
	}
	return to
}
