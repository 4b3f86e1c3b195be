package plan

import "github.com/edgewise-ml/edgewise/message/internal/ir"

// Keeps returns how many numbers, and how many edges, a reducer keeps beside an
// element of the result. Std keeps the mean, in two parts; LogSumExp the sum of
// exp(m − top), and top; Max and Min the edge that won.
func Keeps(r ir.Reducer) (floats, edges int) {
	switch r {
	case ir.Max, ir.Min:
		return 0, 1
	case ir.Std, ir.LogSumExp:
		return 2, 0
	}
	return 0, 0
}

// countKept counts what the reducers keep.
func (p *Plan) countKept() {
	for _, r := range p.Reducers() {
		floats, edges := Keeps(r)
		p.KeptFloats, p.KeptEdges = p.KeptFloats+floats, p.KeptEdges+edges
	}
}
