package graph_test

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// three are graphs of 2, 0 and 3 nodes, as a batch.
func three(t *testing.T) *graph.Graph {
	t.Helper()
	a := graph.Must(graph.New(2, []int32{1, 0, 1}, []int32{0, 1, 0}))
	b := graph.Must(graph.New(0, nil, nil))
	c := graph.Must(graph.New(3, []int32{2, 0, 1}, []int32{0, 1, 1}))
	a = graph.Must(a.WithKinds([]int32{5, 6, 7}))
	c = graph.Must(c.WithKinds([]int32{0, 1, 2}))
	return graph.Batch(a, b, c)
}

// TestMembers compares with the batch of the graphs on their own.
func TestMembers(t *testing.T) {
	g := three(t)
	apart := g.Unbatch()
	for _, which := range [][]int32{{2, 0}, {0, 1, 2}, {1}, {2, 2, 0}, {}} {
		var gs []*graph.Graph
		for _, m := range which {
			gs = append(gs, apart[m])
		}
		got, want := graph.Must(g.Members(which)), graph.Batch(gs...)
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
	if _, err := g.Members([]int32{0, 3}); err == nil || err.Error() != "graph: entry 1 is member 3, of 3" {
		t.Errorf("error %v", err)
	}
}

func TestWithMembers(t *testing.T) {
	g := three(t)
	joined := graph.Must(graph.FromCSR(g.In()))
	h := graph.Must(joined.WithMembers([]int{0, 2, 2, 5}))
	if !slices.Equal(h.NodeOffsets(), g.NodeOffsets()) || len(joined.NodeOffsets()) != 2 {
		t.Errorf("members %v, and before %v", h.NodeOffsets(), joined.NodeOffsets())
	}
	for want, offsets := range map[string][]int{
		"leads from one member to another": {0, 1, 5},
		"offset 2 of the members is 2":     {0, 3, 2, 5},
		"go from 0 to the 5 nodes":         {0, 2},
	} {
		if _, err := joined.WithMembers(offsets); err == nil || !strings.Contains(err.Error(), want) {
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
		gs = append(gs, g.Unbatch()[which[i]])
	}
	got, want := graph.Must(g.Members(which)), graph.Batch(gs...)
	if !slices.Equal(got.In().Offsets, want.In().Offsets) || !slices.Equal(got.In().Cols, want.In().Cols) || !slices.Equal(got.NodeOffsets(), want.NodeOffsets()) {
		t.Error("the batch of 3000 members is not theirs")
	}
	for v, from := range got.From().Src {
		if i := sort.SearchInts(got.NodeOffsets(), v+1) - 1; int(from) != g.NodeOffsets()[which[i]]+v-got.NodeOffsets()[i] {
			t.Fatalf("node %d is from %d", v, from)
		}
	}
}
