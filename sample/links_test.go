package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// edgesOf returns the edges as pairs, loops left out.
func edgesOf(g *graph.Graph) [][2]int32 {
	var out [][2]int32
	for e, v := range g.Destinations() {
		if u := g.In().Cols[e]; u != v {
			out = append(out, [2]int32{u, v})
		}
	}
	return out
}

// linkSet returns the links that edges are.
func linkSet(edges [][2]int32, directed bool) map[[2]int32]bool {
	of := map[[2]int32]bool{}
	for _, e := range edges {
		if !directed {
			e = [2]int32{min(e[0], e[1]), max(e[0], e[1])}
		}
		of[e] = true
	}
	return of
}

// TestLinkSplit holds each part to what a split must be, on a graph with loops and
// parallel edges.
func TestLinkSplit(t *testing.T) {
	for _, directed := range []bool{false, true} {
		g := web(t, true)
		if !directed {
			g = graph.Undirected(g)
		}
		all := linkSet(edgesOf(g), directed)
		for _, apart := range []float64{0, 0.25} {
			s := LinkSplit{Val: 0.1, Test: 0.2, Apart: apart, Directed: directed, Seed: 3}
			l, err := s.Of(g)
			if err != nil {
				t.Fatal(err)
			}
			message, train := linkSet(edgesOf(l.Graph), directed), linkSet(edgesOf(l.Train), directed)
			val, test := linkSet(edgesOf(l.Val.Links), directed), linkSet(edgesOf(l.Test.Links), directed)
			if len(val) != len(all)/10 || len(test) != len(all)/5 {
				t.Errorf("of %d links %d validate and %d test", len(all), len(val), len(test))
			}
			for link := range all {
				parts := 0
				for _, p := range []map[[2]int32]bool{train, val, test} {
					if p[link] {
						parts++
					}
				}
				carries := message[link]
				if apart == 0 && (parts != 1 || carries != train[link]) {
					t.Errorf("link %v is in %d parts, and carries messages: %v", link, parts, carries)
				}
				if apart > 0 && (parts > 1 || carries == (parts == 1)) {
					t.Errorf("link %v is in %d parts, and carries messages: %v", link, parts, carries)
				}
			}
			loops := func(g *graph.Graph) int { return g.NumEdges() - len(edgesOf(g)) }
			if loops(l.Graph) != loops(g) {
				t.Errorf("%d loops of %d are left", loops(l.Graph), loops(g))
			}
			if n := len(edgesOf(l.Train)); n != len(train) {
				t.Errorf("%d edges for %d training links", n, len(train))
			}
			not := append(edgesOf(l.Val.Negatives), edgesOf(l.Test.Negatives)...)
			if len(linkSet(not, directed)) != len(val)+len(test) {
				t.Errorf("%d negatives for %d links, or one twice", len(linkSet(not, directed)), len(val)+len(test))
			}
			for link := range linkSet(not, directed) {
				if all[link] {
					t.Errorf("the negative %v is an edge", link)
				}
			}
			again, _ := s.Of(g)
			s.Seed++
			other, _ := s.Of(g)
			if !slices.Equal(edgesOf(again.Test.Links), edgesOf(l.Test.Links)) || !slices.Equal(edgesOf(again.Val.Negatives), edgesOf(l.Val.Negatives)) {
				t.Error("the same seed splits differently")
			}
			if slices.Equal(edgesOf(other.Test.Links), edgesOf(l.Test.Links)) {
				t.Error("another seed splits the same")
			}
			drawn, err := l.Draw.Draw(50, 1)
			if err != nil {
				t.Fatal(err)
			}
			for link := range linkSet(edgesOf(drawn), directed) {
				if message[link] || train[link] {
					t.Errorf("the negative %v is a training link", link)
				}
			}
		}
	}
}

func TestLinkSplitErrors(t *testing.T) {
	path := graph.Undirected(graph.Chains(5))
	for _, c := range []struct {
		split LinkSplit
		g     *graph.Graph
		want  string
	}{
		{LinkSplit{Val: 0.5, Test: 0.5}, path, "leave no edges"},
		{LinkSplit{Val: 0.25, Test: 0.25, Apart: 1}, path, "leave no edges"},
		{LinkSplit{Val: 0.1}, path, "Val 0.1 of 4 links is none"},
		{LinkSplit{Test: 0.1}, path, "Test 0.1 of 4 links is none"},
		{LinkSplit{Apart: 0.1}, path, "Apart 0.1 of 4 links is none"},
		{LinkSplit{Val: 0.5}, graph.Must(graph.New(3, nil, nil)), "of 0 links is none"},
		{LinkSplit{}, graph.Must(graph.New(3, nil, nil)), "leave no edges"},
		{LinkSplit{Val: -1}, path, "Val is -1"},
		{LinkSplit{Test: math.NaN()}, path, "Test is NaN"},
		{LinkSplit{Val: 0.7, Test: 0.7}, path, "more than all links"},
		{LinkSplit{Val: 0.5}, graph.Chains(5), "not each edge has a reverse"},
		{LinkSplit{Val: 0.5}, graph.CompleteBipartite(2, 2), "one set of nodes"},
		{LinkSplit{Val: 0.5}, nil, "no graph"},
		{LinkSplit{Val: 0.5}, graph.Complete(4), "pairs without an edge"},
	} {
		if _, err := c.split.Of(c.g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %v: %v, want an error about %q", c.split, c.g, err, c.want)
		}
	}
}

