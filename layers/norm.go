package layers

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Norm says what a [GCNConv], an [SGConv] or an [APPNP] multiplies a message
// from u to v by. Its text form is its name.
type Norm string

// The normalisations. w_v is the sum of the weights of v's in-edges and wout_u
// that of u's out-edges; din and dout are numbers of edges, at least 1, whatever
// their weights. On a symmetric graph with a loop at each node all but the last
// five are the same.
const (
	NormSymmetric     Norm = ""               // 1/√(w_u·w_v)
	NormWeighted      Norm = "weighted"       // 1/√(wout_u·w_v)
	NormBoth          Norm = "both"           // 1/√(dout_u·din_v)
	NormIn            Norm = "in"             // 1/√(din_u·din_v)
	NormOut           Norm = "out"            // 1/√(wout_u·wout_v)
	NormWeightedLeft  Norm = "weighted-left"  // 1/wout_u
	NormWeightedRight Norm = "weighted-right" // 1/w_v
	NormLeft          Norm = "left"           // 1/dout_u
	NormRight         Norm = "right"          // 1/din_v
	NormNone          Norm = "none"           // 1
)

// factors returns the part of the normalisation that belongs to each source
// and to each destination, as columns; nil stands for 1. Where a sum of weights
// is not above 0 the factor is 0.
func (n Norm) factors(op string, g *graph.Graph, weight *grad.Var) (left, right *grad.Var) {
	switch n {
	case NormSymmetric:
		n.wantsOneSide(op, g, "in-edges of its sources")
		d := strengths(g, inward, weight, -0.5)
		return d, d
	case NormWeighted:
		return strengths(g, outward, weight, -0.5), strengths(g, inward, weight, -0.5)
	case NormBoth:
		return degrees(g, outward, -0.5), degrees(g, inward, -0.5)
	case NormIn:
		n.wantsOneSide(op, g, "in-edges of its sources")
		d := degrees(g, inward, -0.5)
		return d, d
	case NormOut:
		n.wantsOneSide(op, g, "out-edges of its destinations")
		d := strengths(g, outward, weight, -0.5)
		return d, d
	case NormWeightedLeft:
		return strengths(g, outward, weight, -1), nil
	case NormWeightedRight:
		return nil, strengths(g, inward, weight, -1)
	case NormLeft:
		return degrees(g, outward, -1), nil
	case NormRight:
		return nil, degrees(g, inward, -1)
	case NormNone:
		return nil, nil
	}
	panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Norm is %q, which no normalisation is called", string(n))})
}

// wantsOneSide panics if g is bipartite: the edges that it asks for are not
// known.
func (n Norm) wantsOneSide(op string, g *graph.Graph, edges string) {
	if g.Bipartite() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumSrc(), g.NumDst()}},
			Why: "the graph is bipartite, so the " + edges + " are not known; pass the whole graph's rows of SymmetricWeights, or of Norm.Weights, with NormNone"})
	}
}

type weightsKey Norm

// Weights returns for each edge weight_uv·c_uv, E×1; a nil weight is 1. Rows of
// it serve parts of the graph, whose own degrees are others: pass them as
// In.Weight with [NormNone]. Without weights they are worked out once a graph.
func (n Norm) Weights(g *graph.Graph, weight *grad.Var) *grad.Var {
	if weight == nil {
		return graph.Derive(g, weightsKey(n), func() *grad.Var { return n.weights(g, nil) })
	}
	return n.weights(g, weight)
}

func (n Norm) weights(g *graph.Graph, weight *grad.Var) *grad.Var {
	left, right := n.factors("layers.Norm.Weights", g, weight)
	if weight == nil {
		ones := tensor.New(g.NumEdges(), 1)
		ones.Fill(1)
		weight = grad.Const(ones)
	}
	m := message.E(weight)
	if left != nil {
		m = m.Mul(message.U(left))
	}
	if right != nil {
		m = m.Mul(message.V(right))
	}
	return message.ApplyEdges(g, m).Reshape(g.NumEdges(), 1)
}

// SymmetricWeights is the Weights of [NormSymmetric]: for each edge
// weight_uv/√(w_u·w_v), E×1. It panics with a [*tensor.ShapeError] on a
// bipartite graph.
func SymmetricWeights(g *graph.Graph, weight *grad.Var) *grad.Var {
	return NormSymmetric.Weights(g, weight)
}

// power is x^p, and 0 with slope 0 where x is not above 0.
func power(x *grad.Var, p float64) *grad.Var {
	op := grad.Begin("layers.power", x)
	y := op.New(slices.Clone(x.Shape())...)
	for i, v := range x.Value().Data {
		if tape.Dry(op, 0) {
			break
		}
		if v > 0 {
			y.Value().Data[i] = tensor.Float(math.Pow(float64(v), p))
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, v := range x.Value().Data {
			if v > 0 {
				dx[i] += tensor.Float(float64(dy.Data[i]) * p * float64(y.Value().Data[i]) / float64(v))
			}
		}
	})
}
