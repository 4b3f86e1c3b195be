package message_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// location is attention that sees where it was. Of step i, with the weights α of the
// step before and their sum so far, c, over the inputs j of its sequence:
//
//	f_j = Σ_k α_(j+k)·F[k], k = −1, 0, 1        e_j = w·tanh(h·Q + m_j + f_j·U + c_j·C)
//	α = softmax(e), c = c + α                    h = tanh(h·W + Σ α_j·m_j + x_i)
type location struct{ F, U, C, Q, W, Score, X, Mem, H0, A0 *grad.Param }

// newLocation has some inputs and steps for each sequence.
func newLocation(inputs, steps []int) *location {
	m, n, roots, first := 0, 0, 0, 0
	for i := range inputs {
		if m, n = m+inputs[i], n+steps[i]; steps[i] > 0 {
			roots, first = roots+1, first+inputs[i]
		}
	}
	return &location{F: param(1, 1, 3*2), U: param(2, 2, cellWidth), C: param(3, 1, cellWidth), Q: param(4, cellWidth, cellWidth), W: param(5, cellWidth, cellWidth),
		Score: param(6, cellWidth, 1), X: param(7, n, cellWidth), Mem: param(8, m, cellWidth), H0: param(9, 1, cellWidth), A0: param(10, first, 1)}
}

type neighboursKey struct{}

// run returns h, α and c; the last two have a row for each edge of att.
func (p *location) run(t *grad.Tape, g, att *graph.Graph) message.State {
	f, u, c, q, w, score := t.Use(p.F), t.Use(p.U), t.Use(p.C), t.Use(p.Q), t.Use(p.W), t.Use(p.Score)
	x, mem := t.Use(p.X), t.Use(p.Mem)
	init := message.State{t.Use(p.H0), t.Use(p.A0), grad.Const(tensor.New(1, 1))}
	on := []*graph.Graph{nil, att, att}
	return message.SweepOn(g, on, init, func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
		look := l.Of(att)
		beside := graph.Derive(look, neighboursKey{}, func() *graph.Graph { // the edges of each step are a chain
			lengths := make([]int, look.NumDst())
			for v := range lengths {
				lengths[v] = look.InDegree(v)
			}
			return graph.ShiftedChains(lengths, 1, 0, -1)
		})
		taps := prev[1].MatMul(f).Reshape(-1, 3, 2)
		loc := message.UpdateAll(beside, message.U(taps).Pick(beside.Kinds()), message.Sum).MatMul(u).Add(prev[2].MatMul(c))
		e := message.UAddV(mem, h.MatMul(q)).Add(message.E(loc)).Tanh().MatMul(score)
		alpha := message.ApplyEdges(look, e.Softmax())
		read := message.UpdateAll(look, message.UMulE(mem, alpha), message.Sum)
		return message.State{h.MatMul(w).Add(read).Add(l.Rows(x)).Tanh(), alpha, prev[2].Add(alpha)}
	})
}

// naive computes the same in loops, sequence after sequence.
func (p *location) naive(inputs, steps []int) (h [][]float64, alpha []float64) {
	at, step, first := 0, 0, 0
	for i, n := range inputs {
		mem, a, cover := make([][]float64, n), make([]float64, n), make([]float64, n)
		for j := range mem {
			mem[j] = wide(p.Mem.Value.Row(at + j))
			if steps[i] > 0 {
				a[j] = float64(p.A0.Value.Data[first+j])
			}
		}
		state := wide(p.H0.Value.Row(0))
		for range steps[i] {
			state, a, cover = p.step(mem, state, a, cover, wide(p.X.Value.Row(step)))
			h = append(h, state)
			alpha = append(alpha, a...)
			step++
		}
		if at += n; steps[i] > 0 {
			first += n
		}
	}
	return h, alpha
}

func (p *location) step(mem [][]float64, h, a, cover, x []float64) (next, weights, sum []float64) {
	w := func(q *grad.Param, i, j int) float64 { return float64(q.Value.Row(i)[j]) }
	logit := make([]float64, len(mem))
	for j := range mem {
		var f [2]float64
		for k := -1; k <= 1; k++ {
			if j+k >= 0 && j+k < len(mem) {
				for c := range f {
					f[c] += a[j+k] * w(p.F, 0, (k+1)*2+c)
				}
			}
		}
		for d := range cellWidth {
			z := mem[j][d] + f[0]*w(p.U, 0, d) + f[1]*w(p.U, 1, d) + cover[j]*w(p.C, 0, d)
			for i, v := range h {
				z += v * w(p.Q, i, d)
			}
			logit[j] += math.Tanh(z) * w(p.Score, d, 0)
		}
	}
	weights, sum, next = softmax(logit), slices.Clone(cover), make([]float64, cellWidth)
	for d := range next {
		z := x[d]
		for i, v := range h {
			z += v * w(p.W, i, d)
		}
		for j, v := range weights {
			z += v * mem[j][d]
		}
		next[d] = math.Tanh(z)
	}
	for j, v := range weights {
		sum[j] += v
	}
	return next, weights, sum
}

// reading lets every step of a chain hear all inputs of its sequence.
func reading(inputs, steps []int) (g, att *graph.Graph) {
	var gs []*graph.Graph
	for i, n := range inputs {
		gs = append(gs, graph.CompleteBipartite(n, steps[i]))
	}
	return graph.Chains(steps...), graph.Batch(gs...)
}

