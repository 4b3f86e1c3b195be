package graph_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// A list whose destinations ascend makes the graph that another order of it makes, and stands
// for itself: it is copied, and edge e is number e of it.
func TestListInOrder(t *testing.T) {
	src, dst := []int32{2, 0, 2, 1, 0}, []int32{0, 0, 2, 2, 4}
	g := graph.Must(graph.NewBipartite(3, 6, src, dst))
	turned := graph.Must(graph.NewBipartite(3, 6, []int32{0, 2, 1, 2, 0}, []int32{4, 2, 2, 0, 0}))
	if !slices.Equal(g.EdgeOrder(), []int32{0, 1, 2, 3, 4}) || !slices.Equal(turned.EdgeOrder(), []int32{3, 4, 1, 2, 0}) {
		t.Errorf("the edges stand at %v and %v of the lists", g.EdgeOrder(), turned.EdgeOrder())
	}
	src[0], dst[0] = 1, 5
	for _, h := range []*graph.Graph{g, turned} {
		if !slices.Equal(h.In().Cols, []int32{2, 0, 2, 1, 0}) || !slices.Equal(h.In().Offsets, []int64{0, 2, 2, 4, 4, 5, 5}) || !h.Bipartite() {
			t.Errorf("the sources are %v, from %v on", h.In().Cols, h.In().Offsets)
		}
	}
	none := graph.Must(graph.New(2, nil, nil))
	if none.NumEdges() != 0 || len(none.In().Offsets) != 3 || none.EdgeOrder() == nil {
		t.Errorf("without edges the offsets are %v and the order %v", none.In().Offsets, none.EdgeOrder())
	}
}
