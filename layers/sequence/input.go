package sequence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// input is a projection of the rows of every node: x·W + b.
type input struct{ x, w, b *grad.Var }

// inLevels returns the projection with its rows in the order of g's levels, for
// [message.Level.Part]. The narrow x is arranged, not the wide result, unless x
// is sparse.
func (in input) inLevels(t *grad.Tape, g *graph.Graph) *grad.Var {
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	x := in.x
	if x.Shape()[0] != g.NumNodes() {
		panic(&tensor.ShapeError{Op: "sequence.Forward", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("the graph has %d nodes, want a row for each", g.NumNodes())})
	}
	if x.IsSparse() {
		return x.Linear(in.w, in.b, grad.Identity).Permute(levels.Order, levels.Rank)
	}
	if !x.Needs() {
		x = t.Input(x.Value()) // so that the copy is the tape's
	}
	return x.Permute(levels.Order, levels.Rank).Linear(in.w, in.b, grad.Identity)
}

// use is t.Use of a Param that a layer may lack.
func use(t *grad.Tape, p *grad.Param) *grad.Var {
	if p == nil {
		return nil
	}
	return t.Use(p)
}

// uniform returns weights up to 1/√m.
func uniform(rng *rand.Rand, rows, cols, m int) *grad.Param {
	p := grad.NewParam(rows, cols)
	b := 1 / math.Sqrt(float64(m))
	p.Value.Uniform(rng, -b, b)
	return p
}

// start returns init or, for nil, a state of n Vars of zeros, one row for all
// roots.
func start(t *grad.Tape, init message.State, n, width int) message.State {
	if init != nil {
		return init
	}
	s := make(message.State, n)
	for i := range s {
		s[i] = t.Input(tensor.New(1, width))
	}
	return s
}

// arrived returns the sum of what the predecessors hand on: of a chain the
// state itself.
func arrived(lv *message.Level, x *grad.Var) *grad.Var {
	return message.UpdateAll(lv.In, message.CopyU(x), message.Sum)
}