var ragged = [][2][]int{{{4, 2, 6, 1}, {3, 5, 5, 2}}, {{3}, {1}}, {{5, 2}, {1, 1}}, {{2, 3}, {0, 4}}, {{0, 3}, {2, 3}}}

// TestSweepOnIsTheLoop compares weights that are carried from step to step with loops,
// in a ragged batch and each sequence alone.
func TestSweepOnIsTheLoop(t *testing.T) {
	for _, c := range ragged {
		inputs, steps := c[0], c[1]
		p := newLocation(inputs, steps)
		g, att := reading(inputs, steps)
		h, alpha := p.naive(inputs, steps)
		for _, tape := range []*grad.Tape{grad.NewTape(1), grad.NewEval(), nil} {
			got := p.run(tape, g, att)
			compare.Arrays(t, fmt.Sprint(c), []*tensor.Dense{got[0].Value(), got[1].Value()}, []*tensor.Dense{rowsOf(h), dense(alpha, len(alpha), 1)}, rounded)
		}
	}
}

func TestSweepOnGradients(t *testing.T) {
	for _, c := range ragged {
		p := newLocation(c[0], c[1])
		g, att := reading(c[0], c[1])
		gradtest.Check(t, p, func(tp *grad.Tape) *grad.Var {
			s := p.run(tp, g, att)
			return weigh(s[0]).Add(weigh(s[1])).Add(weigh(s[2]))
		})
	}
}

// A batch is its sequences: to the bit, on any number of threads.
func TestSweepOnBatch(t *testing.T) {
	inputs, steps := []int{4, 2, 6, 1}, []int{3, 5, 5, 2}
	p := newLocation(inputs, steps)
	g, att := reading(inputs, steps)
	all := p.run(nil, g, att)
	for _, threads := range append(sparing.Threads(), 1) {
		undo := par.SetThreads(threads)
		compare.Arrays(t, fmt.Sprint(threads, " threads"), values(p.run(nil, g, att)), values(all), compare.SameBits)
		undo()
	}
	at, node, edge := 0, 0, 0
	for i, n := range inputs {
		one := *p
		one.Mem, one.X = part(p.Mem, at, at+n), part(p.X, node, node+steps[i])
		one.A0 = part(p.A0, at, at+n)
		h, a := reading(inputs[i:i+1], steps[i:i+1])
		got := one.run(nil, h, a)
		edges := n * steps[i]
		compare.Arrays(t, fmt.Sprint("sequence ", i), values(got), []*tensor.Dense{all[0].RowRange(node, node+steps[i]).Value(),
			all[1].RowRange(edge, edge+edges).Value(), all[2].RowRange(edge, edge+edges).Value()}, compare.SameBits)
		at, node, edge = at+n, node+steps[i], edge+edges
	}
}

// part is some rows of a Param.
func part(p *grad.Param, lo, hi int) *grad.Param {
	q := grad.NewParam(hi-lo, p.Value.RowLen())
	copy(q.Value.Data, p.Value.Data[lo*p.Value.RowLen():])
	return q
}

// TestSweepOnEdges carries a number along edges that find each other by their source:
// steps hear different sources in different orders, some twice, and one has two
// predecessors.
func TestSweepOnEdges(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 1, 2}, []int32{2, 2, 3}))
	att := graph.Must(graph.NewBipartite(3, 4, []int32{0, 1, 1, 1, 2, 0, 1, 2, 1}, []int32{0, 0, 0, 1, 2, 2, 2, 3, 3}))
	init := column(10, 20, 30, 40) // of 0→0, 1→0, 1→0 and 1→1
	var seen []*tensor.Dense
	out := message.SweepOn(g, []*graph.Graph{att}, message.State{init}, func(l *message.Level, prev message.State) message.State {
		seen = append(seen, prev[0].Value().Clone())
		return message.State{prev[0].Shift(1)}
	})
	compare.Equal(t, "the roots'", seen[0].Data, []tensor.Float{10, 20, 30, 40})
	compare.Equal(t, "sources 2, 0 and 1", seen[1].Data, []tensor.Float{0, 11, 21 + 41})
	compare.Equal(t, "sources 2 and 1", seen[2].Data, []tensor.Float{1, 63})
	compare.Equal(t, "all edges", out[0].Value().Data, []tensor.Float{11, 21, 31, 41, 1, 12, 63, 2, 64})
}

func TestSweepOnMisuse(t *testing.T) {
	g, att := reading([]int{3, 2}, []int{2, 1})
	same := func(_ *message.Level, prev message.State) message.State { return prev }
	for name, f := range map[string]func(){
		"init rows":     func() { message.SweepOn(g, []*graph.Graph{att}, message.State{column(1, 2)}, same) },
		"another graph": func() { message.SweepOn(g, []*graph.Graph{sides()}, message.State{column(1)}, same) },
		"few rows": func() {
			message.SweepOn(g, []*graph.Graph{att}, message.State{column(1)}, func(*message.Level, message.State) message.State { return message.State{column(1)} })
		},
	} {
		var shape *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &shape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tapeError(func() { message.SweepOn(g, []*graph.Graph{att}, message.State{column(1), column(1)}, same) }) == nil {
		t.Error("two states and a graph: no *grad.TapeError")
	}
	for _, s := range message.SweepOn(graph.Chains(), []*graph.Graph{graph.CompleteBipartite(2, 0)}, message.State{column(1)}, same) {
		compare.Equal(t, "nothing", s.Value().Data, []tensor.Float{})
	}
}
