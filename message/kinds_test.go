package message_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// kindsScene is a bipartite graph of three kinds with parallel edges and a destination
// that hears nobody, and its operands.
func kindsScene(t *testing.T) (g *graph.Graph, x, w *grad.Param) {
	src, dst := []int32{0, 1, 1, 3, 4, 0, 2, 2}, []int32{0, 0, 0, 2, 2, 2, 3, 3}
	g = graph.Must(graph.WithKinds(graph.Must(graph.NewBipartite(5, 4, src, dst)), []int32{0, 2, 2, 1, 1, 0, 0, 2}))
	rng := rand.New(rand.NewPCG(3, 4))
	x, w = grad.NewParam(5, 3), grad.NewParam(3, 3, 2)
	x.Value.Normal(rng, 0, 1)
	w.Value.Normal(rng, 0, 1)
	return g, x, w
}

// A sum by kinds is that of the products that the edges pick, and a mean that of each kind;
// so are the gradients.
func TestUpdateKinds(t *testing.T) {
	g, x, w := kindsScene(t)
	shares := grad.Const(tensor.Of([]tensor.Float{1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1}, 8, 1))
	picked := func(t *grad.Tape, by message.Reducer) *grad.Var {
		var parts []*grad.Var
		for k := range 3 {
			parts = append(parts, t.Use(x).MatMul(t.Use(w).RowRange(k, k+1).Reshape(3, 2)))
		}
		m := message.U(grad.Concat(parts...).Reshape(5, 3, 2)).Pick(g.Kinds())
		if by == message.Mean {
			m = m.Mul(message.E(shares))
		}
		return message.UpdateAll(g, m, message.Sum)
	}
	for _, by := range []message.Reducer{message.Sum, message.Mean} {
		eval := grad.NewEval()
		got := message.UpdateKinds(g, eval.Use(x), eval.Use(w), by)
		want := picked(grad.NewEval(), by)
		for i, v := range want.Value().Data {
			if d := got.Value().Data[i] - v; d > 1e-5 || d < -1e-5 || d != d {
				t.Errorf("%v: element %d is %v, want %v", by, i, got.Value().Data[i], v)
			}
		}
		gradtest.Check(t, []*grad.Param{x, w}, func(tp *grad.Tape) *grad.Var {
			return message.UpdateKinds(g, tp.Use(x), tp.Use(w), by).Square().Sum()
		})
	}
}

// What does not fit is refused with words.
func TestUpdateKindsMisuse(t *testing.T) {
	g, x, w := kindsScene(t)
	plain := graph.Must(graph.NewBipartite(5, 4, []int32{0}, []int32{0}))
	for what, f := range map[string]func(tp *grad.Tape){
		"reducer":  func(tp *grad.Tape) { message.UpdateKinds(g, tp.Use(x), tp.Use(w), message.Max) },
		"no graph": func(tp *grad.Tape) { message.UpdateKinds(nil, tp.Use(x), tp.Use(w), message.Sum) },
		"no kinds": func(tp *grad.Tape) { message.UpdateKinds(plain, tp.Use(x), tp.Use(w), message.Sum) },
		"matrices": func(tp *grad.Tape) { message.UpdateKinds(g, tp.Use(x), tp.Use(w).RowRange(0, 2), message.Sum) },
		"columns":  func(tp *grad.Tape) { message.UpdateKinds(g, tp.Use(x).Columns(0, 2), tp.Use(w), message.Sum) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			f(grad.NewTape(1))
		}()
	}
}
