package graph_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// A mistake of the program panics with a ShapeError that names the function: a size, the length of a list, or a graph of the
// wrong sort. What stands in a list is data, and an error, which the tests of each function look at.
func TestMistakesOfPrograms(t *testing.T) {
	g, both := graph.Ring(3, 1), graph.CompleteBipartite(2, 2)
	type fails = func() error
	for _, c := range []struct {
		op string
		f  fails
	}{
		{"graph.AtDistance", func() error { _, err := graph.AtDistance(g, 0); return err }},
		{"graph.Band", func() error { graph.Band(3, -1); return nil }},
		{"graph.Batch", func() error { graph.Batch(g, nil); return nil }},
		{"graph.Block", func() error { _, err := graph.Block(both, nil); return err }},
		{"graph.BlockFrom", func() error { _, err := graph.BlockFrom(g, []int32{1}, nil, []int64{0, 0}, nil, nil); return err }},
		{"graph.BlockFrom", func() error {
			_, err := graph.BlockFrom(g, []int32{1}, []int32{1}, []int64{0, 1}, []int32{1}, nil)
			return err
		}},
		{"graph.BlockOf", func() error { _, err := graph.BlockOf(g, []int32{1}, []int64{0}, nil); return err }},
		{"graph.BlockOf", func() error { _, err := graph.BlockOf(g, nil, nil, nil); return err }},
		{"graph.Blocks", func() error { _, err := graph.Blocks(g, nil, -1); return err }},
		{"graph.Chains", func() error { graph.Chains(3, -1); return nil }},
		{"graph.Complete", func() error { graph.Complete(-1); return nil }},
		{"graph.Contract", func() error { _, _, err := graph.Contract(g, []int32{0, 1}); return err }},
		{"graph.DstOf", func() error { _, err := graph.DstOf(g, []int32{1}, []int64{0}, nil); return err }},
		{"graph.Neighbourhood", func() error { _, err := graph.Neighbourhood(g, []int32{0}, -1); return err }},
		{"graph.Permute", func() error { _, err := graph.Permute(g, []int32{0, 1}); return err }},
		{"graph.ShiftedChains", func() error { graph.ShiftedChains([]int{3}); return nil }},
		{"graph.Subgraph", func() error { _, err := graph.Subgraph(both, nil); return err }},
		{"graph.WithDstRows", func() error { _, err := graph.WithDstRows(g, []int32{0, 1, 2}); return err }},
		{"graph.WithDstRows", func() error { _, err := graph.WithDstRows(both, []int32{0}); return err }},
		{"graph.WithKinds", func() error { _, err := graph.WithKinds(g, []int32{0}); return err }},
		{"graph.WithOffsets", func() error { graph.WithOffsets(g, 1, 0); return nil }},
		{"graph.WithOrigin", func() error { graph.WithOrigin(g, graph.Origin{Edges: []int32{0}}); return nil }},
		{"graph.WithPlaces", func() error { graph.WithPlaces(g, nil, nil); return nil }},
		{"graph.InDegree", func() error { graph.Complete(2).InDegree(2); return nil }},
		{"graph.Derive", func() error { graph.Derive(g, "degrees", g.InDegrees); return nil }},
		{"graph.Derive", func() error { graph.Derive[any](g, 3, g.InDegrees); return nil }},
	} {
		graphtest.Refuses(t, c.op, func() {
			if err := c.f(); err != nil {
				t.Errorf("%s: an error, not a panic: %v", c.op, err)
			}
		})
	}
}

type firstKey struct{ of int }

type secondKey struct{ of int }

// What is derived is kept by key, by the type of the key and by the type of the value, for all graphs of the same edges.
func TestDerive(t *testing.T) {
	g := graph.Ring(5)
	built := 0
	text := func() string { built++; return "text" }
	for _, h := range []*graph.Graph{g, g, graph.WithOffsets(g, -1, 1)} {
		if got := graph.Derive(h, firstKey{1}, text); got != "text" || built != 1 {
			t.Errorf("%q, built %d times", got, built)
		}
	}
	graph.Derive(g, firstKey{2}, text)
	graph.Derive(g, secondKey{1}, text)
	if got := graph.Derive(g, firstKey{1}, func() int { return 7 }); got != 7 || built != 3 {
		t.Errorf("%d, built %d times", got, built)
	}
	if graph.Derive(graph.Reverse(g), firstKey{1}, text); built != 4 {
		t.Errorf("a graph of other edges has it from another: built %d times", built)
	}
}

// A function outside the package makes a graph of another as those of the package do.
func TestSeams(t *testing.T) {
	g := graph.Ring(3, 1)
	h := graph.WithOrigin(graph.Must(graph.New(2, []int32{0}, []int32{1})), graph.Origin{Edges: []int32{1}, Src: []int32{0, 1}, Dst: []int32{0, 1}})
	if e := h.From().Edges[0]; g.In().Cols[e] != 0 || h.From().Src[1] != 1 {
		t.Errorf("made of %+v", h.From())
	}
	b, err := graph.WithDstRows(graph.Must(graph.NewBipartite(3, 2, []int32{2}, []int32{0})), []int32{1, 0})
	if err != nil || b.DstRows()[0] != 1 {
		t.Fatalf("%v, error %v", b.DstRows(), err)
	}
	if _, err := graph.Block(b, []int32{1}); err != nil {
		t.Error(err)
	}
	if _, err := graph.WithDstRows(b, []int32{1, 3}); err == nil || err.Error() != "graph: destination 1 is source 3, not in 0..2" {
		t.Errorf("error %v", err)
	}
}
