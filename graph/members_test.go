package graph_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// three are graphs of 2, 0 and 3 nodes, as a batch.
func three(t *testing.T) *graph.Graph {
	t.Helper()
	a := graph.Must(graph.New(2, []int32{1, 0, 1}, []int32{0, 1, 0}))
	b := graph.Must(graph.New(0, nil, nil))
	c := graph.Must(graph.New(3, []int32{2, 0, 1}, []int32{0, 1, 1}))
	a = graph.Must(graph.WithKinds(a, []int32{5, 6, 7}))
	c = graph.Must(graph.WithKinds(c, []int32{0, 1, 2}))
	return graph.Batch(a, b, c)
}

// TestMembers compares with the batch of the graphs on their own.
func TestMembers(t *testing.T) {
	g := three(t)
	apart := graph.Unbatch(g)
	for _, which := range [][]int32{{2, 0}, {0, 1, 2}, {1}, {2, 2, 0}, {}} {
		var gs []*graph.Graph
		for _, m := range which {
			gs = append(gs, apart[m])
		}
		got, want := graph.Must(graph.Members(g, which)), graph.Batch(gs...)
		if !slices.Equal(got.In().Offsets, want.In().Offsets) || !slices.Equal(got.In().Cols, want.In().Cols) ||
			!slices.Equal(got.Kinds(), want.Kinds()) || !slices.Equal(got.NodeOffsets(), want.NodeOffsets()) {
			t.Errorf("%v: %v %v, want %v %v", which, got.In(), got.Kinds(), want.In(), want.Kinds())
		}
		for e, u := range got.In().Cols {
			if from := got.From(); g.In().Cols[from.Edges[e]] != from.Src[u] {
				t.Errorf("%v: edge %d is not from where From says", which, e)
			}
		}
	}
	if _, err := graph.Members(g, []int32{0, 3}); err == nil || err.Error() != "graph: entry 1 is member 3, of 3" {
		t.Errorf("error %v", err)
	}
}

func TestWithMembers(t *testing.T) {
	g := three(t)
	joined := graph.Must(graph.FromCSR(g.In()))
	h := graph.Must(graph.WithMembers(joined, []int{0, 2, 2, 5}))
	if !slices.Equal(h.NodeOffsets(), g.NodeOffsets()) || len(joined.NodeOffsets()) != 2 {
		t.Errorf("members %v, and before %v", h.NodeOffsets(), joined.NodeOffsets())
	}
	for want, offsets := range map[string][]int{
		"leads from one member to another": {0, 1, 5},
		"offset 2 of the members is 2":     {0, 3, 2, 5},
		"go from 0 to the 5 nodes":         {0, 2},
	} {
		if _, err := graph.WithMembers(joined, offsets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v", offsets, err)
		}
	}
}

// Members of a batch large enough for several threads are those of a small one.
func TestManyMembers(t *testing.T) {
	defer par.SetThreads(3)()
	g := three(t)
	var gs []*graph.Graph
	var which []int32
	for i := range 3000 {
		which = append(which, int32(i*i%3))
		gs = append(gs, graph.Unbatch(g)[which[i]])
	}
	got, want := graph.Must(graph.Members(g, which)), graph.Batch(gs...)
	if !slices.Equal(got.In().Offsets, want.In().Offsets) || !slices.Equal(got.In().Cols, want.In().Cols) || !slices.Equal(got.NodeOffsets(), want.NodeOffsets()) {
		t.Error("the batch of 3000 members is not theirs")
	}
	for v, from := range got.From().Src {
		if i := sort.SearchInts(got.NodeOffsets(), v+1) - 1; int(from) != g.NodeOffsets()[which[i]]+v-got.NodeOffsets()[i] {
			t.Fatalf("node %d is from %d", v, from)
		}
	}
}

func TestWithVirtualNodes(t *testing.T) {
	g := three(t) // of 2, 0 and 3 nodes
	h := graph.WithVirtualNodes(g)
	if !slices.Equal(h.NodeOffsets(), []int{0, 3, 4, 8}) || h.NumEdges() != g.NumEdges()+2*g.NumNodes() {
		t.Fatalf("members %v, %v", h.NodeOffsets(), h)
	}
	for v := range h.NumNodes() {
		var got []string
		for e, u := range h.Sources(v) {
			got = append(got, fmt.Sprint(u, ":", h.Kinds()[e]))
			from := h.From()
			if old := from.Edges[e]; old >= 0 && (g.In().Cols[old] != from.Src[u] || g.Destinations()[old] != from.Dst[v] || g.Kinds()[old] != h.Kinds()[e]) {
				t.Errorf("edge %d is not edge %d", e, old)
			} else if old < 0 && from.Src[u] >= 0 && from.Dst[v] >= 0 {
				t.Errorf("edge %d is new, between nodes that are not", e)
			}
		}
		if want := []string{"1:5 1:7 2:9", "0:6 2:9", "0:8 1:8", "", "6:0 7:9", "4:1 5:2 7:9", "7:9", "4:8 5:8 6:8"}[v]; strings.Join(got, " ") != want {
			t.Errorf("node %d hears %v, want %s", v, got, want)
		}
	}
	if err := tensor.Try(func() { graph.WithVirtualNodes(graph.CompleteBipartite(2, 2)) }); err == nil {
		t.Error("a bipartite graph has virtual nodes")
	}
}

// A batch of members whose edges have both directions is not turned for Backward.
func TestMembersTranspose(t *testing.T) {
	g := graph.Must(graph.WithMembers(graph.Must(graph.New(5, []int32{1, 2, 0, 0, 4, 3}, []int32{0, 0, 1, 2, 3, 4})), []int{0, 3, 5}))
	b := graph.Must(graph.Members(g, []int32{1, 0, 1}))
	if a, _ := b.In().Transpose(); &a.Cols[0] != &b.In().Cols[0] {
		t.Error("it was turned")
	}
	one := graph.Must(graph.WithMembers(graph.Must(graph.New(3, []int32{1, 2}, []int32{0, 0})), []int{0, 3}))
	b = graph.Must(graph.Members(one, []int32{0, 0}))
	if a, _ := b.In().Transpose(); a.Offsets[1] != 0 || a.Cols[0] != 0 || a.Cols[2] != 3 {
		t.Errorf("the transpose has the rows %v of %v", a.Offsets, a.Cols)
	}
}
