package layers

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Norm says what a [GCNConv] multiplies a message from u to v by. Its text form
// is its name.
type Norm string

// The normalisations. w_v is the sum of the weights of v's in-edges; din and
// dout are numbers of edges, at least 1, whatever their weights.
const (
	NormSymmetric Norm = ""      // 1/√(w_u·w_v), and 0 where one of them is not above 0
	NormBoth      Norm = "both"  // 1/√(dout_u·din_v)
	NormLeft      Norm = "left"  // 1/dout_u
	NormRight     Norm = "right" // 1/din_v
	NormNone      Norm = "none"  // 1
)

// factors returns the part of the normalisation that belongs to each source
// and to each destination, as columns; nil stands for 1.
func (n Norm) factors(g *graph.Graph, weight *grad.Var) (left, right *grad.Var) {
	switch n {
	case NormSymmetric:
		d := inverseRoots(g, weight)
		return d, d
	case NormBoth:
		return degrees(g, outward, -0.5), degrees(g, inward, -0.5)
	case NormLeft:
		return degrees(g, outward, -1), nil
	case NormRight:
		return nil, degrees(g, inward, -1)
	case NormNone:
		return nil, nil
	}
	panic(&grad.TapeError{Op: "layers.GCNConv", Why: "no normalisation is called " + string(n)})
}

// SymmetricWeights returns for each edge weight_uv/√(w_u·w_v), E×1, as
// [NormSymmetric] has it; w_v is the sum of the weights of v's in-edges, and a
// nil weight is 1. Rows of it serve parts of the graph, whose own degrees are
// others. It panics with a [*tensor.ShapeError] on a bipartite graph.
func SymmetricWeights(g *graph.Graph, weight *grad.Var) *grad.Var {
	d := inverseRoots(g, weight)
	m := message.UMulV(d, d)
	if weight != nil {
		m = m.Mul(message.E(weight))
	}
	return message.ApplyEdges(g, m)
}

// inverseRoots returns 1/√w_v for each node, N×1, and 0 where w_v is not above
// 0.
func inverseRoots(g *graph.Graph, weight *grad.Var) *grad.Var {
	if g.Bipartite() {
		panic(&tensor.ShapeError{Op: "layers.NormSymmetric", Shapes: [][]int{{g.NumSrc(), g.NumDst()}},
			Why: "the graph is bipartite, so the in-edges of its sources are not known; pass rows of SymmetricWeights with NormNone"})
	}
	if weight == nil {
		return inverseRoot(grad.Const(counts(g, inward)))
	}
	return inverseRoot(message.UpdateAll(g, message.E(weight), message.Sum))
}

// inverseRoot is 1/√x, and 0 with slope 0 where x is not above 0.
func inverseRoot(x *grad.Var) *grad.Var {
	op := grad.Begin("layers.inverseRoot", x)
	y := op.New(slices.Clone(x.Shape())...)
	for i, v := range x.Value().Data {
		if v > 0 {
			y.Value().Data[i] = tensor.Float(1 / math.Sqrt(float64(v)))
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, v := range y.Value().Data {
			dx[i] -= dy.Data[i] * v * v * v / 2
		}
	})
}

// side is which end of the edges a degree counts.
type side uint8

const (
	inward  side = iota // edges into a destination
	outward             // edges out of a source
)

type degreesKey struct {
	side  side
	power float64
}

// degrees returns max(1, degree)^power for each node of a side, as a column. It
// is worked out once a graph.
func degrees(g *graph.Graph, s side, power float64) *grad.Var {
	return g.Derived(degreesKey{s, power}, func() any {
		d := counts(g, s)
		for i, v := range d.Data {
			d.Data[i] = tensor.Float(math.Pow(math.Max(1, float64(v)), power))
		}
		return grad.Const(d)
	}).(*grad.Var)
}

// counts returns the degree of each node of a side, as a column.
func counts(g *graph.Graph, s side) *tensor.Dense {
	n, degree := g.NumDst(), g.InDegree
	if s == outward {
		n, degree = g.NumSrc(), g.OutDegree
	}
	d := tensor.New(n, 1)
	for v := range n {
		d.Data[v] = tensor.Float(degree(v))
	}
	return d
}