// TestNegatives draws few, many and all pairs that are no edges, each equally often.
func TestNegatives(t *testing.T) {
	g := graph.Must(graph.New(6, []int32{0, 1, 2, 2, 4, 1}, []int32{1, 0, 3, 3, 4, 5}))
	for _, directed := range []bool{false, true} {
		edges, pairs := linkSet(edgesOf(g), directed), map[bool]int{false: 15 - 3, true: 30 - 4}[directed]
		for _, count := range []int{0, 3, pairs - 1, pairs} {
			times := map[[2]int32]int{}
			const draws = 1500
			for step := range uint64(draws) {
				drawn, err := (&Negatives{Graph: g, Directed: directed, Seed: 1}).Draw(count, step)
				if err != nil {
					t.Fatal(err)
				}
				set := linkSet(edgesOf(drawn), directed)
				if len(set) != count || drawn.NumEdges() != count {
					t.Fatalf("%d pairs of %d are different", len(set), count)
				}
				for p := range set {
					times[p]++
					if edges[p] {
						t.Fatalf("%v is an edge", p)
					}
				}
			}
			for p, n := range times {
				want := draws * float64(count) / float64(pairs)
				if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
					t.Errorf("directed %v: %v was drawn %d times of %v", directed, p, n, want)
				}
			}
		}
		if _, err := (&Negatives{Graph: g, Directed: directed}).Draw(pairs+1, 0); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has %d", pairs)) {
			t.Errorf("too many pairs: %v", err)
		}
	}
	if all, none := (&Negatives{Graph: g}).Left(), (&Negatives{}).Left(); all != 15-3 || none != 0 {
		t.Errorf("%d and %d pairs are left", all, none)
	}
	if _, err := (&Negatives{}).Draw(1, 0); err == nil {
		t.Error("negatives of no graph are drawn")
	}
	if _, err := (&Negatives{Graph: graph.CompleteBipartite(2, 3)}).Draw(1, 0); err == nil {
		t.Error("negatives of a bipartite graph are drawn")
	}
}

// A table of pairs grows and forgets none.
func TestPairSet(t *testing.T) {
	s, of, rng := newPairSet(0), map[uint64]bool{}, rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		p := pairOf(rng.Int32N(60), rng.Int32N(60), true)
		if s.has(p) != of[p] || s.add(p) == of[p] {
			t.Fatalf("%x was there: %v", p, of[p])
		}
		of[p] = true
	}
}

// Links that lists of edges divide: a link is in the first part that one of its edges is in, and
// what is in none carries no message and is no negative.
func TestLinkSplitBy(t *testing.T) {
	g := graph.Must(graph.New(6, []int32{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}, []int32{1, 0, 2, 1, 3, 2, 4, 3, 5, 4}))
	at := func(u, v int32) int32 {
		for e, w := range g.Destinations() {
			if w == v && g.In().Cols[e] == u {
				return int32(e)
			}
		}
		t.Fatalf("no edge from %d to %d", u, v)
		return -1
	}
	// 0–1 trains one way and tests the other: it trains. 4–5 is in no part.
	train, val, test := []int32{at(0, 1), at(1, 2), at(2, 1)}, []int32{at(2, 3)}, []int32{at(1, 0), at(3, 2), at(3, 4)}
	l, err := LinkSplit{Seed: 1}.By(g, train, val, test)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		name string
		g    *graph.Graph
		want string
	}{{"messages", l.Graph, "[[1 0] [0 1] [2 1] [1 2]]"}, {"train", l.Train, "[[0 1] [1 2]]"}, {"val", l.Val.Links, "[[2 3]]"}, {"test", l.Test.Links, "[[3 4]]"}} {
		if got := fmt.Sprint(edgesOf(p.g)); got != p.want {
			t.Errorf("%s: %s, want %s", p.name, got, p.want)
		}
	}
	if edges := edgesOf(l.Draw.Graph); len(edges) != 6 { // with 4–5
		t.Errorf("negatives are none of %v", edges)
	}
	if known := linkSet(edgesOf(g), false); l.Val.Negatives.NumEdges() != 1 || l.Test.Negatives.NumEdges() != 1 || known[edgesOf(l.Test.Negatives)[0]] || known[edgesOf(l.Val.Negatives)[0]] {
		t.Errorf("negatives %v and %v", edgesOf(l.Val.Negatives), edgesOf(l.Test.Negatives))
	}
	if l, err = (LinkSplit{Seed: 1, Apart: 0.5}).By(g, train, val, test); err != nil || l.Train.NumEdges() != 1 || l.Graph.NumEdges() != 2 {
		t.Errorf("apart: %v and %v, error %v", l.Train, l.Graph, err)
	}
	for want, f := range map[string]func() (*Links, error){
		"no link is in the list val alone":  func() (*Links, error) { return LinkSplit{}.By(g, train, []int32{at(1, 0)}, test) },
		"no link is in the list test alone": func() (*Links, error) { return LinkSplit{}.By(g, train, val, nil) },
		"edge 10 of a list is not there":    func() (*Links, error) { return LinkSplit{}.By(g, []int32{10}, val, test) },
		"Apart 0.1 of 2 training links":     func() (*Links, error) { return LinkSplit{Apart: 0.1}.By(g, train, val, test) },
		"not each edge has a reverse": func() (*Links, error) {
			return LinkSplit{}.By(graph.Must(graph.New(2, []int32{0}, []int32{1})), nil, nil, nil)
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
