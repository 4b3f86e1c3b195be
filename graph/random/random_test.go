package random

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/tensor"
)

// likely checks a share of n draws against its probability.
func likely(t *testing.T, what string, hits, n int, p float64) {
	t.Helper()
	if sigma := math.Sqrt(float64(n) * p * (1 - p)); math.Abs(float64(hits)-float64(n)*p) > 5*sigma {
		t.Errorf("%s: %d of %d, want %.0f ± %.0f", what, hits, n, float64(n)*p, sigma)
	}
}

// refused checks that f panics with a ShapeError that says so.
func refused(t *testing.T, want string, f func()) {
	t.Helper()
	if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// drawn are the random graphs by name.
var drawn = map[string]func(rng *rand.Rand, nodes, edges int) *graph.Graph{
	"uniform": Uniform, "rmat": RMAT, "citation": Citation,
	"powerlaw": func(rng *rand.Rand, nodes, edges int) *graph.Graph { return PowerLaw(rng, nodes, edges, 0.75) },
}

func TestRandom(t *testing.T) {
	for name, build := range drawn {
		for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 5}, {50, 450}, {1000, 7000}} {
			g := build(rand.New(rand.NewPCG(5, 6)), size[0], size[1])
			graphtest.Sound(t, g)
			if g.NumNodes() != size[0] || g.NumEdges() != size[1] {
				t.Fatalf("%s of %v: %v", name, size, g)
			}
			for v := range g.NumNodes() {
				if !slices.IsSorted(graphtest.Sources(g, v)) {
					t.Fatalf("%s: sources of %d do not ascend", name, v)
				}
			}
			again := build(rand.New(rand.NewPCG(5, 6)), size[0], size[1])
			graphtest.Same(t, again, g)
			if other := build(rand.New(rand.NewPCG(5, 7)), size[0], size[1]); size[0] > 100 && slices.Equal(other.In().Cols, g.In().Cols) {
				t.Errorf("%s does not depend on the seed", name)
			}
		}
		for want, size := range map[string][2]int{"[-1]: the number of nodes is negative": {-1, 0}, "[-4]: the number of edges is negative": {3, -4}, "too many edges": {9, math.MaxInt}} {
			if size[1] == math.MaxInt32 {
				continue // an int of 32 bits holds no more edges than there may be
			}
			refused(t, want, func() { build(rand.New(rand.NewPCG(5, 6)), size[0], size[1]) })
		}
		refused(t, "2 edges between no nodes", func() { build(rand.New(rand.NewPCG(5, 6)), 0, 2) })
	}
}

func TestUniform(t *testing.T) {
	g := Uniform(rand.New(rand.NewPCG(1, 30)), 20, 100_000)
	for v := range 20 {
		likely(t, fmt.Sprint("in-edges of ", v), g.InDegree(v), g.NumEdges(), 0.05)
		likely(t, fmt.Sprint("out-edges of ", v), g.OutDegree(v), g.NumEdges(), 0.05)
	}
}

func TestPowerLaw(t *testing.T) {
	const nodes, edges, alpha = 300, 200_000, 0.75
	g := PowerLaw(rand.New(rand.NewPCG(1, 31)), nodes, edges, alpha)
	in, out, total := g.InDegrees(), g.OutDegrees(), 0.0
	for r := range nodes {
		total += math.Pow(float64(r+1), -alpha)
	}
	if slices.Index(in, slices.Max(in)) != slices.Index(out, slices.Max(out)) {
		t.Error("a hub is one for in-edges and another for out-edges")
	}
	slices.Sort(in)
	slices.Sort(out)
	for _, r := range []int{0, 1, 4} { // far enough apart that noise does not swap them
		p := math.Pow(float64(r+1), -alpha) / total
		likely(t, fmt.Sprint("in-edges of rank ", r), int(in[nodes-1-r]), edges, p)
		likely(t, fmt.Sprint("out-edges of rank ", r), int(out[nodes-1-r]), edges, p)
	}
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		refused(t, fmt.Sprint("random.PowerLaw: a power law with the exponent ", alpha), func() { PowerLaw(rand.New(rand.NewPCG(1, 31)), 3, 3, alpha) })
	}
}

