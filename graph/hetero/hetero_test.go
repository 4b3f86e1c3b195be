package hetero

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/graph/random"
)

func TestHetero(t *testing.T) {
	writes, cites := Rel{"author", "writes", "paper"}, Rel{"paper", "cites", "paper"}
	liked := Rel{"author", "likes", "paper"}
	nodes := map[string]int{"paper": 3, "author": 2, "venue": 1}
	h, err := New(nodes, map[Rel]*graph.Graph{
		writes: graph.Must(graph.NewBipartite(2, 3, []int32{0, 1, 1}, []int32{2, 0, 1})),
		cites:  graph.Must(graph.New(3, []int32{0, 1}, []int32{1, 2})),
		liked:  graph.Must(graph.NewBipartite(2, 3, []int32{1}, []int32{0})),
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
	g, ends := Homogeneous(h)
	graphtest.Sound(t, g)
	if !slices.Equal(ends, []int{0, 2, 5, 6}) {
		t.Error("ranges:", ends)
	}
	graphtest.Same(t, g, graph.Must(graph.WithKinds(graph.Must(graph.New(6, []int32{1, 1, 1, 0, 2, 3}, []int32{2, 2, 3, 4, 3, 4})), []int32{0, 1, 1, 1, 2, 2})))
	empty, err := New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, ends := Homogeneous(empty); g.NumNodes() != 0 || len(ends) != 1 || empty.Types() != nil {
		t.Error("nothing at all:", g, ends)
	}
}

var shape = regexp.MustCompile(` cannot take shape \[[\d -]*\]( with \[[\d -]*\])?:`)

// withoutShape returns what is said of a mistake without the shape.
func withoutShape(said string) string { return shape.ReplaceAllString(said, "") }

func TestHeteroErrors(t *testing.T) {
	nodes := map[string]int{"paper": 3, "author": 3}
	rel := Rel{"author", "writes", "paper"}
	for want, relations := range map[string]map[Rel]*graph.Graph{
		`panic: hetero.New: relation author -writes-> paper: its graph has 2 source nodes, but there are 3 of type "author"`:     {rel: graph.Must(graph.NewBipartite(2, 3, nil, nil))},
		`panic: hetero.New: relation author -writes-> paper: its graph has 4 destination nodes, but there are 3 of type "paper"`: {rel: graph.Must(graph.NewBipartite(3, 4, nil, nil))},
		`panic: hetero.New: relation author -writes-> paper: its graph is homogeneous, want one made by graph.NewBipartite`:      {rel: graph.Must(graph.New(3, nil, nil))},
		`panic: hetero.New: relation author -writes-> paper: its graph is nil`:                                                   {rel: nil},
		`error: hetero: relation editor -edits-> paper: there is no node type "editor", only ["author" "paper"]`:                 {{"editor", "edits", "paper"}: graph.Must(graph.NewBipartite(3, 3, nil, nil))},
	} {
		if said := withoutShape(graphtest.Mistake(func() error { _, err := New(nodes, relations); return err })); said != want {
			t.Errorf("%s, want %s", said, want)
		}
	}
	graphtest.Refuses(t, "hetero.New", func() { New(map[string]int{"paper": -1}, nil) })
	h, err := New(map[string]int{"a": 1 << 30, "b": 1 << 30}, nil)
	if err != nil {
		t.Fatal(err)
	}
	graphtest.Refuses(t, "hetero.Homogeneous", func() { Homogeneous(h) })
}

// Every edge is in the graph of its relation, and the way there and back is none.
func TestHeterogeneous(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	g := random.Uniform(rng, 20, 80)
	kinds, of := make([]int32, 80), make([]int32, 20)
	for e := range kinds {
		kinds[e] = rng.Int32N(3)
	}
	for v := range of {
		of[v] = rng.Int32N(2) * 2 // nobody has type 1
	}
	g = graph.Must(graph.WithKinds(g, kinds))
	types, names := []string{"person", "editor", "book"}, []string{"likes", "knows", "cites"}
	h, nodes, err := Of(g, types, of, names)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.Types(), []string{"book", "editor", "person"}) || h.NumNodes("editor") != 0 || len(nodes["editor"]) != 0 {
		t.Errorf("types %v, %v", h.Types(), nodes)
	}
	seen := 0
	for _, r := range h.Rels() {
		part := h.Graph(r)
		graphtest.Sound(t, part)
		from := part.From()
		if !slices.Equal(from.Src, nodes[r.Src]) || !slices.Equal(from.Dst, nodes[r.Dst]) || part.Bipartite() != (r.Src != r.Dst) {
			t.Errorf("%v: %v from %v", r, part, from)
		}
		for e, p := range from.Edges {
			u, v := nodes[r.Src][part.In().Cols[e]], nodes[r.Dst][part.Destinations()[e]]
			if g.In().Cols[p] != u || g.Destinations()[p] != v || types[of[u]] != r.Src || types[of[v]] != r.Dst || names[g.Kinds()[p]] != r.Name {
				t.Errorf("%v: edge %d is %d → %d, and edge %d of g", r, e, u, v, p)
			}
			seen++
		}
	}
	if seen != 80 || len(h.Rels()) != 12 {
		t.Errorf("%d edges of 80 in %d relations", seen, len(h.Rels()))
	}
	// Back, and there again: the types in alphabetical order, a name a relation.
	one, ends := Homogeneous(h)
	types, of, names = h.Types(), nil, nil
	for i := range types {
		of = append(of, slices.Repeat([]int32{int32(i)}, ends[i+1]-ends[i])...)
	}
	for _, r := range h.Rels() {
		names = append(names, r.Name)
	}
	again, _, err := Of(one, types, of, names)
	if err != nil || !slices.Equal(again.Rels(), h.Rels()) {
		t.Fatalf("%v, %v", again.Rels(), err)
	}
	for _, r := range h.Rels() {
		if a, b := again.Graph(r), h.Graph(r); !slices.Equal(a.In().Cols, b.In().Cols) || !slices.Equal(a.In().Offsets, b.In().Offsets) {
			t.Errorf("%v: other edges", r)
		}
	}
}

func TestHeterogeneousErrors(t *testing.T) {
	g := graph.Must(graph.WithKinds(graph.Must(graph.New(3, []int32{0, 1}, []int32{1, 2})), []int32{0, 1}))
	for want, c := range map[string]struct {
		types []string
		of    []int32
		names []string
	}{
		"panic: hetero.Of: 2 types for 3 nodes":                     {[]string{"a"}, []int32{0, 0}, []string{"x", "y"}},
		`error: hetero: there are two types "a"`:                    {[]string{"a", "a"}, []int32{0, 0, 1}, []string{"x", "y"}},
		"error: hetero: node 1 has type 2, not in 0..1":             {[]string{"a", "b"}, []int32{0, 2, 1}, []string{"x", "y"}},
		"error: hetero: node 2 has type -1":                         {[]string{"a", "b"}, []int32{0, 0, -1}, []string{"x", "y"}},
		"error: hetero: edge 1 has kind 1, and there are names for": {[]string{"a", "b"}, []int32{0, 0, 1}, []string{"x"}},
	} {
		if said := withoutShape(graphtest.Mistake(func() error { _, _, err := Of(g, c.types, c.of, c.names); return err })); !strings.HasPrefix(said, want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
}
