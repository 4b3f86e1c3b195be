package datasets

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// WithSelfLoops returns d with a loop of weight 1 at each node that has none. Features of
// such edges are zeros, which as codes are no words, and their class is not known.
func (d *Dataset) WithSelfLoops() *Dataset { return d.on(graph.WithSelfLoops(d.Graph)) }

// Undirected returns d with both directions of every edge. An edge that is added
// has the weight of the one that it reverses, its features and its class, and is in the
// same part of the split if that is of edges.
func (d *Dataset) Undirected() *Dataset {
	if d.Graph.Symmetric() {
		return d.on(d.Graph)
	}
	return d.on(graph.Undirected(d.Graph))
}

// Diffused returns d on the graph that it is after diffusion, with its weights. Edges lead
// both ways, or the diffusion says that they need not.
func (d *Dataset) Diffused(f analysis.Diffusion) (*Dataset, error) {
	g, weights, err := f.Graph(d.Graph, d.Weights)
	if err != nil {
		return nil, err
	}
	e := *d
	e.Graph, e.Weights, e.EdgeColumns = g, weights, nil
	e.EdgeKinds, e.EdgeFeatures, e.EdgeCodes, e.EdgeNames = nil, nil, nil, nil // the edges are others
	return &e, nil
}

// WithFeatures returns d with more features of nodes, such as those of
// [analysis.ReturnProbabilities]: the columns of x come after d's own, which may be
// sparse and stay so.
func (d *Dataset) WithFeatures(x *tensor.Dense) *Dataset {
	e, n := *d, d.Graph.NumNodes()
	e.FeatureNames = nil // those of x are not known
	if x.Axes() != 2 || x.Dim(0) != n {
		panic(&tensor.ShapeError{Op: "datasets.WithFeatures", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("there are %d nodes, want a row for each", n)})
	}
	if a, ok := d.features("WithFeatures").(*sparse.CSR); ok {
		e.Features = beside(a, x)
		return &e
	}
	own := d.Features.(*tensor.Dense)
	y := tensor.New(n, own.Dim(1)+x.Dim(1))
	tensor.Concat(y, 1, own, x)
	e.Features = y
	return &e
}

// beside returns a matrix whose rows are those of a and then those of x.
func beside(a *sparse.CSR, x *tensor.Dense) *sparse.CSR {
	size := a.NNZ() + len(x.Data)
	y := &sparse.CSR{
		NumRows: a.NumRows, NumCols: a.NumCols + x.Dim(1),
		Offsets: make([]int64, 1, a.NumRows+1), Cols: make([]int32, 0, size), Values: make([]tensor.Float, 0, size),
	}
	for v := range a.NumRows {
		cols, _ := a.Row(v)
		y.Cols = append(y.Cols, cols...)
		eachValue(a, v, func(_ int, f float64) { y.Values = append(y.Values, tensor.Float(f)) })
		for j, f := range x.Row(v) {
			if f != 0 {
				y.Cols, y.Values = append(y.Cols, int32(a.NumCols+j)), append(y.Values, f)
			}
		}
		y.Offsets = append(y.Offsets, int64(len(y.Cols)))
	}
	return y
}

// on returns d on a graph of the same nodes that was made from its own.
func (d *Dataset) on(g *graph.Graph) *Dataset {
	e := *d
	if g == d.Graph {
		return &e
	}
	from := g.From().Edges
	e.Graph, e.Weights = g, carried(d.Weights, from, 1)
	e.EdgeKinds, e.EdgeNames, e.source = d.EdgeKinds.carried(from), carried(d.EdgeNames, from, ""), d.source.carried(nil, from)
	e.EdgeLabels, e.EdgeColumns = carried(d.EdgeLabels, from, -1), rowsOf(d.EdgeColumns, from)
	e.EdgeFeatures, e.EdgeTargets = carriedRows(d.EdgeFeatures, from, 0), carriedRows(d.EdgeTargets, from, notKnown)
	if d.LearnsEdges() {
		e.resplit(func(s Split) Split { return s.derived(d.Graph.NumEdges(), from) })
	}
	return &e
}

