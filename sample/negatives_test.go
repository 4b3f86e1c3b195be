package sample

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// TestNegativesInParts draws as many pairs as one thread does at a time, and more, and
// compares them with those drawn one after another.
func TestNegativesInParts(t *testing.T) {
	g := web(t, true)
	for _, directed := range []bool{false, true} {
		for _, count := range []int{0, 1, candidateGrain - 1, candidateGrain, candidateGrain + 1, 3 * candidateGrain} {
			n := Negatives{Graph: g, Directed: directed, Seed: 4}
			d, err := n.begin(7)
			if err != nil {
				t.Fatal(err)
			}
			if count > d.left()/2 {
				t.Fatalf("the graph has %d pairs to draw from: %d are too many to be drawn at random", d.left(), count)
			}
			var src, dst []int32
			for len(src) < count {
				u, v := int32(d.below(d.nodes)), int32(d.below(d.nodes))
				if pair := pairOf(u, v, directed); u != v && !d.edges.has(pair) && d.chosen.add(pair) {
					if !directed && u > v {
						u, v = v, u
					}
					src, dst = append(src, u), append(dst, v)
				}
			}
			want := graph.Must(graph.New(g.NumNodes(), src, dst))
			for _, threads := range []int{1, 3} {
				undo := par.SetThreads(threads)
				got, err := n.Draw(count, 7)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(edgesOf(got), edgesOf(want)) {
					t.Errorf("directed %v, %d pairs, %d threads: other pairs", directed, count, threads)
				}
				undo()
			}
		}
	}
}

// TestNegativesGoOn: what a drawing draws in turns are the pairs that one after another gives,
// also of a graph that has most pairs as edges, where the first candidates do not suffice.
func TestNegativesGoOn(t *testing.T) {
	var src, dst []int32
	for u := range int32(60) {
		for v := range u {
			if (u*v+u)%5 > 0 {
				src, dst = append(src, v), append(dst, u)
			}
		}
	}
	for name, g := range map[string]*graph.Graph{"sparse": web(t, true), "dense": graph.Must(graph.New(60, src, dst))} {
		n := Negatives{Graph: g, Seed: 5}
		one, err := n.begin(3)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := n.begin(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{70, 0, 1, 90, one.left() - 162, 1} { // the fifth goes through all
			all, left := one.left(), one.left()-count
			var src, dst []int32
			if count > all/2 {
				for _, pair := range one.among(count, all) {
					src, dst = append(src, int32(pair>>32)), append(dst, int32(uint32(pair)))
				}
			}
			for len(src) < count {
				u, v := int32(one.below(one.nodes)), int32(one.below(one.nodes))
				if pair := pairOf(u, v, false); u != v && !one.edges.has(pair) && one.chosen.add(pair) {
					src, dst = append(src, min(u, v)), append(dst, max(u, v))
				}
			}
			one.taken += count
			got, err := turns.draw(count)
			if err != nil {
				t.Fatal(err)
			}
			if want := graph.Must(graph.New(g.NumNodes(), src, dst)); !slices.Equal(edgesOf(got), edgesOf(want)) {
				t.Errorf("%s: other pairs in the turn of %d", name, count)
			}
			if turns.left() != left {
				t.Errorf("%s: %d pairs are left after the turn of %d, want %d", name, turns.left(), count, left)
			}
		}
	}
}
