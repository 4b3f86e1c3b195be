package sample

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// kinds are edges of four kinds, of which there are more of the first.
func kinds(t testing.TB, g *graph.Graph) *graph.Graph {
	t.Helper()
	k := make([]int32, g.NumEdges())
	for e := range k {
		k[e] = int32(e * 7 % 11 % 4)
	}
	return graph.Must(graph.WithKinds(g, k))
}

// Of each kind as many are drawn as its fan-out says, and of an edge's kind each is as likely as any other.
func TestKinds(t *testing.T) {
	g := kinds(t, web(t, true))
	s := &Sampler{Graph: g, Kinds: [][]int{{2, 0, 5, All}, {1, 1, 1, 1}}, Seed: 4}
	const epochs = 600
	drawn := map[int32]int{}
	for epoch := range uint64(epochs) {
		blocks, err := s.Blocks([]int32{9, 4, 3}, epoch)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range blocks {
			for v, node := range b.From().Dst {
				var all, got [4]int
				loop := loopsOf(g)[node]
				for e := range g.Sources(int(node)) {
					if e != loop {
						all[g.Kinds()[e]]++
					}
				}
				kept := false
				for e := range b.Sources(v) {
					if e := b.From().Edges[e]; e == loop {
						kept = true
					} else {
						got[b.Kinds()[slices.Index(b.From().Edges, e)]]++
						if i == 0 && node == 4 {
							drawn[e]++
						}
					}
				}
				for k, n := range all {
					if want := min(n, s.Kinds[i][k]); got[k] != want {
						t.Fatalf("layer %d, node %d: %d of kind %d are drawn, want %d of %d", i+1, node, got[k], k, want, n)
					}
				}
				if want := loop >= 0 && s.Kinds[i][g.Kinds()[max(0, loop)]] > 0; kept != want {
					t.Fatalf("layer %d, node %d: the loop is kept: %v", i+1, node, kept)
				}
			}
		}
	}
	var of [4]int
	for e := range g.Sources(4) {
		of[g.Kinds()[e]]++
	}
	for e := range g.Sources(4) {
		k := g.Kinds()[e]
		p := min(1, float64(s.Kinds[0][k])/float64(of[k]))
		if mean := epochs * p; math.Abs(float64(drawn[e])-mean) > 5*math.Sqrt(mean*(1-p)+1e-9) {
			t.Errorf("edge %d of kind %d was drawn %d times, want about %.0f", e, k, drawn[e], mean)
		}
	}
}

// Only edges before the time of a seed are read for its sake, by all layers, by odds or without; a node
// that is read for two seeds is two rows.
func TestTimes(t *testing.T) {
	g := web(t, false)
	times, odds := make([]int64, g.NumEdges()), make([]tensor.Float, g.NumEdges())
	for e := range times {
		times[e], odds[e] = int64(e*37%100), tensor.Float(1+e%3)
	}
	for _, s := range []*Sampler{{Graph: g, Fanout: []int{3, 3}}, {Graph: g, Fanout: []int{3, 3}, Odds: odds}, {Graph: g, Fanout: []int{All, All}}} {
		s.Times = times
		seeds, at := []int32{4, 9, 4}, []int64{50, 5, 90}
		blocks, err := s.BlocksBefore(seeds, at, 3)
		if err != nil {
			t.Fatal(err)
		}
		when := at
		for i := len(blocks) - 1; i >= 0; i-- {
			b := blocks[i]
			next := make([]int64, b.NumSrc())
			copy(next, when)
			for v, node := range b.From().Dst {
				may := 0
				for e := range g.Sources(int(node)) {
					if times[e] < when[v] {
						may++
					}
				}
				n := 0
				for e, u := range b.Sources(v) {
					n++
					if times[b.From().Edges[e]] >= when[v] || int(u) < len(when) && when[u] != when[v] {
						t.Fatalf("layer %d: edge at %d is read for a seed at %d", i+1, times[b.From().Edges[e]], when[v])
					}
					next[u] = when[v]
				}
				if n != min(may, s.Fanout[i]) {
					t.Fatalf("layer %d, node %d at %d: %d edges are drawn of %d", i+1, node, when[v], n, may)
				}
			}
			when = next
		}
	}
}

