package draw

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// tableMost is how many in-neighbours a table of heads has at most: as many as a line of a
// terminal has room for.
const tableMost = 16

// Tables shows what each head attends to: for each node of few enough in-neighbours, and each
// layer, a table with a row for each head and a column for each in-neighbour.
func (n *Neighbourhoods) Tables() (out []*picture.Heat) {
	for _, a := range n.Nodes {
		out = append(out, n.tables(a)...)
	}
	return out
}

// tables are those of one node.
func (n *Neighbourhoods) tables(a Attended) (out []*picture.Heat) {
	if len(a.Edges) == 0 || len(a.Edges) > tableMost {
		return nil
	}
	for layer, heads := range n.Heads {
		h := &picture.Heat{Title: fmt.Sprintf("node %d, layer %d", a.Node, layer+1), Down: "head", Across: "in-neighbour"}
		for head := range heads {
			h.Rows = append(h.Rows, fmt.Sprint(head+1))
			row := make([]float64, len(a.Edges))
			for i, e := range a.Edges {
				row[i] = float64(e.Heads[layer][head])
			}
			h.Values = append(h.Values, row)
		}
		for _, e := range a.Edges {
			h.Columns = append(h.Columns, fmt.Sprint(e.Source))
		}
		out = append(out, h)
	}
	return out
}
