package graph

import "testing"

// More pairs than a graph has edges are an error before any are listed.
func TestAtDistanceLimit(t *testing.T) {
	star := Star(5).Undirected() // each two of four neighbours are two edges apart
	if g, err := star.atDistance(2, 12); err != nil || g.NumEdges() != 12 {
		t.Errorf("%v, error %v", g, err)
	}
	want := "graph: AtDistance 2: there are 12 pairs of nodes, and a graph has at most 11 edges"
	if _, err := star.atDistance(2, 11); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
