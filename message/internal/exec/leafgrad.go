package exec

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// leafGrad is where the gradient of a leaf goes.
type leafGrad struct {
	pass    *pass
	step    *plan.Step     // the leaf's,
	i       int            // and its number
	dx      []tensor.Float // the gradient of the leaf's array
	row     int            // elements of one row there
	window  []tensor.Float // of what gathers: a row for each edge of the window, or its compact form
	to      []int32        // of what gathers: where in dx that belongs, in rows of the leaf's width
	at      int            // of what sums: where in a chunk's partial sums
	addTo   []tensor.Float // dx of another leaf with other rows in the same memory, to which dx is added at last
	fresh   bool           // dx holds anything until a chunk clears the rows of its destinations
	compact *plan.Step     // the score of which edges keep two numbers a head instead of a row; see compactGrad
}

// keeps is how many numbers of an edge are kept in the window.
func (k *leafGrad) keeps() int {
	if k.compact != nil {
		return 2 * k.compact.Width
	}
	return k.step.Width
}

// open finds the gradient of the leaf's array. Rows of destinations need not be
// zero yet.
func (k *leafGrad) open() {
	x := k.pass.vars[k.step.Var]
	if k.step.Kind != ops.LeafV || k.step.Picked {
		k.dx = x.Grad().Data
		return
	}
	g, fresh := tape.FreshGrad(x)
	k.dx, k.fresh = g.Data, fresh
}

// clear empties the rows of the destinations from r0 to r1 if they are fresh.
func (k *leafGrad) clear(r0, r1 int) {
	if k.fresh && !tape.Measuring(k.pass.eval.op) {
		clear(k.dx[r0*k.row : r1*k.row])
	}
}

// countable panics if the rows of a picked leaf cannot be counted in 32 bits.
func (k *leafGrad) countable() {
	if n := len(k.dx) / max(k.step.Width, 1); n > math.MaxInt32 {
		panic(&tensor.ShapeError{Op: "message.Pick", Shapes: [][]int{slices.Clone(k.pass.vars[k.step.Var].Shape())}, Why: fmt.Sprintf("%d rows to pick from, more than 2³¹−1", n)})
	}
}

// avoid gives a leaf's gradient memory of its own if chunks would otherwise add to
// one element through two leaves: the rows of V and of E, or of two views.
func (k *leafGrad) avoid(op grad.Op, others []leafGrad) {
	if k.step.Kind != ops.LeafV && k.step.Kind != ops.LeafE {
		return
	}
	for i := range others {
		o := &others[i]
		if (o.step.Kind == ops.LeafV || o.step.Kind == ops.LeafE) && Overlap(k.dx, o.dx) {
			k.addTo, k.dx = k.dx, op.Floats(len(k.dx))
			return
		}
	}
}

// rowOf returns the gradient of the row that V reads at v.
func (k *leafGrad) rowOf(v int) []tensor.Float { return k.dx[v*k.row : (v+1)*k.row] }

// collect adds a chunk's partial sums.
func (k *leafGrad) collect(c chunk, partial []tensor.Float) {
	switch part := partial[k.at : k.at+k.row]; {
	case k.step.Kind == ops.LeafW:
		add(k.dx, part)
	case c.hub >= 0:
		add(k.rowOf(c.r0), part)
	}
}
