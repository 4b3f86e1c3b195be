package sequence

import (
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rowDropout drops of each row what a mask drops of the row of that number. Without a
// mask it drops nothing.
type rowDropout struct {
	mask *tensor.Mask
	rows []int32
}

// apply returns x with what is dropped as zero and the rest scaled.
func (d rowDropout) apply(x *grad.Var) *grad.Var {
	if d.mask == nil {
		return x
	}
	op := grad.Begin("sequence.Dropout", x)
	y := op.Fresh(x.Shape()...)
	k := tape.Note(op, rowsDropped{x, d})
	if !tape.Dry(op, 0) {
		width, mask := y.Value().RowLen(), (*vec.Dropout)(d.mask)
		for i, r := range d.rows {
			mask.Set(y.Value().Row(i), x.Value().Row(i), int(r), width)
		}
	}
	return tape.RecordBy(op, y, k)
}

// rowsDropped is the pullback of a rowDropout.
type rowsDropped struct {
	x    *grad.Var
	drop rowDropout
}

// Pull adds to x's gradient.
func (k *rowsDropped) Pull(dy *tensor.Dense) {
	dx, mask := k.x.Grad(), (*vec.Dropout)(k.drop.mask)
	for i, r := range k.drop.rows {
		mask.Add(dx.Row(i), dy.Row(i), int(r), dy.RowLen())
	}
}

// membersDropout is a dropout of the nodes of a graph by one mask for each member: all
// nodes of a chain lose the same elements. Its rows are in the order of the levels.
type membersDropout struct {
	mask *tensor.Mask
	of   []int32
	at   []int // where the levels begin
}

// chainDropout draws the masks of a dropout of fraction p on g. Where nothing is
// dropped it draws no number either, so that other dropouts keep theirs.
func chainDropout(t *grad.Tape, g *graph.Graph, p float64) membersDropout {
	if p == 0 {
		return membersDropout{}
	}
	mask := t.NextDropout(p)
	if mask == nil {
		return membersDropout{}
	}
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	at := levels.Offsets
	if levels.Len() == 0 { // a sweep over no nodes has a level, too
		at = []int{0, 0}
	}
	return membersDropout{mask, memberInLevels(g, levels), at}
}

// all is the dropout of all nodes, in the order of the levels.
func (d membersDropout) all() rowDropout { return rowDropout{d.mask, d.of} }

// level is the dropout of a level's nodes.
func (d membersDropout) level(n int) rowDropout {
	if d.mask == nil {
		return rowDropout{}
	}
	return rowDropout{d.mask, d.of[d.at[n]:d.at[n+1]]}
}

// on drops of a level's rows.
func (d membersDropout) on(lv *message.Level, x *grad.Var) *grad.Var { return d.level(lv.N).apply(x) }

// memberKey is of graphs with these members; graphs that differ in them alone share what
// is derived.
type memberKey struct{ first *int }

// memberInLevels returns the member of each node, in the order of the levels.
func memberInLevels(g *graph.Graph, levels *graph.Levels) []int32 {
	ends := g.NodeOffsets()
	if len(ends) <= 2 { // one member, or none
		return make([]int32, len(levels.Order))
	}
	return graph.Derive(g, memberKey{&ends[0]}, func() []int32 {
		of := slices.Clone(levels.Order)
		for i, v := range levels.Order {
			of[i] = memberOf(ends, v)
		}
		return of
	})
}

// memberOf returns the member in whose range of ends v is.
func memberOf(ends []int, v int32) int32 {
	return int32(sort.SearchInts(ends, int(v)+1) - 1) // behind the empty ones that begin at v
}
