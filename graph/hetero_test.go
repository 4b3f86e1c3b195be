package graph

import (
	"slices"
	"testing"
)

func TestHetero(t *testing.T) {
	writes, cites := Rel{"author", "writes", "paper"}, Rel{"paper", "cites", "paper"}
	liked := Rel{"author", "likes", "paper"}
	nodes := map[string]int{"paper": 3, "author": 2, "venue": 1}
	h, err := NewHetero(nodes, map[Rel]*Graph{
		writes: Must(NewBipartite(2, 3, []int32{0, 1, 1}, []int32{2, 0, 1})),
		cites:  Must(New(3, []int32{0, 1}, []int32{1, 2})),
		liked:  Must(NewBipartite(2, 3, []int32{1}, []int32{0})),
	})
	if err != nil {
		t.Fatal(err)
	}
	nodes["paper"] = 99 // the caller's map is not ours
	if !slices.Equal(h.Types(), []string{"author", "paper", "venue"}) || h.NumNodes("paper") != 3 || h.NumNodes("editor") != 0 {
		t.Error("types:", h.Types(), h.NumNodes("paper"))
	}
	if !slices.Equal(h.Rels(), []Rel{liked, writes, cites}) || !slices.Equal(h.Into("paper"), h.Rels()) || h.Into("venue") != nil {
		t.Error("relations:", h.Rels(), h.Into("paper"))
	}
	if h.Graph(writes).NumEdges() != 3 || h.Graph(Rel{"a", "b", "c"}) != nil {
		t.Error("graph of a relation:", h.Graph(writes))
	}
	g, ends := h.Homogeneous()
	sound(t, g)
	if !slices.Equal(ends, []int{0, 2, 5, 6}) {
		t.Error("ranges:", ends)
	}
	same(t, g, Must(Must(New(6, []int32{1, 1, 1, 0, 2, 3}, []int32{2, 2, 3, 4, 3, 4})).WithKinds([]int32{0, 1, 1, 1, 2, 2})))
	empty, err := NewHetero(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, ends := empty.Homogeneous(); g.NumNodes() != 0 || len(ends) != 1 || empty.Types() != nil {
		t.Error("nothing at all:", g, ends)
	}
}

func TestHeteroErrors(t *testing.T) {
	nodes := map[string]int{"paper": 3, "author": 3}
	rel := Rel{"author", "writes", "paper"}
	for want, relations := range map[string]map[Rel]*Graph{
		`relation author -writes-> paper: its graph has 2 source nodes, but there are 3 of type "author"`:     {rel: Must(NewBipartite(2, 3, nil, nil))},
		`relation author -writes-> paper: its graph has 4 destination nodes, but there are 3 of type "paper"`: {rel: Must(NewBipartite(3, 4, nil, nil))},
		`relation author -writes-> paper: its graph is homogeneous, want one made by NewBipartite`:            {rel: Must(New(3, nil, nil))},
		`relation author -writes-> paper: its graph is nil`:                                                   {rel: nil},
		`relation editor -edits-> paper: there is no node type "editor", only ["author" "paper"]`:             {{"editor", "edits", "paper"}: Must(NewBipartite(3, 3, nil, nil))},
	} {
		if h, err := NewHetero(nodes, relations); h != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if h, err := NewHetero(map[string]int{"paper": -1}, nil); h != nil || err == nil || err.Error() != `graph: node type "paper": graph: the number of source nodes is negative: -1` {
		t.Error("a negative number of nodes:", err)
	}
	h, err := NewHetero(map[string]int{"a": 1 << 30, "b": 1 << 30}, nil)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, "graph.Homogeneous", func() { h.Homogeneous() })
}
