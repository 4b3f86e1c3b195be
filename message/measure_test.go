package message_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMeasure compares predictions with steps. What is predicted is at least what is needed,
// and at most a tenth more.
func TestMeasure(t *testing.T) {
	const n, d = 300, 24
	x, w, b, out := grad.Const(param(1, n, d).Value), param(2, d, d), param(3, d), param(4, d, 7)
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]int32, 5*n), make([]int32, 5*n)
	for i := range src {
		src[i], dst[i] = rng.Int32N(n), rng.Int32N(n)
	}
	g := graph.Must(graph.New(n, src, dst))
	band := graph.Band(n, 3)
	near := make([]int32, band.NumEdges())
	for name, f := range map[string]func(t *grad.Tape) *grad.Var{
		"attention on a graph": func(t *grad.Tape) *grad.Var {
			ft := x.MatMul(t.Use(w)).Reshape(-1, 4, 6)
			score := message.UAddV(ft.Dot(t.Use(b).Reshape(4, 6)), ft.Dot(t.Use(b).Reshape(4, 6).Neg())).LeakyReLU(0.2)
			return message.UpdateAll(g, message.U(ft).Mul(score.Softmax()), message.Sum).Square().Mean()
		},
		"attention with a bias": func(t *grad.Tape) *grad.Var {
			ft := x.MatMul(t.Use(w)).Reshape(-1, 4, 6)
			el, er := ft.Dot(t.Use(b).Reshape(4, 6)), ft.Dot(t.Use(b).Reshape(4, 6))
			alpha := message.UAddV(el, er).LeakyReLU(0.2).Softmax()
			y := message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum).Reshape(n, d)
			return y.AddBias(t.Use(b), grad.Identity).Square().Mean()
		},
		"any message": func(t *grad.Tape) *grad.Var {
			ft := x.MatMul(t.Use(w))
			return message.UpdateAll(g, message.U(ft).Mul(message.V(ft)).Tanh(), message.Max).Square().Mean()
		},
		"reductions": func(t *grad.Tape) *grad.Var {
			ft, few := x.MatMul(t.Use(w)), message.U(x.MatMul(t.Use(out)))
			y := message.UpdateAll(g, message.U(ft), message.Mean).Add(message.UpdateAll(g, message.U(ft), message.Max))
			alpha := message.EdgeSoftmax(g, message.ApplyEdges(g, message.UDotV(ft, ft)))
			y = y.Add(message.UpdateAll(g, message.U(ft).Mul(message.E(alpha)), message.Sum))
			return message.UpdateAll(g, few.Exp(), message.Std, message.LogSumExp).Sum().Add(y.Square().Mean())
		},
		"attention on blocks": func(t *grad.Tape) *grad.Var {
			ft := x.MatMul(t.Use(w)).Reshape(n, 4, 6)
			table := t.Use(b).Reshape(6, 4, 1)
			a := &message.Attention{Q: ft, K: ft, V: ft, Drop: 0.5, Bias: message.W(table).Pick(near)}
			y, _ := a.Apply(t, band)
			return y.Square().Mean()
		},
		"sweep": func(t *grad.Tape) *grad.Var {
			wv := t.Use(w)
			return message.Sweep(graph.Chains(n/2, n/2), message.State{x.RowRange(0, 2)}, func(l *message.Level, prev message.State) message.State {
				prev[0] = prev[0].MatMul(wv).Add(l.Rows(x)).Tanh()
				return prev
			})[0].Sum()
		},
	} {
		want, tape := grad.Measure(f), grad.NewTape(1)
		for range 3 {
			tape.Reset()
			tape.Backward(f(tape))
		}
		got := tape.Stats()
		if want.Peak < got.Peak || want.Peak > got.Peak*11/10 || want.Held < got.Held || want.Held > got.Held*11/10 || want.Ops != got.Ops {
			t.Errorf("%s: predicted %+v, needed %+v", name, want, got)
		}
		eval := grad.NewEval()
		for range 3 {
			eval.Reset()
			f(eval)
		}
		if want, got := grad.MeasureEval(func(t *grad.Tape) { f(t) }), eval.Stats(); want.Peak < got.Peak || want.Peak > got.Peak*11/10 || want.Held < got.Held {
			t.Errorf("%s, evaluated: predicted %+v, needed %+v", name, want, got)
		}
	}
}

// TestMeasureComputesNothing reads what operations on a graph leave under
// Measure: nothing.
func TestMeasureComputesNothing(t *testing.T) {
	const n = 40
	g := graph.Complete(n)
	x, e := grad.Const(param(1, n, 2, 3).Value), grad.Const(param(2, n*n, 2, 1).Value)
	ring := graph.Must(graph.New(n, []int32{0, 1, 2, 0}, []int32{1, 2, 3, 3}))
	few := grad.Const(param(3, 4, 2, 1).Value)
	for name, f := range map[string]func(h *grad.Var) *grad.Var{
		"sum":      func(h *grad.Var) *grad.Var { return message.UpdateAll(ring, message.U(h), message.Sum) },
		"mean":     func(h *grad.Var) *grad.Var { return message.UpdateAll(ring, message.U(h), message.Mean) },
		"max":      func(h *grad.Var) *grad.Var { return message.UpdateAll(ring, message.U(h), message.Max) },
		"weighted": func(h *grad.Var) *grad.Var { return message.UpdateAll(ring, message.UMulE(h, few), message.Sum) },
		"dot":      func(h *grad.Var) *grad.Var { return message.ApplyEdges(ring, message.UDotV(h, h)) },
		"softmax":  func(h *grad.Var) *grad.Var { return message.EdgeSoftmax(g, e.Add(h.Sum())) },
		"arbitrary": func(h *grad.Var) *grad.Var {
			return message.UpdateAll(ring, message.UMulV(h, h).Exp(), message.LogSumExp)
		},
		"edges": func(h *grad.Var) *grad.Var { return message.ApplyEdges(ring, message.UAddV(h, h).Exp()) },
		"gat": func(h *grad.Var) *grad.Var {
			return message.UpdateAll(ring, message.U(h).Mul(message.UAddV(h.Dot(h), h.Dot(h)).LeakyReLU(0.2).Softmax()), message.Sum)
		},
		"blocks": func(h *grad.Var) *grad.Var {
			y, _ := (&message.Attention{Q: h, K: h, V: x, Bias: message.E(e)}).Apply(nil, g)
			return y
		},
	} {
		watched := param(4, n, 2, 3).Value
		if y := f(grad.NewTape(1).Watch(watched)).Value(); !slices.ContainsFunc(y.Data, func(v tensor.Float) bool { return v != 0 }) {
			t.Errorf("%s: zero without Measure", name)
		}
		grad.Measure(func(t1 *grad.Tape) *grad.Var {
			y := f(t1.Watch(watched))
			if i := slices.IndexFunc(y.Value().Data, func(v tensor.Float) bool { return v != 0 }); i >= 0 && !sparing.Raced {
				t.Errorf("%s: element %d is %v", name, i, y.Value().Data[i])
			}
			return y.Sum()
		})
	}
}
