package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Every edge is in the graph of its relation, and the way there and back is none.
func TestHeterogeneous(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	g := Must(Uniform(rng, 20, 80))
	kinds, of := make([]int32, 80), make([]int32, 20)
	for e := range kinds {
		kinds[e] = rng.Int32N(3)
	}
	for v := range of {
		of[v] = rng.Int32N(2) * 2 // nobody has type 1
	}
	g = Must(g.WithKinds(kinds))
	types, names := []string{"person", "editor", "book"}, []string{"likes", "knows", "cites"}
	h, nodes, err := g.Heterogeneous(types, of, names)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.Types(), []string{"book", "editor", "person"}) || h.NumNodes("editor") != 0 || len(nodes["editor"]) != 0 {
		t.Errorf("types %v, %v", h.Types(), nodes)
	}
	seen := 0
	for _, r := range h.Rels() {
		part := h.Graph(r)
		sound(t, part)
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
	one, ends := h.Homogeneous()
	types, of, names = h.Types(), nil, nil
	for i := range types {
		of = append(of, slices.Repeat([]int32{int32(i)}, ends[i+1]-ends[i])...)
	}
	for _, r := range h.Rels() {
		names = append(names, r.Name)
	}
	again, _, err := one.Heterogeneous(types, of, names)
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
	g := Must(Must(New(3, []int32{0, 1}, []int32{1, 2})).WithKinds([]int32{0, 1}))
	for want, c := range map[string]struct {
		types []string
		of    []int32
		names []string
	}{
		"2 types for 3 nodes":                        {[]string{"a"}, []int32{0, 0}, []string{"x", "y"}},
		`there are two types "a"`:                    {[]string{"a", "a"}, []int32{0, 0, 1}, []string{"x", "y"}},
		"node 1 has type 2, not in 0..1":             {[]string{"a", "b"}, []int32{0, 2, 1}, []string{"x", "y"}},
		"node 2 has type -1":                         {[]string{"a", "b"}, []int32{0, 0, -1}, []string{"x", "y"}},
		"edge 1 has kind 1, and there are names for": {[]string{"a", "b"}, []int32{0, 0, 1}, []string{"x"}},
	} {
		if _, _, err := g.Heterogeneous(c.types, c.of, c.names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
