package decode

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Live are the hypotheses that a step takes further, a row each; those of a
// sentence stand together, the likeliest first. It is valid until the step
// returns.
type Live struct {
	Step     int     // how many tokens each has, the begin token not counted
	Last     []int32 // the last token of each, at first the begin token
	Sentence []int32 // whose it is; ascending
	State    State   // the rows that the last step returned, in the order of these

	hyps []hyp
	past past
}

// hyp is a live hypothesis.
type hyp struct {
	logProb float64
	at      int32 // its last token in past; −1: none yet
}

// Len returns the number of rows.
func (l *Live) Len() int { return len(l.Last) }

// Tokens appends the tokens of a row so far to buf, without the begin token.
func (l *Live) Tokens(row int, buf []int32) []int32 { return l.past.tokens(l.hyps[row].at, buf) }

// past holds the tokens of all hypotheses as trees: each points to the one
// before it.
type past struct{ token, before []int32 }

func (p *past) add(token, before int32) int32 {
	p.token, p.before = append(p.token, token), append(p.before, before)
	return int32(len(p.token) - 1)
}

// tokens appends those that lead to number at.
func (p *past) tokens(at int32, buf []int32) []int32 {
	from := len(buf)
	for ; at >= 0; at = p.before[at] {
		buf = append(buf, p.token[at])
	}
	slices.Reverse(buf[from:])
	return buf
}

// enter copies a state of another tape to t, with row rows[i] as its row i. It is a
// copy even of rows that stay as they are: a step may return what it was given, and
// the other tape's memory is used again before that is read.
func enter(t *grad.Tape, from, to State, rows []int32) State {
	to = to[:0]
	for _, v := range from {
		to = append(to, t.Input(v.Value()).Rows(rows))
	}
	return to
}

// checkState panics unless every Var of a state has n rows, or one where that
// stands for all.
func checkState(op string, s State, n int, one bool) {
	for _, v := range s {
		if v == nil {
			panic(&grad.TapeError{Op: op, Why: "a Var of the state is nil"})
		}
		if rows := v.Dim(0); rows != n && !(one && rows == 1) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(v.Shape())}, Why: "the state wants a row for each hypothesis"})
		}
	}
}
