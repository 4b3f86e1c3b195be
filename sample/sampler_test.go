package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// web is a graph with nodes of no, few and many in-edges, parallel edges, and loops
// at some nodes.
func web(t testing.TB, loops bool) *graph.Graph {
	t.Helper()
	const n = 200
	rng := rand.New(rand.NewPCG(5, 6))
	var src, dst []int32
	for v := range int32(n) {
		degree := []int32{0, 1, 3, 12, 150}[v%5]
		for range degree {
			src, dst = append(src, rng.Int32N(n)), append(dst, v)
		}
		if v%7 == 0 {
			src, dst = append(src, v), append(dst, v)
		}
	}
	g := graph.Must(graph.New(n, src, dst))
	if !loops {
		return graph.WithoutSelfLoops(g)
	}
	return g
}

// sampled checks that a block is made of edges of g, loops among them, as many as the
// fan-out allows.
func sampled(t *testing.T, g *graph.Graph, b *graph.Graph, fanout int, replace bool) {
	t.Helper()
	from, in := b.From(), b.In()
	for i, v := range from.Dst {
		others, loop := 0, false
		for _, u := range g.Sources(int(v)) {
			if u == v && !loop {
				loop = true
				continue
			}
			others++
		}
		want := min(others, fanout)
		if replace && others > 0 {
			want = fanout
		}
		if loop {
			want++
		}
		edges := from.Edges[in.Offsets[i]:in.Offsets[i+1]]
		if len(edges) != want {
			t.Fatalf("node %d with %d in-edges and loop %v has %d in the block, want %d", v, others, loop, len(edges), want)
		}
		if !slices.IsSorted(edges) || !replace && len(slices.Compact(slices.Clone(edges))) != len(edges) {
			t.Fatalf("edges of node %d: %v", v, edges)
		}
		kept := false
		for k, e := range edges {
			if g.Destinations()[e] != v || from.Src[in.Cols[in.Offsets[i]+int64(k)]] != g.In().Cols[e] {
				t.Fatalf("edge %d of the block is not edge %d", k, e)
			}
			kept = kept || g.In().Cols[e] == v
		}
		if loop && !kept {
			t.Fatalf("the loop of node %d is not kept", v)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, loops := range []bool{true, false} {
		g := web(t, loops)
		for _, replace := range []bool{false, true} {
			s := &Sampler{Graph: g, Fanout: []int{4, 10, 1}, Replace: replace, Seed: 3}
			seeds := []int32{4, 9, 0, 151, 35, 199}
			blocks, err := s.Blocks(seeds, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range blocks {
				sampled(t, g, b, s.Fanout[i], replace)
				if i+1 < len(blocks) && !slices.Equal(b.From().Dst, blocks[i+1].From().Src) {
					t.Fatal("a block's destinations are not the sources of the next")
				}
			}
			if !slices.Equal(blocks[2].From().Dst, seeds) {
				t.Fatal("the last block is not of the seeds")
			}
		}
	}
}

// All neighbours are those of graph.Blocks, whether All or a large number says so.
func TestAllNeighbours(t *testing.T) {
	g := web(t, true)
	seeds := []int32{4, 7, 0}
	want := graph.Must(graph.Blocks(g, seeds, 2))
	for _, fanout := range [][]int{{All, All}, {1000, 1000}} {
		got, err := (&Sampler{Graph: g, Fanout: fanout}).Blocks(seeds, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range got {
			if !slices.Equal(b.From().Edges, want[i].From().Edges) || !slices.Equal(b.From().Src, want[i].From().Src) || !slices.Equal(b.In().Cols, want[i].In().Cols) {
				t.Errorf("fan-out %v: block %d differs", fanout, i)
			}
		}
	}
}

// What is drawn for a node depends on seed, epoch, layer and node, and on nothing else.
func TestDrawsFollowFromTheNode(t *testing.T) {
	g := web(t, true)
	of := func(s Sampler, seeds []int32, epoch uint64, layer int) []int32 {
		t.Helper()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		h, err := s.hop(asked{seeds: seeds, epoch: epoch}, layer)
		if err != nil {
			t.Fatal(err)
		}
		b, at := h.block, 0
		at = slices.Index(seeds, 4)
		return b.From().Edges[b.In().Offsets[at]:b.In().Offsets[at+1]]
	}
	s := Sampler{Graph: g, Fanout: []int{10, 10}, Seed: 1}
	want := of(s, []int32{4}, 5, 0)
	many := []int32{9, 14, 4}
	for v := range int32(200) {
		if v%5 == 4 && !slices.Contains(many, v) {
			many = append(many, v)
		}
	}
	for _, threads := range []int{1, 2, 4} {
		undo := par.SetThreads(threads)
		if got := of(s, many, 5, 0); !slices.Equal(got, want) {
			t.Errorf("on %d threads and in another batch %v, want %v", threads, got, want)
		}
		undo()
	}
	other := s
	other.Seed = 2
	for i, got := range [][]int32{of(s, []int32{4}, 6, 0), of(s, []int32{4}, 5, 1), of(other, []int32{4}, 5, 0)} {
		if slices.Equal(got, want) {
			t.Errorf("case %d: another epoch, layer or seed draws the same", i)
		}
	}
}

// star is a hub with many in-edges, parallel edges told apart by their number, beside a node
// with three, one with none and, where there are loops, one of each.
func star(t testing.TB, degree int, loops bool) *graph.Graph {
	t.Helper()
	var src, dst []int32
	for e := range degree {
		src, dst = append(src, int32(1+e%3)), append(dst, 0)
	}
	for range 3 {
		src, dst = append(src, 0), append(dst, 1)
	}
	if loops {
		for v := range int32(4) {
			src, dst = append(src, v), append(dst, v)
		}
	}
	return graph.Must(graph.New(4, src, dst))
}

// Of uniform draws each edge is as likely as any other, and each pair; of draws by odds each has the probability
// that is asked for: counts over many epochs have the chi-square that they should. The sum of
// scaled values has no bias.
func TestDraws(t *testing.T) {
	const epochs, hub = 4000, 60
	rng := rand.New(rand.NewPCG(8, 8))
	for _, loops := range []bool{false, true} {
		g := star(t, hub, loops)
		n := g.NumEdges()
		even, steep := make([]tensor.Float, n), make([]tensor.Float, n)
		value := make([]float64, n)
		for e := range n {
			even[e], steep[e], value[e] = tensor.Float(0.5+rng.Float64()), tensor.Float(math.Exp(4*rng.NormFloat64())), rng.NormFloat64()+1
			if e%11 == 5 {
				even[e] = 0
			}
		}
		for name, odds := range map[string][]tensor.Float{"uniform": nil, "even": even, "steep": steep} {
			for _, replace := range []bool{false, true} {
				for _, k := range []int{1, 7, 40, hub + 1} {
					value := slices.Clone(value)
					for e := range value {
						if name == "steep" { // else what is drawn once in many epochs decides
							value[e] *= float64(odds[e])
						}
					}
					s := &Sampler{Graph: g, Fanout: []int{k}, Odds: odds, Replace: replace, Seed: uint64(k)}
					c := countDraws(t, s, epochs, value)
					c.check(t, s, fmt.Sprintf("%s, loops %v, replace %v, %d drawn", name, loops, replace, k))
				}
			}
		}
	}
}

// counts are what many epochs drew of the hub's edges.
type counts struct {
	epochs    int
	edges     map[int32]int
	sum, sum2 float64 // of the scaled values of what was drawn
	want      float64 // of all of them
	sizes     map[int]int
}

func countDraws(t *testing.T, s *Sampler, epochs int, value []float64) *counts {
	t.Helper()
	c := &counts{epochs: epochs, edges: map[int32]int{}, sizes: map[int]int{}}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for e := range s.Graph.InDegree(0) {
		if s.Odds == nil || s.Odds[e] > 0 || s.Graph.In().Cols[e] == 0 {
			c.want += value[e]
		}
	}
	for epoch := range epochs {
		h, err := s.hop(asked{seeds: []int32{1, 0, 2}, epoch: uint64(epoch), scales: true}, 0)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := h.block.In().Offsets[1], h.block.In().Offsets[2]
		edges := h.block.From().Edges[lo:hi]
		sum := 0.0
		for i, e := range edges {
			c.edges[e]++
			if h.scales == nil {
				sum += value[e]
			} else {
				sum += h.scales[int(lo)+i] * value[e]
			}
		}
		c.sum += sum
		c.sum2 += sum * sum
		c.sizes[len(edges)]++
	}
	return c
}

// A place is found from any guess, in rows of all kinds of odds.
func TestSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, power := range []float64{0, 1, 30} {
		d := &draws{order: &order{upto: make([]float64, 3000)}}
		sum := 0.0
		for p := range d.upto {
			if rng.IntN(5) > 0 {
				sum += math.Pow(rng.Float64(), power)
			}
			d.upto[p] = sum
		}
		for range 3000 {
			lo := rng.IntN(2900)
			hi := lo + 1 + rng.IntN(3000-lo)
			x := d.upto[hi-1] * (1 - math.Pow(rng.Float64(), 3)) * (1 + 1e-12)
			want := hi - 1
			for want > lo && (d.upto[want] == d.upto[want-1] || d.upto[want-1] > x) {
				want--
			}
			if got := d.search(lo, hi, x, lo-5+rng.IntN(hi-lo+10)); got != want {
				t.Fatalf("power %v: the place of %v from %d to %d is %d, want %d", power, x, lo, hi, got, want)
			}
		}
	}
}

// chance is how often each of the hub's edges should be drawn in an epoch.
func chance(s *Sampler) []float64 {
	n, k := s.Graph.InDegree(0), float64(s.Fanout[0])
	w, total := make([]float64, n), 0.0
	for e := range w {
		if w[e] = 1; s.Odds != nil {
			w[e] = float64(s.Odds[e])
		}
		if s.Graph.In().Cols[e] == 0 {
			w[e] = 0 // the loop
		}
		total += w[e]
	}
	p := make([]float64, n)
	for certain := map[int]bool{}; ; {
		more := false
		for e := range w {
			if certain[e] {
				continue
			}
			p[e] = 0
			if total > 0 {
				p[e] = k * w[e] / total
			}
			if !s.Replace && (p[e] >= 1 || w[e] > 0 && k <= 0) {
				more = true
			}
		}
		if !more || s.Replace {
			break
		}
		for e := range w { // the largest is certain
			if !certain[e] && p[e] >= 1 {
				certain[e], p[e] = true, 1
				total -= w[e]
				k--
			}
		}
		if len(certain) == n || total < 1e-12 {
			break
		}
	}
	for e := range w {
		if s.Graph.In().Cols[e] == 0 {
			p[e] = 1
		}
	}
	return p
}

func (c *counts) check(t *testing.T, s *Sampler, what string) {
	t.Helper()
	p := chance(s)
	square, free := 0.0, 0
	for e, p := range p {
		got, want := float64(c.edges[int32(e)]), p*float64(c.epochs)
		if spread := want * (1 - p); !s.Replace && spread < 1e-6 || want < 1e-9 {
			if math.Abs(got-want) > 0.5+1e-6*want {
				t.Errorf("%s: edge %d was drawn %v times of %d, want %v", what, e, got, c.epochs, want)
			}
			continue
		} else if s.Replace {
			square += (got - want) * (got - want) / want
		} else {
			square += (got - want) * (got - want) / spread
		}
		free++
	}
	if f := float64(free); square > f+6*math.Sqrt(2*f)+6 {
		t.Errorf("%s: chi-square %.1f of %d edges", what, square, free)
	}
	mean := c.sum / float64(c.epochs)
	deviation := math.Sqrt(max(0, c.sum2/float64(c.epochs)-mean*mean)/float64(c.epochs)) + 1e-6*(1+math.Abs(c.want))
	if math.Abs(mean-c.want) > 5*deviation {
		t.Errorf("%s: the scaled sum is %.4f ± %.4f, want %.4f", what, mean, deviation, c.want)
	}
	if len(c.sizes) != 1 {
		t.Errorf("%s: not always as many are drawn: %v", what, c.sizes)
	}
}

func TestSamplerCheck(t *testing.T) {
	g := web(t, true)
	for _, s := range []Sampler{{}, {Graph: g}, {Graph: g, Fanout: []int{3, -1}}, {Graph: graph.Must(graph.NewBipartite(2, 3, nil, nil)), Fanout: []int{1}}} {
		if _, err := s.Blocks([]int32{0}, 0); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	s := Sampler{Graph: g, Fanout: []int{2}}
	for _, seeds := range [][]int32{{0, 200}, {-1}, {3, 3}} {
		if _, err := s.Blocks(seeds, 0); err == nil {
			t.Errorf("seeds %v are taken", seeds)
		}
	}
	if b, err := s.Blocks(nil, 0); err != nil || b[0].NumEdges() != 0 {
		t.Error("no seeds:", err)
	}
}
