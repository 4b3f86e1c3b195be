package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// near checks a share of n draws against its probability.
func near(t *testing.T, what string, hits, n int, p float64) {
	t.Helper()
	if sigma := math.Sqrt(float64(n) * p * (1 - p)); math.Abs(float64(hits)-float64(n)*p) > 5*sigma {
		t.Errorf("%s: %d of %d, want %.0f ± %.0f", what, hits, n, float64(n)*p, sigma)
	}
}

// random are the random graphs by name.
var random = map[string]func(rng *rand.Rand, nodes, edges int) (*Graph, error){
	"uniform": Uniform, "rmat": RMAT, "citation": Citation,
	"powerlaw": func(rng *rand.Rand, nodes, edges int) (*Graph, error) { return PowerLaw(rng, nodes, edges, 0.75) },
}

func TestRandom(t *testing.T) {
	for name, build := range random {
		for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 5}, {50, 450}, {1000, 7000}} {
			g, err := build(rand.New(rand.NewPCG(5, 6)), size[0], size[1])
			if err != nil {
				t.Fatalf("%s of %v: %v", name, size, err)
			}
			sound(t, g)
			if g.NumNodes() != size[0] || g.NumEdges() != size[1] {
				t.Fatalf("%s of %v: %v", name, size, g)
			}
			for v := range g.NumNodes() {
				if !slices.IsSorted(g.sources(v)) {
					t.Fatalf("%s: sources of %d do not ascend", name, v)
				}
			}
			again := Must(build(rand.New(rand.NewPCG(5, 6)), size[0], size[1]))
			same(t, again, g)
			if other := Must(build(rand.New(rand.NewPCG(5, 7)), size[0], size[1])); size[0] > 100 && slices.Equal(other.In().Cols, g.In().Cols) {
				t.Errorf("%s does not depend on the seed", name)
			}
		}
		for want, size := range map[string][2]int{"nodes is negative: -1": {-1, 0}, "edges is negative: -4": {3, -4}, "too many edges": {9, math.MaxInt}} {
			if size[1] == math.MaxInt32 {
				continue // an int of 32 bits holds no more edges than there may be
			}
			if g, err := build(rand.New(rand.NewPCG(5, 6)), size[0], size[1]); g != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %v: %v, %v", name, size, g, err)
			}
		}
		if g, err := build(rand.New(rand.NewPCG(5, 6)), 0, 2); g != nil || err == nil || !strings.Contains(err.Error(), "2 edges between no nodes") {
			t.Errorf("%s of no nodes: %v", name, err)
		}
	}
}

func TestUniform(t *testing.T) {
	g := Must(Uniform(rand.New(rand.NewPCG(1, 30)), 20, 100_000))
	for v := range 20 {
		near(t, fmt.Sprint("in-edges of ", v), g.InDegree(v), g.NumEdges(), 0.05)
		near(t, fmt.Sprint("out-edges of ", v), g.OutDegree(v), g.NumEdges(), 0.05)
	}
}

func TestPowerLaw(t *testing.T) {
	const nodes, edges, alpha = 300, 200_000, 0.75
	g := Must(PowerLaw(rand.New(rand.NewPCG(1, 31)), nodes, edges, alpha))
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
		near(t, fmt.Sprint("in-edges of rank ", r), int(in[nodes-1-r]), edges, p)
		near(t, fmt.Sprint("out-edges of rank ", r), int(out[nodes-1-r]), edges, p)
	}
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		if g, err := PowerLaw(rand.New(rand.NewPCG(1, 31)), 3, 3, alpha); g != nil || err == nil {
			t.Errorf("an exponent of %v: %v", alpha, g)
		}
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
		near(t, fmt.Sprint("lowest bits ", q), low[q], n, p)
		near(t, fmt.Sprint("highest bits ", q), high[q], n, p)
	}
}

func TestCitation(t *testing.T) {
	g := Must(Citation(rand.New(rand.NewPCG(1, 33)), 2708, 13264))
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
	near(t, "links that stay in a community", inside, 100_000, 0.7+0.3*0.0005)
	near(t, "links from the first rank", first, 100_000, 1/total)
	for want, size := range map[string][2]int{
		"must be even": {10, 13}, "and not negative": {10, 8}, "joins more than a half of all pairs": {10, 56},
	} {
		if g, err := Citation(rng, size[0], size[1]); g != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Citation of %v: %v, %v", size, g, err)
		}
	}
}

func TestBarabasiAlbert(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {5, 4}, {40, 1}, {1000, 3}} {
		g := Must(BarabasiAlbert(rand.New(rand.NewPCG(1, 35)), c[0], c[1]))
		sound(t, g)
		r := g.Check()
		if n, _ := g.Components(); n != 1 || !g.Symmetric() || r.SelfLoops+r.Parallel > 0 || g.NumNodes() != c[0] || g.NumEdges() != 2*c[1]*(c[0]-c[1]) {
			t.Errorf("%v: %v, %d components, %+v", c, g, n, r)
		}
		for v := c[1] + 1; v < c[0]; v++ {
			lower := 0
			for _, u := range g.sources(v) {
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
		g := Must(BarabasiAlbert(rand.New(rand.NewPCG(seed, 36)), 4, 1))
		if g.InDegree(0) == 3 { // ½ for the third, then ½ as it has two of the four ends
			first++
		}
	}
	near(t, "stars around node 0", first, 4000, 0.25)
	for _, c := range [][2]int{{0, 1}, {3, 0}, {3, 3}, {2, -1}, {math.MaxInt/2 + 3, 1}, {1 << 30, 1 << 10}} {
		if g, err := BarabasiAlbert(rand.New(rand.NewPCG(1, 35)), c[0], c[1]); g != nil || err == nil {
			t.Errorf("BarabasiAlbert(%v) made %v", c, g)
		}
	}
}

// BenchmarkRandom makes graphs of the size of arXiv's: a million edges.
func BenchmarkRandom(b *testing.B) {
	for _, name := range []string{"uniform", "powerlaw", "rmat", "citation"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Must(random[name](rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344))
			}
		})
	}
}
