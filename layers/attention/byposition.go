package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ByPosition scores a key by where it stands, and not by what it is:
//
//	s_uv = (q_v·W)_i, where i is u's position
//
// the "location" score of Luong, Pham and Manning, "Effective Approaches to Attention-based
// Neural Machine Translation", 2015: a scalar product of the query with what is learnt for
// each of Longest positions. It is a [Score] once it is told the positions:
//
//	score := place.At(sentences.Positions())
type ByPosition struct {
	Query, Longest int

	W *grad.Param `json:"-"` // Longest×Query, a row a position
}

// Init makes the Params, uniform up to the root of one over Query.
func (l *ByPosition) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = compose.Uniform(rng, l.Longest, l.Query, l.Query)
}

// At returns the score of keys that stand at these positions, a number each, such as
// [graph.Graph.Positions]. It panics with a [*tensor.ShapeError] if one is Longest or more.
func (l *ByPosition) At(positions []int32) Score {
	for i, p := range positions {
		if p < 0 || int(p) >= l.Longest {
			panic(&tensor.ShapeError{Op: "attention.ByPosition", Shapes: [][]int{{len(positions)}},
				Why: fmt.Sprintf("key %d stands at position %d, and Longest is %d: make Longest larger, or cut the sequence", i, p, l.Longest)})
		}
	}
	return &positioned{l, positions}
}

// positioned is the score of keys at given positions.
type positioned struct {
	*ByPosition
	positions []int32
}

// Keys returns the row of W that belongs to each key's position. Of the keys only the
// number is read.
func (l *positioned) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	compose.WantInit("attention.ByPosition", l.W, l.Query)
	if keys != nil && keys.Dim(0) != len(l.positions) {
		compose.BadShape("attention.ByPosition", keys, fmt.Sprintf("there are %d positions, want one for each row of keys", len(l.positions)))
	}
	return t.Use(l.W).Rows(l.positions)
}

// Of returns the logits.
func (l *positioned) Of(_ *grad.Tape, keys, query *grad.Var) message.Msg {
	want("attention.ByPosition", "Query", query, l.Query, l.W, l.Query)
	return message.UDotV(keys, query)
}
