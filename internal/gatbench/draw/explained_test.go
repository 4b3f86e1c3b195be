package draw

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// Nodes lie on rings by their distance, apart from each other, those behind a node in
// its sector.
func TestExplainedPlaces(t *testing.T) {
	// 1, 2 and 3 are next to 0; 4 to 13 behind 1; 14 behind 2; nothing behind 3.
	src, dst := []int32{1, 2, 3, 14}, []int32{0, 0, 0, 2}
	for u := int32(4); u < 14; u++ {
		src, dst = append(src, u), append(dst, 1)
	}
	x := &Explained{Graph: graph.Must(graph.New(15, src, dst)), Edges: []int32{0, 1, 2}, Scores: []float64{4, -1, 2, 9, 0}}
	tree := x.tree()
	at, size := tree.places(picture.Point{X: 100, Y: 100}, 90)
	for v, p := range at {
		want := []float64{0, 45, 90}[tree.far[v]]
		if d := math.Hypot(p.X-100, p.Y-100); math.Abs(d-want) > 1e-9 {
			t.Errorf("node %d is %v away, want %v", v, d, want)
		}
		for u := range v {
			if d := math.Hypot(p.X-at[u].X, p.Y-at[u].Y); d < size[u]+size[v] {
				t.Errorf("nodes %d and %d overlap: %v apart", u, v, d)
			}
		}
		if size[v] < 1 || size[v] > 4.5 {
			t.Errorf("node %d has the size %v", v, size[v])
		}
	}
	angle := func(v int) float64 { return math.Atan2(at[v].X-100, 100-at[v].Y) }
	if math.Abs(angle(14)-angle(2)) > 1e-9 {
		t.Errorf("node 14 is at the angle %v, and node 2, which it is behind, at %v", angle(14), angle(2))
	}
	if got := x.shares(); !slices.Equal(got, []float64{1, 0, 0.5, 0, 0}) {
		t.Errorf("the shares are %v", got)
	}
}

// The text has the edges that are the explanation below the nodes that hear of them, each once, and cycles end.
func TestExplainedText(t *testing.T) {
	// 1 and 2 are next to 0; 3 is behind 1, which hears of itself through 3; 4 is heard by 2, whose edge to 0 is not among the best.
	g := graph.Must(graph.New(5, []int32{1, 2, 3, 1, 4}, []int32{0, 0, 1, 3, 2}))
	d := &datasets.Dataset{Classes: 2, ClassNames: []string{"one", "a_class"}, Labels: []int32{0, 1, 1, 0, -1}}
	block, err := graph.Neighbourhood(g, []int32{0}, 3)
	if err != nil {
		t.Fatal(err)
	}
	x := &Explained{Dataset: d, Method: "hand", Graph: block, Edges: []int32{0, 1, 2, 3, 4}, Scores: make([]float64, 5)}
	nodes, to := block.From().Src, block.Destinations()
	for e, u := range block.In().Cols {
		x.Scores[e] = []float64{0, 1, 0, 2, 0.5}[nodes[u]]
		if nodes[u] != 2 {
			x.Best = append(x.Best, int32(e))
		}
		if nodes[u] == 1 && nodes[to[e]] == 3 {
			x.Scores[e] = -1
		}
	}
	want := "node 0: why one, by hand\n" +
		"the best 4 of 5 edges\n" +
		"0 one\n" +
		"└ 1 a class     " + strings.Repeat("█", 10) + strings.Repeat(" ", 13) + "1\n" +
		"  └ 3 one       " + strings.Repeat("█", 20) + "   2\n" +
		"    └ 1 a class" + strings.Repeat(" ", 23) + "-1\n" +
		"2 a class\n" +
		"└ 4             █████                0.5\n"
	if got := x.Text(40, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
