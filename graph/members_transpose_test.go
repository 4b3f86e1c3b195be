package graph_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// A batch of members whose edges have both directions is not turned for Backward.
func TestMembersTranspose(t *testing.T) {
	g := graph.Must(graph.Must(graph.New(5, []int32{1, 2, 0, 0, 4, 3}, []int32{0, 0, 1, 2, 3, 4})).WithMembers([]int{0, 3, 5}))
	b := graph.Must(g.Members([]int32{1, 0, 1}))
	if a, _ := b.In().Transpose(); &a.Cols[0] != &b.In().Cols[0] {
		t.Error("it was turned")
	}
	one := graph.Must(graph.Must(graph.New(3, []int32{1, 2}, []int32{0, 0})).WithMembers([]int{0, 3}))
	b = graph.Must(one.Members([]int32{0, 0}))
	if a, _ := b.In().Transpose(); a.Offsets[1] != 0 || a.Cols[0] != 0 || a.Cols[2] != 3 {
		t.Errorf("the transpose has the rows %v of %v", a.Offsets, a.Cols)
	}
}
