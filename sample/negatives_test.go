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
