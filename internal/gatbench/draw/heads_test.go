package draw

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// A table has a row for each head and a column for each in-neighbour, in a picture and as text.
func TestTables(t *testing.T) {
	n := &Neighbourhoods{Heads: []int{2, 1}, Nodes: []Attended{
		{Node: 7, Edges: []AttendedEdge{
			{Source: 3, Heads: [][]tensor.Float{{0.25, 1}, {0.5}}}, {Source: 7, Heads: [][]tensor.Float{{0.75, 0}, {0.5}}},
		}},
		{Node: 8}, // hears nobody
		{Node: 9, Edges: make([]AttendedEdge, tableMost+1)},
	}}
	all := n.Tables()
	if len(all) != 2 {
		t.Fatalf("%d tables, want one a layer of node 7 alone", len(all))
	}
	first := all[0]
	if first.Title != "node 7, layer 1" || strings.Join(first.Columns, " ") != "3 7" || first.Values[0][1] != 0.75 || first.Values[1][0] != 1 {
		t.Errorf("got %+v", first)
	}
	if text := first.Text(0, false); !strings.Contains(text, "node 7, layer 1\n") || strings.Contains(text, "\x1b") || !strings.Contains(text, "█") {
		t.Errorf("as text:\n%s", text)
	}
	if len(all[1].Values) != 1 {
		t.Errorf("layer 2 has %d rows, want its one head", len(all[1].Values))
	}
}
