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

// normalised is a row without its mean, divided by its deviation and times a gain.
func normalised(x []float64, gain, bias *grad.Param, from int) []float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	out := make([]float64, len(x))
	for j, v := range x {
		out[j] = (v-mean)/math.Sqrt(square+1e-5)*at(gain, from+j) + at(bias, j)
	}
	return out
}

// columns are x·w's columns lo to hi, normalised if there is a gain.
func columns(x []float64, w, gain *grad.Param, lo, hi int) []float64 {
	out := make([]float64, hi-lo)
	for j := range out {
		out[j] = product(x, w, lo+j)
	}
	if gain != nil {
		return normalised(out, gain, nil, lo)
	}
	return out
}

func lstmOracle(l *sequence.LSTM, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	m := l.Hidden
	place := map[string]int{"i": 0, "f": 1, "g": 2, "o": 3} // of W's blocks
	peepAt := map[string]int{"i": 0, "f": 1, "o": 2}
	all := 4
	if l.Forget != sequence.OwnForget {
		place, peepAt, all = map[string]int{"i": 0, "g": 1, "o": 2}, map[string]int{"i": 0, "o": 1}, 3
	}
	h, c = make([][]float64, g.NumNodes()), make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		h0, c0 := arriving(h, from, m), arriving(c, from, m)
		peep := func(gate string, j int, cell []float64) float64 {
			switch l.Peephole {
			case sequence.DiagonalPeephole:
				return float64(l.P.Value.Row(peepAt[gate])[j]) * cell[j]
			case sequence.FullPeephole:
				return product(cell, l.P, peepAt[gate]*m+j)
			}
			return 0
		}
		ofX, ofH := columns(row(x, v), l.W, l.GainX, 0, all*m), columns(h0, l.U, l.GainH, 0, all*m)
		z := func(gate string, j int) float64 {
			at := at(l.B, place[gate]*m+j)
			return ofX[place[gate]*m+j] + ofH[place[gate]*m+j] + at
		}
		c[v], h[v] = make([]float64, m), make([]float64, m)
		for j := range m {
			i, f := sigma(z("i", j)+peep("i", j, c0)), 1.0
			switch l.Forget {
			case sequence.OwnForget:
				f = sigma(z("f", j) + peep("f", j, c0))
			case sequence.CoupledForget:
				f = 1 - i
			}
			c[v][j] = f*c0[j] + i*math.Tanh(z("g", j))
		}
		seen, out := c[v], c[v]
		if l.PeepOld {
			seen = c0
		}
		if l.LayerNorm {
			out = normalised(c[v], l.GainC, l.BiasC, 0)
		}
		for j := range m {
			h[v][j] = sigma(z("o", j)+peep("o", j, seen)) * math.Tanh(out[j])
		}
	})
	return h, c
}

// sides returns the rows of the children side by side, each in its place.
func sides(h [][]float64, g *graph.Graph, v, arity, m int) []float64 {
	out := make([]float64, arity*m)
	for e := g.In().Offsets[v]; e < g.In().Offsets[v+1]; e++ {
		k := 0
		if g.Kinds() != nil {
			k = int(g.Kinds()[e])
		}
		for j := range m {
			out[k*m+j] += h[g.In().Cols[e]][j]
		}
	}
	return out
}

func naryOracle(l *sequence.TreeLSTM, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	m := l.Hidden
	h, c = make([][]float64, g.NumNodes()), make([][]float64, g.NumNodes())
	visit(g, func(v int, _ []int32) {
		hs, cs := sides(h, g, v, l.Arity, m), sides(c, g, v, l.Arity, m)
		z := func(gate, j int) float64 {
			return product(row(x, v), l.W, gate*m+j) + product(hs, l.U, gate*m+j) + at(l.B, gate*m+j)
		}
		c[v], h[v] = make([]float64, m), make([]float64, m)
		for j := range m {
			c[v][j] = sigma(z(0, j)) * math.Tanh(z(1, j))
			for k := range l.Arity {
				f := product(row(x, v), l.WF, j) + at(l.BF, j)
				for s := range l.Arity { // what the gate of child k reads of child s
					for q := range m {
						switch {
						case !l.OwnChild:
							f += hs[s*m+q] * float64(l.UF.Value.Row(s*m + q)[k*m+j])
						case s == k:
							f += hs[s*m+q] * float64(l.UF.Value.Row(s*m + q)[j])
						}
					}
				}
				c[v][j] += sigma(f) * cs[k*m+j]
			}
			h[v][j] = sigma(z(2, j)) * math.Tanh(c[v][j])
		}
	})
	return h, c
}

func recursiveOracle(l *sequence.Recursive, g *graph.Graph, x *grad.Param) (h, c [][]float64) {
	h = make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		if l.Words && len(from) == 0 {
			h[v] = row(x, v)
			return
		}
		hs := sides(h, g, v, l.Arity, l.Hidden)
		h[v] = make([]float64, l.Hidden)
		for j := range h[v] {
			z := product(hs, l.U, j) + at(l.B, j)
			if !l.Words {
				z += product(row(x, v), l.W, j)
			}
			h[v][j] = math.Tanh(z)
		}
	})
	return h, nil
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
		z := make([]float64, l.Hidden)
		for j := range z {
			z[j] = product(row(x, v), l.W, j) + product(h0, l.U, j)
		}
		if l.LayerNorm {
			z = normalised(z, l.Gain, nil, 0)
		}
		h[v] = make([]float64, l.Hidden)
		for j := range h[v] {
			z := z[j] + at(l.B, j)
			y := math.Tanh(z)
			switch l.Activation {
			case grad.ReLU:
				y = max(z, 0)
			case grad.SiLU:
				y = z * sigma(z)
			}
			leak := l.Leak
			if l.LearnLeak {
				leak = sigma(at(l.L, j))
			}
			switch {
			case leak != 0:
				y = (1-leak)*h0[j] + leak*y
			case l.Residual:
				y += h0[j]
			}
			h[v][j] = y
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
	w := 2 * m // of the gates
	if l.Minimal {
		w = m
	}
	h = make([][]float64, g.NumNodes())
	visit(g, func(v int, from []int32) {
		h0 := arriving(h, from, m)
		gatesX, nX := columns(row(x, v), l.W, l.GainX, 0, w), columns(row(x, v), l.W, l.GainX, w, w+m)
		gatesH := columns(h0, l.U, l.GainH, 0, w)
		gate := func(j int) float64 { return sigma(gatesX[j] + gatesH[j] + at(l.B, j)) }
		reset := make([]float64, m)
		for j := range m {
			reset[j] = gate(j) * h0[j]
		}
		after, before := columns(h0, l.U, l.GainH, w, w+m), columns(reset, l.U, l.GainH, w, w+m)
		h[v] = make([]float64, m)
		for j := range m {
			n := nX[j] + at(l.B, w+j) + gate(j)*(after[j]+at(l.BN, j))
			if l.ResetBefore {
				n = nX[j] + at(l.B, w+j) + before[j]
			}
			z := gate(w - m + j)
			if l.UpdateAdmits || l.Minimal {
				z = 1 - z
			}
			h[v][j] = (1-z)*math.Tanh(n) + z*h0[j]
		}
	})
	return h, nil
}