// A batch of edges hides them and their reverses, has negatives that are no edges, and a seed for every end.
func TestEdgesHiddenWithNegatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var src, dst []int32
	for range 300 {
		src, dst = append(src, rng.Int32N(60)), append(dst, rng.Int32N(30))
	}
	g := graph.Undirected(graph.Must(graph.New(60, src, dst)))
	joined := pairsIn(g, false)
	reached := map[Drawn]map[int32]int{}
	for _, how := range []Drawn{"", ByDegree, InBatch} {
		reached[how] = map[int32]int{}
		l := &Loader{Sampler: Sampler{Graph: g, Fanout: []int{4, All}, Seed: 2}, Size: 32, Hide: true, Negatives: 3, Others: how, Sums: true}
		for e := range int32(g.NumEdges()) {
			if g.In().Cols[e] < g.Destinations()[e] {
				l.Edges = append(l.Edges, e)
			}
		}
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			own := newPairSet(len(b.Edges))
			for i, e := range b.Edges {
				u, v := b.Seeds[b.From[i]], b.Seeds[b.To[i]]
				if u != g.In().Cols[e] || v != g.Destinations()[e] {
					t.Fatalf("edge %d is from %d to %d", e, u, v)
				}
				own.add(pairOf(u, v, false))
				for _, w := range b.Not[3*i : 3*i+3] {
					if w := b.Seeds[w]; u == w || joined.has(pairOf(u, w, false)) {
						t.Fatalf("%q: the negative %d → %d is an edge", how, u, w)
					} else {
						reached[how][w]++
					}
				}
			}
			for i, block := range b.Blocks {
				if len(b.Weights[i].Data) != block.NumEdges() {
					t.Fatalf("layer %d has %d weights for %d edges", i+1, len(b.Weights[i].Data), block.NumEdges())
				}
				for v, node := range block.From().Dst {
					left := 0
					for e := range block.Sources(v) {
						if u := g.In().Cols[block.From().Edges[e]]; u != node && own.has(pairOf(u, node, false)) {
							t.Fatalf("layer %d reads %d → %d, which trains", i+1, u, node)
						}
						left++
					}
					if i == 1 && v < len(b.Seeds) {
						for _, u := range g.Sources(int(node)) {
							if u == node || !own.has(pairOf(u, node, false)) {
								left--
							}
						}
						if left != 0 {
							t.Fatalf("node %d reads %d edges too many", node, left)
						}
					}
				}
			}
		}
	}
	far := func(how Drawn) (n int) { // nodes that no edge that trains leads to
		for v, k := range reached[how] {
			if v >= 30 && g.InDegree(int(v)) == 0 {
				n += k
			}
		}
		return n
	}
	if len(reached[""]) < 40 || far(ByDegree) > 0 || far(InBatch) > 0 {
		t.Errorf("%d nodes are drawn of all; %d and %d to which no edge leads", len(reached[""]), far(ByDegree), far(InBatch))
	}
	full := graph.Complete(5)
	l := &Loader{Sampler: Sampler{Graph: full, Fanout: []int{1}}, Edges: []int32{1}, Size: 1, Negatives: 1}
	for _, err := range l.Batches(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "an edge with every other node") {
			t.Errorf("a complete graph: %v", err)
		}
	}
}

