package main

import "slices"

// edgesAnswered makes answers those of edges: of all, or of those that have one of the nodes as an end.
// Each edge of the data has a line, so that an edge without direction has one each way, which say
// the same.
func (k *task) edgesAnswered(a *answers, nodes []int32) {
	from, to := k.Graph.In().Cols, k.Graph.Destinations()
	a.ids, a.first = nil, "source,target"
	for e, u := range from {
		if len(nodes) == 0 || slices.Contains(nodes, u) || slices.Contains(nodes, to[e]) {
			a.ids = append(a.ids, int32(e))
		}
	}
	named := len(k.NodeNames) > 0
	if named {
		a.last = ",source_name,target_name"
	}
	a.of = func(e int32) example {
		x := example{Source: &from[e], Target: &to[e]}
		if named {
			x.SourceName, x.TargetName = &k.NodeNames[from[e]], &k.NodeNames[to[e]]
		}
		return x
	}
}
