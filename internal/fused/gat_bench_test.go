package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// skewed returns the structure of a graph of a size: its sources follow a power
// law and its ids are in no order.
func skewed(b *testing.B, nodes, edges int) (*sparse.CSR, *rand.Rand) {
	rng := rand.New(rand.NewPCG(1, 1))
	ids := rng.Perm(nodes)
	draw := func() int32 {
		return int32(ids[min(nodes-1, int(float64(nodes)*math.Pow(rng.Float64(), 2.5)))])
	}
	r, c := make([]int32, edges), make([]int32, edges)
	for i := range r {
		r[i], c[i] = draw(), draw()
		if i < nodes {
			r[i], c[i] = int32(i), int32(i)
		}
	}
	a, _, err := sparse.FromCOO(nodes, nodes, r, c, nil)
	if err != nil {
		b.Fatal(err)
	}
	a.Transpose()
	return a, rng
}

// graphSizes are those of Cora, PubMed and the arXiv graph, the last without
// self-loops, as the peers' file has it.
var graphSizes = []struct {
	name         string
	nodes, edges int
}{{"cora", 2708, 13264}, {"pubmed", 19717, 108365}, {"arxiv", 169343, 1166243}}

// threads runs f on one thread and on two.
func threads(b *testing.B, f func(b *testing.B)) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads%d", n), func(b *testing.B) {
			defer par.SetThreads(n)()
			defer par.Hot()()
			b.ReportAllocs()
			f(b)
		})
	}
}

// notShort leaves out, with -short, what has more edges than PubMed.
func notShort(b *testing.B, edges int) {
	b.Helper()
	if testing.Short() && edges > 108365 {
		b.Skipf("%d edges are too many for -short", edges)
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, size := range graphSizes {
		for _, hd := range [][2]int{{8, 8}, {8, 3}, {1, 7}, {4, 64}} {
			for _, p := range []float64{0, 0.6} {
				b.Run(fmt.Sprintf("%s/%dx%d/drop%g", size.name, hd[0], hd[1], p), func(b *testing.B) {
					benchAttention(b, size.nodes, size.edges, hd, p)
				})
			}
		}
	}
}

func benchAttention(b *testing.B, nodes, edges int, hd [2]int, p float64) {
	notShort(b, edges)
	a, rng := skewed(b, nodes, edges)
	drop := tensor.NewMask(1, 1, 1, p)
	k := &fused.GAT{
		In: a, El: normal(rng, nodes, hd[0]), Er: normal(rng, nodes, hd[0]), Ft: normal(rng, nodes, hd[0], hd[1]),
		Slope: 0.2, Drop: &drop,
	}
	out, dOut, rec := k.Ft.Like(), normal(rng, nodes, hd[0], hd[1]), records(k)
	into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
	k.Forward(out, rec)
	b.Run("Forward", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				k.Forward(out, rec)
			}
		})
	})
	b.Run("Backward", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				k.Backward(dOut, out, rec, into)
			}
		})
	})
}
