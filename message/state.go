package message

import "github.com/edgewise-ml/edgewise/grad"

// State is what a node of a sweep hands on: any number of Vars with a row for
// each node. A GRU has h; an LSTM has h and c.
type State []*grad.Var

// Rows returns the given rows of every Var.
func (s State) Rows(rows []int32) State {
	out := make(State, len(s))
	for i, x := range s {
		out[i] = x.Rows(rows)
	}
	return out
}

// Keep returns a copy of every Var as a constant: the state that truncated
// back-propagation carries into the next segment.
func (s State) Keep() State {
	out := make(State, len(s))
	for i, x := range s {
		out[i] = x.Keep()
	}
	return out
}
