package message

import "github.com/edgewise-ml/edgewise/graph"

// Explain says in words how UpdateAll(g, m, rs...) will run, or without
// reducers ApplyEdges(g, m). What did run is among [grad.Tape.Operations].
func Explain(g *graph.Graph, m Msg, rs ...Reducer) string {
	const op = "message.Explain"
	on := m.onDst(op, g)
	p := planned(op, g, on, rs)
	room := newCall(g, on, p.Plan)
	defer room.release()
	return p.Explain(&room.call)
}
