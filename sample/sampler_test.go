package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
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
		return g.WithoutSelfLoops()
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

// All neighbours are those of graph.Blocks, whether 0 or a large number says so.
func TestAllNeighbours(t *testing.T) {
	g := web(t, true)
	seeds := []int32{4, 7, 0}
	want := graph.Must(g.Blocks(seeds, 2))
	for _, fanout := range [][]int{{0, 0}, {1000, 1000}} {
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
		b, err := s.block(seeds, epoch, layer)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(seeds, 4)
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

// Each edge is drawn as often as any other, and each pair: the counts over many epochs
// are within five deviations of what is expected.
func TestDrawsAreUniform(t *testing.T) {
	const epochs, degree, fanout = 20000, 12, 5
	src := make([]int32, degree)
	g := graph.Must(graph.NewBipartite(1, 1, src, src)) // parallel edges, told apart by number
	d := draws{offsets: g.In().Offsets, fanout: fanout}
	for _, replace := range []bool{false, true} {
		d.replace = replace
		var edges [degree]int
		var pairs [degree][degree]int
		for e := range epochs {
			d.key = mix(uint64(e))
			r := d.row(0)
			got := make([]int32, r.size())
			d.draw(r, got[:0])
			for i, a := range got {
				edges[a]++
				for _, b := range got[:i] {
					pairs[b][a]++
				}
			}
		}
		within := func(what string, n int, p float64) {
			t.Helper()
			mean := epochs * p
			if math.Abs(float64(n)-mean) > 5*math.Sqrt(mean) {
				t.Errorf("replace %v: %s was drawn %d times, want about %.0f", replace, what, n, mean)
			}
		}
		for i, n := range edges {
			within("an edge", n, float64(fanout)/degree)
			for j := range i {
				if p := float64(fanout*(fanout-1)) / (degree * (degree - 1)); !replace {
					within("a pair", pairs[j][i], p)
				}
			}
		}
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
