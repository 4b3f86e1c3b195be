package layers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// perKind returns the products of x with each of the matrices w, K×In×Out, side by
// side: N×K×Out. One product is taken with all of them.
func perKind(x, w *grad.Var) *grad.Var {
	kinds, in, out := w.Dim(0), w.Dim(1), w.Dim(2)
	parts := make([]*grad.Var, kinds)
	for k := range parts {
		parts[k] = w.RowRange(k, k+1).Reshape(in, out)
	}
	return x.MatMul(grad.Concat(parts...)).Reshape(x.Dim(0), kinds, out)
}

// glorotPer returns n matrices by Glorot's uniform distribution, each over its own
// sides.
func glorotPer(rng *rand.Rand, n, in, out int) *grad.Param {
	p := grad.NewParam(n, in, out)
	b := math.Sqrt(6 / float64(in+out))
	for i := range p.Value.Data {
		p.Value.Data[i] = tensor.Float((2*rng.Float64() - 1) * b)
	}
	return p
}

// wantKinds panics unless the edges of g have kinds, all below n.
func wantKinds(op string, g *graph.Graph, n int, field string) {
	if g == nil {
		return // which check says
	}
	if g.Kinds() == nil && g.NumEdges() > 0 {
		panic(&grad.TapeError{Op: op, Why: "the graph's edges have no kinds; see graph.WithKinds"})
	}
	most := graph.Derive(g, mostKey{kindsOf(g)}, func() int32 {
		most := int32(-1)
		for _, k := range g.Kinds() {
			most = max(most, k)
		}
		return most
	})
	if int(most) >= n {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("an edge has kind %d, and %s is %d", most, field, n)})
	}
}

type mostKey struct{ kinds *int32 }

// kindsOf names the list of kinds of g, as a part of a key: what is derived from a
// graph is shared with the graphs that WithKinds makes of it.
func kindsOf(g *graph.Graph) *int32 {
	if g.NumEdges() == 0 {
		return nil
	}
	return &g.Kinds()[0]
}

// kindShares returns 1/n for each edge, E×1, where n is how many edges of its kind
// its destination has. It is worked out once a graph.
func kindShares(g *graph.Graph) *grad.Var {
	return graph.Derive(g, sharesKey{kindsOf(g)}, func() *grad.Var {
		type bag struct{ dst, kind int32 }
		count, dst, kinds := map[bag]int{}, g.Destinations(), g.Kinds()
		for e, k := range kinds {
			count[bag{dst[e], k}]++
		}
		c := tensor.New(g.NumEdges(), 1)
		for e, k := range kinds {
			c.Data[e] = tensor.Float(1 / float64(count[bag{dst[e], k}]))
		}
		return grad.Const(c)
	})
}

type sharesKey struct{ kinds *int32 }
