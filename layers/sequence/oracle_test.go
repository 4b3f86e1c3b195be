package sequence_test

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// The oracles are the formulas in loops, a node at a time in the order of the
// levels.

func sigma(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// product adds x·w's column j, with w's rows as long as cols.
func product(x []float64, w *grad.Param, j int) float64 {
	s := 0.0
	for k, v := range x {
		s += v * float64(w.Value.Row(k)[j])
	}
	return s
}

func at(p *grad.Param, j int) float64 {
	if p == nil {
		return 0
	}
	return float64(p.Value.Data[j])
}

func row(p *grad.Param, i int) []float64 {
	var out []float64
	for _, v := range p.Value.Row(i) {
		out = append(out, float64(v))
	}
	return out
}

// visit calls f with every node after its predecessors.
func visit(g *graph.Graph, f func(v int, from []int32)) {
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	for _, v := range levels.Order {
		f(int(v), g.In().Cols[g.In().Offsets[v]:g.In().Offsets[v+1]])
	}
}

func lstmOracle(l *sequence.LSTM, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	m := l.Hidden
	h, c = make([][]float64, g.NumNodes()), make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		h0, c0 := make([]float64, m), make([]float64, m)
		for _, u := range from {
			for j := range m {
				h0[j] += h[u][j]
				c0[j] += c[u][j]
			}
		}
		peep := func(gate, j int, cell []float64) float64 {
			switch l.Peephole {
			case sequence.DiagonalPeephole:
				return float64(l.P.Value.Row(gate)[j]) * cell[j]
			case sequence.FullPeephole:
				return product(cell, l.P, gate*m+j)
			}
			return 0
		}
		z := func(gate, j int) float64 {
			return product(row(x, v), l.W, gate*m+j) + product(h0, l.U, gate*m+j) + at(l.B, gate*m+j)
		}
		c[v], h[v] = make([]float64, m), make([]float64, m)
		for j := range m {
			c[v][j] = sigma(z(1, j)+peep(1, j, c0))*c0[j] + sigma(z(0, j)+peep(0, j, c0))*math.Tanh(z(2, j))
		}
		seen := c[v]
		if l.PeepOld {
			seen = c0
		}
		for j := range m {
			h[v][j] = sigma(z(3, j)+peep(2, j, seen)) * math.Tanh(c[v][j])
		}
	})
	return h, c
}

func treeOracle(l *sequence.TreeLSTM, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	m := l.Hidden
	h, c = make([][]float64, g.NumNodes()), make([][]float64, g.NumNodes())
	visit(g, func(v int, children []int32) {
		sum := make([]float64, m)
		for _, k := range children {
			for j := range m {
				sum[j] += h[k][j]
			}
		}
		z := func(gate, j int) float64 {
			return product(row(x, v), l.W, gate*m+j) + product(sum, l.U, gate*m+j) + at(l.B, gate*m+j)
		}
		c[v], h[v] = make([]float64, m), make([]float64, m)
		for j := range m {
			c[v][j] = sigma(z(0, j)) * math.Tanh(z(1, j))
			for _, k := range children {
				c[v][j] += sigma(product(row(x, v), l.WF, j)+product(h[k], l.UF, j)+at(l.BF, j)) * c[k][j]
			}
			h[v][j] = sigma(z(2, j)) * math.Tanh(c[v][j])
		}
	})
	return h, c
}

func rnnOracle(l *sequence.RNN, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	h = make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		h0 := arriving(h, from, l.Hidden)
		h[v] = make([]float64, l.Hidden)
		for j := range h[v] {
			z := product(row(x, v), l.W, j) + product(h0, l.U, j) + at(l.B, j)
			if h[v][j] = math.Tanh(z); l.Activation == grad.ReLU {
				h[v][j] = max(z, 0)
			}
		}
	})
	return h, nil
}

// arriving is the sum of the states of the nodes in from.
func arriving(h [][]float64, from []int32, m int) []float64 {
	sum := make([]float64, m)
	for _, u := range from {
		for j := range sum {
			sum[j] += h[u][j]
		}
	}
	return sum
}

func gruOracle(l *sequence.GRU, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	m := l.Hidden
	h = make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		h0 := arriving(h, from, m)
		in := func(gate, j int) float64 { return product(row(x, v), l.W, gate*m+j) + at(l.B, gate*m+j) }
		r, reset := make([]float64, m), make([]float64, m)
		for j := range r {
			r[j] = sigma(in(0, j) + product(h0, l.U, j))
			reset[j] = r[j] * h0[j]
		}
		h[v] = make([]float64, m)
		for j := range m {
			z := sigma(in(1, j) + product(h0, l.U, m+j))
			n := in(2, j) + r[j]*(product(h0, l.U, 2*m+j)+at(l.BN, j))
			if l.ResetBefore {
				n = in(2, j) + product(reset, l.U, 2*m+j)
			}
			h[v][j] = (1-z)*math.Tanh(n) + z*h0[j]
		}
	})
	return h, nil
}