// resplit changes the split in use and all that there are.
func (d *Dataset) resplit(to func(Split) Split) {
	d.Split = to(d.Split)
	splits := d.Splits
	d.Splits = nil
	for _, s := range splits {
		d.Splits = append(d.Splits, to(s))
	}
}

// derived returns the split of derived edges, of which from says which of n each was; a
// new one is in no part.
func (s Split) derived(n int, from []int32) Split {
	lists, in := [inTest + 1][]int32{}, make([]uint8, n)
	for i, p := range s.parts() {
		for _, e := range p.ids {
			in[e] = uint8(inTrain + i)
		}
	}
	for i, e := range from {
		if e >= 0 {
			lists[in[e]] = append(lists[in[e]], int32(i))
		}
	}
	return Split{lists[inTrain], lists[inVal], lists[inTest]}
}

// carried returns the weights, say, of derived edges; new ones have that of its own.
func carried[T any](of []T, from []int32, added T) []T {
	if of == nil {
		return nil
	}
	out := make([]T, len(from))
	for i, e := range from {
		out[i] = added
		if e >= 0 {
			out[i] = of[e]
		}
	}
	return out
}

// carriedRows is carried of rows, in which new edges have that number everywhere.
func carriedRows(x *tensor.Dense, from []int32, added tensor.Float) *tensor.Dense {
	if x == nil {
		return nil
	}
	y := tensor.New(len(from), x.Dim(1))
	for i, e := range from {
		if e >= 0 {
			copy(y.Row(i), x.Row(int(e)))
		} else {
			tensor.Of(y.Row(i), x.Dim(1)).Fill(added)
		}
	}
	return y
}

// LargestComponent returns d without the nodes outside of its largest weakly
// connected component, the first of equals. Nodes keep their order; the split
// keeps what is left of it.
func (d *Dataset) LargestComponent() *Dataset { return d.Subgraph(analysis.LargestComponent(d.Graph)) }

// Subgraph returns d with the given nodes alone, which differ, in the order given, and the edges among them.
func (d *Dataset) Subgraph(nodes []int32) *Dataset {
	e := *d.on(graph.Must(graph.Subgraph(d.Graph, nodes)))
	number := make([]int32, d.Graph.NumNodes())
	for v := range number {
		number[v] = -1
	}
	for i, v := range nodes {
		number[v] = int32(i)
	}
	e.Features = GatherRows(d.Features, nodes)
	if d.Labels != nil {
		e.Labels = pick(d.Labels, nodes)
	}
	if d.MultiLabels != nil {
		e.MultiLabels = GatherRows(d.MultiLabels, nodes).(*sparse.CSR)
	}
	if d.Targets != nil {
		e.Targets = GatherRows(d.Targets, nodes).(*tensor.Dense)
	}
	e.NodeColumns, e.NodeKinds = rowsOf(d.NodeColumns, nodes), d.NodeKinds.carried(nodes)
	if len(d.NodeNames) > 0 {
		e.NodeNames = pick(d.NodeNames, nodes)
	}
	if len(d.NodeIDs) > 0 {
		e.NodeIDs = pick(d.NodeIDs, nodes)
	}
	e.source = e.source.carried(nodes, nil)
	if !d.LearnsEdges() {
		e.resplit(func(s Split) Split { return s.renumbered(number) })
	}
	return &e
}

// renumbered returns the split of those nodes that have a number.
func (s Split) renumbered(number []int32) Split {
	return Split{renumbered(s.Train, number), renumbered(s.Val, number), renumbered(s.Test, number)}
}

func pick[T any](x []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, v := range rows {
		out[i] = x[v]
	}
	return out
}

// renumbered returns the numbers of the nodes that have one.
func renumbered(ids, number []int32) []int32 {
	var out []int32
	for _, v := range ids {
		if number[v] >= 0 {
			out = append(out, number[v])
		}
	}
	return out
}

// GatherRows returns the given rows of a matrix, such as the features, of the kind
// that x is, dense or sparse.
func GatherRows(x tensor.Array, rows []int32) tensor.Array {
	if a, ok := x.(*sparse.CSR); ok {
		return sparse.GatherRows(a, rows)
	}
	a := x.(*tensor.Dense)
	b := tensor.New(len(rows), a.Shape()[1])
	tensor.GatherRows(b, a, rows)
	return b
}