func TestQuadrants(t *testing.T) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 32))
	var low, high [4]int
	for range n {
		u, v := quadrants(rng, 5)
		if u < 0 || v < 0 || u > 31 || v > 31 {
			t.Fatal("out of range:", u, v)
		}
		low[u&1*2+v&1]++
		high[u>>4*2+v>>4]++
	}
	for q, p := range []float64{0.57, 0.19, 0.19, 0.05} {
		likely(t, fmt.Sprint("lowest bits ", q), low[q], n, p)
		likely(t, fmt.Sprint("highest bits ", q), high[q], n, p)
	}
}

func TestCitation(t *testing.T) {
	g := Citation(rand.New(rand.NewPCG(1, 33)), 2708, 13264)
	if r := g.Check(); !g.Symmetric() || r.SelfLoops != 2708 || r.Parallel != 0 {
		t.Errorf("symmetric %t, %d loops, %d parallel edges", g.Symmetric(), r.SelfLoops, r.Parallel)
	}
	rng := rand.New(rand.NewPCG(1, 34))
	c := citation{rng: rng, nodes: 100_000, ids: rng.Perm(100_000), ranks: newRanks(rng, 100_000, 0.5)}
	inside, first := 0, 0
	for range 100_000 {
		u, v := c.link()
		if u/50 == v/50 {
			inside++
		}
		if int(u) == c.ids[0] {
			first++
		}
	}
	total := 0.0
	for r := range 100_000 {
		total += 1 / math.Sqrt(float64(r+1))
	}
	likely(t, "links that stay in a community", inside, 100_000, 0.7+0.3*0.0005)
	likely(t, "links from the first rank", first, 100_000, 1/total)
	for want, size := range map[string][2]int{
		"must be even": {10, 13}, "and not negative": {10, 8}, "joins more than a half of all pairs": {10, 56},
	} {
		refused(t, want, func() { Citation(rng, size[0], size[1]) })
	}
}

func TestBarabasiAlbert(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {5, 4}, {40, 1}, {1000, 3}} {
		g := BarabasiAlbert(rand.New(rand.NewPCG(1, 35)), c[0], c[1])
		graphtest.Sound(t, g)
		r := g.Check()
		if n, _ := analysis.Components(g); n != 1 || !g.Symmetric() || r.SelfLoops+r.Parallel > 0 || g.NumNodes() != c[0] || g.NumEdges() != 2*c[1]*(c[0]-c[1]) {
			t.Errorf("%v: %v, %d components, %+v", c, g, n, r)
		}
		for v := c[1] + 1; v < c[0]; v++ {
			lower := 0
			for _, u := range graphtest.Sources(g, v) {
				if int(u) < v {
					lower++
				}
			}
			if lower != c[1] {
				t.Fatalf("%v: node %d joined %d nodes", c, v, lower)
			}
		}
	}
	// with the start of two joined nodes the third joins either equally often
	first := 0
	for seed := range uint64(4000) {
		g := BarabasiAlbert(rand.New(rand.NewPCG(seed, 36)), 4, 1)
		if g.InDegree(0) == 3 { // ½ for the third, then ½ as it has two of the four ends
			first++
		}
	}
	likely(t, "stars around node 0", first, 4000, 0.25)
	for _, c := range [][2]int{{0, 1}, {3, 0}, {3, 3}, {2, -1}, {math.MaxInt/2 + 3, 1}, {1 << 30, 1 << 10}} {
		refused(t, "random.BarabasiAlbert: ", func() { BarabasiAlbert(rand.New(rand.NewPCG(1, 35)), c[0], c[1]) })
	}
}

// BenchmarkRandom makes graphs of the size of arXiv's: a million edges.
func BenchmarkRandom(b *testing.B) {
	for _, name := range []string{"uniform", "powerlaw", "rmat", "citation"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				drawn[name](rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344)
			}
		})
	}
}