// two is two types of nodes and three relations.
func two(t testing.TB) *hetero.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 7))
	list := func(n, edges int) (l []int32) {
		for range edges {
			l = append(l, rng.Int32N(int32(n)))
		}
		return l
	}
	h, err := hetero.New(map[string]int{"item": 30, "user": 50}, map[hetero.Rel]*graph.Graph{
		{Src: "user", Name: "buys", Dst: "item"}:      graph.Must(graph.NewBipartite(50, 30, list(50, 200), list(30, 200))),
		{Src: "item", Name: "bought by", Dst: "user"}: graph.Must(graph.NewBipartite(30, 50, list(30, 200), list(50, 200))),
		{Src: "user", Name: "knows", Dst: "user"}:     graph.Must(graph.New(50, list(50, 150), list(50, 150))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Batches of several types have the rows of each, seeds under their own numbers, and of each relation
// as many edges as its fan-out says.
func TestBatchesOfTypes(t *testing.T) {
	h, buys := two(t), hetero.Rel{Src: "user", Name: "buys", Dst: "item"}
	rows := map[string]tensor.Array{}
	for name, n := range map[string]int{"item": 30, "user": 50} {
		x := tensor.New(n, 2)
		for i := range n {
			x.Row(i)[0], x.Row(i)[1] = tensor.Float(i), tensor.Float(len(name))
		}
		rows[name] = x
	}
	check := func(b *Batch, fanout int) {
		t.Helper()
		for i, g := range b.Typed {
			if i > 0 && (g.NumNodes("user") != b.Typed[i-1].NumDst("user") || g.NumNodes("item") != b.Typed[i-1].NumDst("item")) {
				t.Fatal("a block's destinations are not the sources of the next")
			}
			for _, r := range h.Rels() {
				block := g.Graph(r)
				for v := range block.From().Dst {
					if n := block.InDegree(v); n > fanout {
						t.Fatalf("%v: %d edges are drawn", r, n)
					}
				}
			}
		}
		for name, x := range b.Rows {
			x := x.(*tensor.Dense)
			for i, v := range b.SeedsOf[name] {
				if x.Row(i)[0] != tensor.Float(v) || x.Row(i)[1] != tensor.Float(len(name)) {
					t.Fatalf("row %d of type %s is not of node %d", i, name, v)
				}
			}
			if x.Rows() != b.Typed[0].NumNodes(name) {
				t.Fatalf("%d rows for %d nodes of type %s", x.Rows(), b.Typed[0].NumNodes(name), name)
			}
		}
	}
	l := &Loader{Sampler: Sampler{Fanout: []int{2, 3}, Seed: 1}, Hetero: h, Type: "item", Nodes: []int32{3, 29, 0, 7}, Size: 3, Rows: rows}
	var all []int32
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		check(b, 3)
		all = append(all, b.Seeds...)
		if !slices.Equal(b.Seeds, b.SeedsOf["item"]) || b.X != nil || b.Blocks != nil {
			t.Fatalf("seeds %v and %v", b.Seeds, b.SeedsOf)
		}
	}
	if slices.Sort(all); !slices.Equal(all, []int32{0, 3, 7, 29}) {
		t.Errorf("the seeds of an epoch are %v", all)
	}
	l = &Loader{Sampler: Sampler{Fanout: []int{2, All}, Seed: 1}, Hetero: h, Rel: buys, Edges: []int32{0, 5, 199, 63}, Size: 4, Rows: rows, Negatives: 2, Hide: true}
	g := h.Graph(buys)
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		check(b, 1000)
		for i, e := range b.Edges {
			u, v := b.SeedsOf["user"][b.From[i]], b.SeedsOf["item"][b.To[i]]
			if u != g.In().Cols[e] || v != g.Destinations()[e] {
				t.Fatalf("edge %d is from %d to %d", e, u, v)
			}
			for _, w := range b.Not[2*i : 2*i+2] {
				if w := b.SeedsOf["item"][w]; pairsIn(g, true).has(pairOf(u, w, true)) {
					t.Fatalf("the negative %d → %d is an edge", u, w)
				}
			}
		}
	}
}

// Whole graphs come in batches, with the rows of their nodes.
func TestBatchesOfGraphs(t *testing.T) {
	g := graph.Batch(graph.Ring(4, 1), graph.Complete(3), graph.Chains(5), graph.Ring(6, 1))
	x := tensor.New(g.NumNodes(), 1)
	for i := range x.Data {
		x.Data[i] = tensor.Float(i)
	}
	l := &Loader{Sampler: Sampler{Graph: g, Seed: 3}, Graphs: []int32{3, 0, 2}, Size: 2, Features: x, Epochs: 2}
	var all []int32
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Graphs...)
		part := graph.Must(graph.Members(g, b.Graphs))
		if !slices.Equal(part.From().Edges, b.Blocks[0].From().Edges) || !slices.Equal(b.Of([]int32{0, 1, 2, 3}), b.Graphs) {
			t.Fatalf("graphs %v: %v", b.Graphs, b.Blocks[0])
		}
		for i, v := range part.From().Src {
			if b.X.(*tensor.Dense).Data[i] != tensor.Float(v) {
				t.Fatalf("row %d is not of node %d", i, v)
			}
		}
	}
	if slices.Sort(all); !slices.Equal(all, []int32{0, 0, 2, 2, 3, 3}) {
		t.Errorf("two epochs take %v", all)
	}
}

