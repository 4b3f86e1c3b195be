package layers

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// side is which end of the edges a degree counts.
type side uint8

const (
	inward  side = iota // edges into a destination
	outward             // edges out of a source
)

type degreesKey struct {
	side  side
	power float64
	empty float64 // what the degree 0 counts as
}

// degrees returns max(1, degree)^p for each node of a side, as a column. It is
// worked out once a graph.
func degrees(g *graph.Graph, s side, p float64) *grad.Var { return powers(g, degreesKey{s, p, 1}) }

// closedDegrees returns 1/(degree + 1) for each destination, as a column.
func closedDegrees(g *graph.Graph) *grad.Var {
	return graph.Derive(g, closedKey{}, func() *grad.Var {
		d := counts(g, inward)
		for i, v := range d.Data {
			d.Data[i] = 1 / (v + 1)
		}
		return grad.Const(d)
	})
}

type closedKey struct{}

// powers is degrees with another value where there are no edges: 0 stays 0.
func powers(g *graph.Graph, k degreesKey) *grad.Var {
	return graph.Derive(g, k, func() *grad.Var {
		d := counts(g, k.side)
		for i, v := range d.Data {
			if n := math.Max(k.empty, float64(v)); n > 0 {
				d.Data[i] = tensor.Float(math.Pow(n, k.power))
			}
		}
		return grad.Const(d)
	})
}

// strengths returns the sum of the weights of each node's edges on a side, to
// the power p, as a column; 0 where the sum is not above 0. A nil weight is 1.
func strengths(g *graph.Graph, s side, weight *grad.Var, p float64) *grad.Var {
	if weight == nil {
		return powers(g, degreesKey{s, p, 0})
	}
	if s == outward {
		g = graph.Reverse(g)
		weight = weight.Rows(g.From().Edges)
	}
	return power(message.UpdateAll(g, message.E(weight), message.Sum).Reshape(g.NumDst(), 1), p)
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
