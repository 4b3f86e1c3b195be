package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
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

func BenchmarkEdgeSoftmax(b *testing.B) {
	for _, size := range graphSizes {
		for _, heads := range []int{1, 8} {
			notShort(b, size.edges)
			a, rng := skewed(b, size.nodes, size.edges)
			x := normal(rng, a.NNZ(), heads)
			y, dx := x.Like(), x.Like()
			b.Run(fmt.Sprintf("%s/%d/Forward", size.name, heads), func(b *testing.B) {
				threads(b, func(b *testing.B) {
					for b.Loop() {
						sparse.Softmax{A: a}.Into(y, x)
					}
				})
			})
			b.Run(fmt.Sprintf("%s/%d/Backward", size.name, heads), func(b *testing.B) {
				threads(b, func(b *testing.B) {
					for b.Loop() {
						sparse.Softmax{A: a, Add: true}.Grad(dx, y, x)
					}
				})
			})
		}
	}
}
