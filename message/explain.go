package message

import "github.com/edgewise-ml/edgewise/graph"

// Explain says in words how UpdateAll(g, m, rs...) will run, or without
// reducers ApplyEdges(g, m). What did run is among [grad.Tape.Operations].
func Explain(g *graph.Graph, m Msg, rs ...Reducer) string {
	p := planned("message.Explain", g, &m, rs)
	room := newCall(g, &m, p.Plan)
	defer room.release()
	return p.Explain(&room.call)
}
