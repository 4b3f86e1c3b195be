package draw

import (
	"math"
	"slices"
	"testing"

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
