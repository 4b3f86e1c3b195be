package layers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestRGCNManyRows compares RGCN with loops on graphs in which few nodes have edges of a
// kind, or most, so large that it matters: 2¹⁶ elements of products are 1024 nodes.
func TestRGCNManyRows(t *testing.T) {
	const relations, in, out = 8, 3, 8
	for _, c := range []struct {
		nodes, edges, bases int
		aggregate           layers.Aggregator
		weighted, sparse    bool
	}{
		{1024, 900, 0, layers.AggregateSum, true, true}, {1024, 900, 2, layers.AggregateMean, false, true}, {1100, 60000, 0, layers.AggregateMean, false, true},
		{1023, 900, 0, layers.AggregateSum, true, false}, {1024, 900, 0, layers.AggregateSum, true, false}, {1024, 900, 2, layers.AggregateSum, true, false},
		{1100, 60000, 0, layers.AggregateSum, true, false}, {1024, 900, 2, layers.AggregateSum, false, false}, {1100, 60000, 0, layers.AggregateMean, false, false},
		{1024, 900, 0, layers.AggregateMean, true, false}, {1023, 2000, 0, layers.AggregateMean, false, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			src, dst, kinds, weights := make([]int32, c.edges), make([]int32, c.edges), make([]int32, c.edges), tensor.New(c.edges, 1)
			for i := range src {
				src[i], dst[i], kinds[i] = rng.Int32N(int32(c.nodes)), rng.Int32N(int32(c.nodes)), rng.Int32N(relations-1) // none of the last
			}
			weights.Uniform(rng, 0.5, 1.5)
			g := graph.Must(graph.WithKinds(graph.Must(graph.New(c.nodes, src, dst)), kinds))
			l := &layers.RGCNConv{In: in, Out: out, Relations: relations, Bases: c.bases, Aggregate: c.aggregate, NoRoot: true}
			l.Init(rng)
			x, dy := tensor.New(c.nodes, in), tensor.New(c.nodes, out)
			x.Normal(rng, 0, 1)
			dy.Normal(rng, 0, 1)
			tape := grad.NewTape(1)
			v := tape.Watch(x)
			if c.sparse {
				for i := range x.Data {
					if i%3 == 1 {
						x.Data[i] = 0
					}
				}
				v = grad.Const(sparse.FromDense(x))
			}
			in0 := layers.In{Src: v}
			if c.weighted {
				in0.Weight = grad.Const(weights)
			} else {
				weights.Fill(1)
			}
			count := map[[2]int32]float64{}
			for e, d := range g.Destinations() {
				count[[2]int32{d, g.Kinds()[e]}]++
			}
			y := l.Apply(tape, g, in0).Y
			w := rgcnMatrices(l)
			wantY, wantX, wantW := make([]float64, len(dy.Data)), make([]float64, len(x.Data)), make([]float64, relations*in*out)
			for e, d := range g.Destinations() {
				u, k, share := int(g.In().Cols[e]), int(g.Kinds()[e]), float64(weights.Data[e])
				if c.aggregate == layers.AggregateMean {
					share /= count[[2]int32{d, g.Kinds()[e]}]
				}
				for a := range in {
					for b := range out {
						at := k*in*out + a*out + b
						xa, db := float64(x.Data[u*in+a]), float64(dy.Data[int(d)*out+b])
						wantY[int(d)*out+b] += share * xa * w[at]
						wantX[u*in+a] += share * db * w[at]
						wantW[at] += share * xa * db
					}
				}
			}
			grads := tape.BackwardFrom(y, dy)
			compare.Near(t, "result", y.Value().Data, wantY, compare.Off(1e-4, 1e-4))
			if !c.sparse {
				compare.Near(t, "gradient of x", grads.Of(v).Data, wantX, compare.Off(1e-4, 1e-4))
			}
			if c.bases == 0 {
				for _, gr := range grads {
					if gr.Param == l.W {
						compare.Near(t, "gradient of W", gr.Value.Data, wantW, compare.Off(1e-4, 1e-4))
					}
				}
			}
		})
	}
}

// rgcnMatrices returns the matrix of each relation.
func rgcnMatrices(l *layers.RGCNConv) []float64 {
	w := make([]float64, l.Relations*l.In*l.Out)
	for i := range w {
		k, at := i/(l.In*l.Out), i%(l.In*l.Out)
		if l.Bases == 0 {
			w[i] = float64(l.W.Value.Data[i])
		}
		for b := range l.Bases {
			w[i] += float64(l.Mix.Value.Data[k*l.Bases+b]) * float64(l.W.Value.Data[b*l.In*l.Out+at])
		}
	}
	return w
}
