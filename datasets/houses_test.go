package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The numbers of nodes, edges, roles and planted edges are exact.
func TestHouses(t *testing.T) {
	for _, h := range []Houses{{}, {Base: 20, Degree: 2, Houses: 7, Extra: -1, Degrees: true, Seed: 3}, {Base: 6, Degree: 1, Houses: 1, Extra: 2}} {
		d, err := h.Dataset()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		f := h.filled()
		n, edges := f.Base+5*f.Houses, 2*(f.Degree*(f.Base-f.Degree)+7*f.Houses+f.Extra)
		if d.Graph.NumNodes() != n || d.Graph.NumEdges() != edges {
			t.Errorf("%+v: %d nodes and %d edges, want %d and %d", h, d.Graph.NumNodes(), d.Graph.NumEdges(), n, edges)
		}
		if want := []int{f.Base, 2 * f.Houses, 2 * f.Houses, f.Houses}; !slices.Equal(d.classSizes(), want) {
			t.Errorf("%+v: roles %v, want %v", h, d.classSizes(), want)
		}
		planted, seen := 0, map[[2]int32]bool{}
		to := d.Graph.Destinations()
		for e, u := range d.Graph.In().Cols {
			v := to[e]
			if u == v || seen[[2]int32{u, v}] {
				t.Fatalf("%+v: the edge %d → %d is a loop or there twice", h, u, v)
			}
			seen[[2]int32{u, v}] = true
			if h.Planted(u, v) {
				planted++
			}
		}
		for pair := range seen {
			if !seen[[2]int32{pair[1], pair[0]}] {
				t.Fatalf("%+v: the edge %v has no way back", h, pair)
			}
		}
		if planted != 12*f.Houses {
			t.Errorf("%+v: %d planted edges, want %d", h, planted, 12*f.Houses)
		}
		if got := len(d.Split.Train) + len(d.Split.Val) + len(d.Split.Test); got != n {
			t.Errorf("%+v: %d nodes in the split", h, got)
		}
	}
}

// Without extra edges a house hangs by one edge, the degrees are a house's, and the
// seed fixes all.
func TestHousesRoles(t *testing.T) {
	h := Houses{Base: 9, Degree: 2, Houses: 3, Extra: -1, Degrees: true}
	d, err := h.Dataset()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		first := 9 + 5*i
		if got := d.Graph.InDegrees()[first : first+5]; !slices.Equal(got, []int32{4, 3, 2, 2, 2}) {
			t.Errorf("house %d has the degrees %v", i, got)
		}
		if h.House(int32(first)) != i || h.House(int32(first+4)) != i {
			t.Errorf("house %d is not its own", i)
		}
	}
	again, _ := h.Dataset()
	h.Seed = 1
	other, _ := h.Dataset()
	if !slices.Equal(d.Graph.In().Cols, again.Graph.In().Cols) || slices.Equal(d.Graph.In().Cols, other.Graph.In().Cols) {
		t.Error("the seed does not fix the graph")
	}
}

func TestHousesErrors(t *testing.T) {
	tests := []struct {
		h    Houses
		want string
	}{
		{Houses{Houses: -1}, "at least one house"},
		{Houses{Extra: -2}, "no negative number"},
		{Houses{Base: 4, Degree: 4}, "nodes that join 4 others"},
		{Houses{Base: -3}, "number"},
		{Houses{Base: 3, Degree: 1, Houses: 1, Extra: 1000}, "1000 extra edges"},
		{Houses{Base: math.MaxInt}, "at most"},
	}
	for _, tt := range tests {
		if _, err := tt.h.Dataset(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want an error with %q", tt.h, err, tt.want)
		}
	}
}
