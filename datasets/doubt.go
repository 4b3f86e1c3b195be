package datasets

import "fmt"

// Doubt returns what is legal in the raw data and yet often a mistake, and what to do about it; "" if
// nothing is. [Dataset.Describe] says it too.
func (d *Dataset) Doubt() string {
	// With as many edges as nodes all may be self-loops.
	if d.doubt == "" && d.Graph.NumEdges() <= d.Graph.NumNodes() && d.selfLoops() == d.Graph.NumEdges() {
		why := "there are no edges"
		if d.loops > 0 {
			why = fmt.Sprintf("its %d edges lead from nodes to themselves, and such are left out", d.loops)
		}
		return why + ": nothing is passed from node to node, so that a network sees each by itself"
	}
	return d.doubt
}

// Doubt returns what is legal in the raw data and yet often a mistake, and what to do about it; "" if
// nothing is. [Graphs.Describe] says it too.
func (d *Graphs) Doubt() string { return d.doubt }

// beginAtOne is the doubt of edges of which nothing says between how many nodes they lead, and none
// has an end 0.
func beginAtOne(where, say string) string {
	return fmt.Sprintf("%s no edge has an end 0, and nothing says how many nodes there are: node 0 has no edges. If the numbers begin at 1, subtract 1 from all; if they do not, %s", where, say)
}

// leastNumbers counts the graphs of a file whose edges alone say how many nodes there are, and those
// of them whose least end is 1 or more.
type leastNumbers struct{ graphs, fromOne int }

// see takes the edges of a graph.
func (l *leastNumbers) see(edges [][2]int) {
	if len(edges) == 0 {
		return
	}
	l.graphs++
	for _, e := range edges {
		if min(e[0], e[1]) < 1 {
			return
		}
	}
	l.fromOne++
}

// doubt is what they say: a single graph among others may have a node 0 without edges.
func (l *leastNumbers) doubt() string {
	if l.graphs == 0 || l.fromOne < l.graphs {
		return ""
	}
	return beginAtOne("in every graph", `give each its "num_nodes"`)
}