// After a loop that ends early, or a cancel at any stage, no goroutine and no memory is left, and the error says why.
func TestBatchesEnd(t *testing.T) {
	defer par.SetThreads(4)()
	g := random.Uniform(rand.New(rand.NewPCG(1, 1)), 20000, 200000)
	before, memory := runtime.NumGoroutine(), heap()
	for stage := range 8 {
		l := &Loader{Sampler: Sampler{Graph: g, Fanout: []int{5, 5}}, Nodes: g.DstRows(), Size: 500, Features: tensor.New(20000, 32), Epochs: 1000, Ahead: 3}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for _, err := range l.Batches(ctx) {
			if n++; err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("stage %d: %v", stage, err)
				}
				continue
			}
			switch {
			case stage < 4 && n > stage:
				cancel()
			case stage >= 4 && n == stage:
				go cancel() // while one is made
			}
		}
		if n > 60 {
			t.Errorf("stage %d: %d batches", stage, n)
		}
		cancel()
		for range l.Batches(t.Context()) {
			break
		}
		_ = tensor.Try(func() {
			for range l.Batches(t.Context()) {
				tensor.New(-1) // panics
			}
		})
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+4 && heap() < memory+1<<20 { // the workers of loops, and what the graph keeps
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after; %d bytes, %d after", before, runtime.NumGoroutine(), memory, heap())
	runtime.KeepAlive(g)
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What cannot be says what to do.
func TestBadLoaders(t *testing.T) {
	nan := tensor.Float(math.NaN())
	odds := func(l *Loader, w tensor.Float) {
		l.Odds = make([]tensor.Float, l.Graph.NumEdges())
		l.Odds[3] = w
	}
	for want, spoil := range map[string]func(l *Loader){
		"the fan-out of layer 2 is 0: it must be at least 1": func(l *Loader) { l.Fanout = []int{3, 0} },
		"the fan-out of layer 1 is -1":                       func(l *Loader) { l.Fanout = []int{-1, 3} },
		"Fanout and Kinds are given":                         func(l *Loader) { l.Kinds = [][]int{{1}} },
		"whose edges have no kinds":                          func(l *Loader) { l.Fanout, l.Kinds = nil, [][]int{{1}} },
		"a fan-out of 1 for kind 4 in layer 1, and no edge":  func(l *Loader) { l.Graph = kinds(t, l.Graph); l.Fanout, l.Kinds = nil, [][]int{{1, 1, 1, 1, 1}} },
		"and Kinds has fan-outs for 2":                       func(l *Loader) { l.Graph = kinds(t, l.Graph); l.Fanout, l.Kinds = nil, [][]int{{1, 1}} },
		"the odds of edge 3 are -1":                          func(l *Loader) { odds(l, -1) },
		"the odds of edge 3 are NaN":                         func(l *Loader) { odds(l, nan) },
		"1 Odds for ":                                        func(l *Loader) { l.Odds = []tensor.Float{1} },
		"Times for the edges, and 0 times for 200 nodes":     func(l *Loader) { l.Times = make([]int64, l.Graph.NumEdges()) },
		"2 Times for":                                        func(l *Loader) { l.Times = make([]int64, 2) },
		"Before has times, and the edges have none":          func(l *Loader) { l.Before = make([]int64, 200) },
		"Size is 91, and 90 nodes train: make it 90 or less": func(l *Loader) { l.Size = 91 },
		"Negatives is -1":                                    func(l *Loader) { l.Negatives = -1 },
		`Others is "far"`:                                    func(l *Loader) { l.Others = "far" },
		"Negatives and Hide are for Edges":                   func(l *Loader) { l.Hide = true },
		"Epochs is -1":                                       func(l *Loader) { l.Epochs = -1 },
		"Rank is 2 of 2":                                     func(l *Loader) { l.Rank, l.Ranks = 2, 2 },
		"Type, Rel and Rows are for a Hetero":                func(l *Loader) { l.Type = "user" },
		"leave Graph, Ends, Graphs and Features out":         func(l *Loader) { l.Hetero = two(t) },
		`there is no type "" of nodes`: func(l *Loader) {
			*l = Loader{Hetero: two(t), Sampler: Sampler{Fanout: []int{1}}, Nodes: []int32{1}, Size: 1}
		},
		"there is no relation": func(l *Loader) {
			*l = Loader{Hetero: two(t), Sampler: Sampler{Fanout: []int{1}}, Edges: []int32{1}, Size: 1}
		},
		"node 0 of those that train is 30": func(l *Loader) {
			*l = Loader{Hetero: two(t), Type: "item", Sampler: Sampler{Fanout: []int{1}}, Nodes: []int32{30}, Size: 1}
		},
		"graphs that train are read whole": func(l *Loader) { l.Graphs = []int32{0} },
	} {
		l := loaderOf(t, 3, 3)
		spoil(l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		for b, err := range l.Batches(t.Context()) {
			if b != nil || err == nil {
				t.Errorf("a batch in spite of %q", want)
			}
		}
	}
	// Nodes without in-edges are read, and hear nothing.
	l := loaderOf(t, 3)
	l.Nodes, l.Size = []int32{5, 10}, 2
	for b, err := range l.Batches(t.Context()) {
		if err != nil || b.Blocks[0].NumEdges() != 0 || b.X.Shape()[0] != 2 {
			t.Errorf("nodes without in-edges: %v, %v", b, err)
		}
	}
}
