package attention

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Score says how well a key answers a query.
type Score interface {
	Init(rng *rand.Rand)

	// Keys is what all queries read of the keys, a row for each: their projection, made
	// once, or the keys themselves.
	Keys(t *grad.Tape, keys *grad.Var) *grad.Var

	// Of is the logit of every edge from a key to a query, a number each (E×1). keys is
	// what Keys returned, query has a row for each destination.
	Of(t *grad.Tape, keys, query *grad.Var) message.Msg
}

// want panics unless Init has made p with so many columns, and x, which is the Key or the
// Query of the fields, has the width that is said there.
func want(op, field string, x *grad.Var, width int, p *grad.Param, columns int) {
	name := "keys"
	if field == "Query" {
		name = "query"
	}
	compose.WantInit(op, p, columns)
	compose.WantVar(op, name, x)
	compose.WantWidth(op, name, x, width, field)
}

// wantAlike panics unless query is as wide as keys, which no matrix lies between.
func wantAlike(op string, keys, query *grad.Var) {
	if keys == nil || query == nil {
		panic(&grad.TapeError{Op: op, Why: "keys or query is nil"})
	}
	if k, q := keys.Dim(-1), query.Dim(-1); k != q {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(keys.Shape()), slices.Clone(query.Shape())},
			Why: fmt.Sprintf("keys have %d columns, query has %d; a Bilinear score has a matrix between them", k, q)})
	}
}

// vector returns n weights from U(−b, b) with b = √(1/n).
func vector(rng *rand.Rand, n int) *grad.Param {
	p := compose.Uniform(rng, 1, n, n)
	v := grad.NewParam(n)
	copy(v.Value.Data, p.Value.Data)
	return v
}

// one returns a Param of a single number.
func one(v float64) *grad.Param {
	p := grad.NewParam(1)
	p.Value.Fill(tensor.Float(v))
	return p
}
