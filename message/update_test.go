package message_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// odd is a graph with an isolated node, a self-loop, parallel edges, a node
// without in-edges and a hub.
func odd() *graph.Graph {
	src := []int32{0, 1, 1, 2, 3, 4, 5, 6, 0, 3, 2, 2, 6}
	dst := []int32{1, 2, 2, 2, 0, 0, 0, 0, 0, 5, 1, 3, 0}
	return graph.Must(graph.New(8, src, dst))
}

func param(seed uint64, shape ...int) *grad.Param {
	p := grad.NewParam(shape...)
	sparing.Normals(rand.New(rand.NewPCG(seed, 1)), p.Value.Data)
	return p
}

func weigh(y *grad.Var) *grad.Var {
	return y.Mul(grad.Const(tensor.Of(weighing(len(y.Value().Data)), y.Shape()...))).Sum()
}

// weighing is what weigh multiplies with: the gradients of its sum.
func weighing(n int) []tensor.Float {
	w := make([]tensor.Float, n)
	sparing.Normals(rand.New(rand.NewPCG(99, 1)), w)
	return w
}

// operands are the leaves of expressions. fd is ft where destinations are
// sources: then one array is read on both sides.
type operands struct{ u, v, e, w, ft, fd, el, er, ee, att, table *grad.Var }

// expressions are messages that together use every leaf and operation. One that none of these says is said of
// a number a head.
func expressions(kinds []int32) map[string]func(t *grad.Tape, x operands) message.Msg {
	all := written(kinds)
	said, t := map[ops.Kind]bool{}, grad.NewTape(1)
	for _, f := range all {
		for _, k := range message.Says(f(t, newModel(odd()).use(t))) {
			said[k] = true
		}
	}
	for _, k := range ops.Said() {
		if !said[k] {
			all[k.String()] = func(_ *grad.Tape, x operands) message.Msg {
				return message.Say(k, message.U(x.ft).Add(message.V(x.er)), message.E(x.ee))
			}
		}
	}
	return all
}

func written(kinds []int32) map[string]func(t *grad.Tape, x operands) message.Msg {
	return map[string]func(t *grad.Tape, x operands) message.Msg{
		"U":     func(_ *grad.Tape, x operands) message.Msg { return message.U(x.u) },
		"V":     func(_ *grad.Tape, x operands) message.Msg { return message.V(x.v) },
		"E":     func(_ *grad.Tape, x operands) message.Msg { return message.E(x.e) },
		"UMulV": func(_ *grad.Tape, x operands) message.Msg { return message.UMulV(x.u, x.v) },
		"UDotV": func(_ *grad.Tape, x operands) message.Msg { return message.UDotV(x.ft, x.fd) },
		"UMulE": func(_ *grad.Tape, x operands) message.Msg { return message.UMulE(x.ft, x.ee) },
		"W": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.u).Mul(message.W(x.w)).Add(message.E(x.e))
		},
		"Div": func(_ *grad.Tape, x operands) message.Msg { return message.U(x.u).Div(message.E(x.e).Abs().Shift(1)) },
		"chain": func(_ *grad.Tape, x operands) message.Msg {
			a := message.U(x.u).Sub(message.V(x.v)).Tanh().Scale(2)
			return a.Mul(a.Sigmoid()).Max(message.E(x.e).ELU()).Min(message.V(x.v).Softplus().Neg().Shift(3))
		},
		"roots": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.u).Abs().Shift(0.5).Sqrt().Add(message.V(x.v).Abs().Shift(0.5).Log()).Add(message.E(x.e).Exp())
		},
		"last": func(_ *grad.Tape, x operands) message.Msg {
			m := message.U(x.ft).Add(message.V(x.er))
			return m.SumLast().Mul(m.MaxLast()).Add(m.LogSumExpLast())
		},
		"Pick W": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.u).Mul(message.W(x.table).Pick(kinds))
		},
		"Pick U": func(_ *grad.Tape, x operands) message.Msg { return message.U(x.ft).Pick(head(kinds)) },
		"Pick computed": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.ft).Tanh().Pick(head(kinds))
		},
		"MatMul": func(_ *grad.Tape, x operands) message.Msg {
			return message.UAddV(x.u, x.v).Tanh().MatMul(x.att.Reshape(3, 2)).Softmax()
		},
		"MatMul of heads": func(_ *grad.Tape, x operands) message.Msg {
			m := message.U(x.ft).MatMul(x.table.Reshape(3, 4)).Mul(message.E(x.ee))
			return m.Add(message.E(x.e).MatMul(x.table.Reshape(3, 2, 2)).SumLast())
		},
		"MatMul of what all share": func(_ *grad.Tape, x operands) message.Msg {
			return message.E(x.e).Mul(message.W(x.w).MatMul(x.att.Reshape(3, 2)).SumLast())
		},
		"Softmax": func(_ *grad.Tape, x operands) message.Msg { return message.UAddV(x.u, x.v).Softmax() },
		"LogSoftmax": func(_ *grad.Tape, x operands) message.Msg {
			return message.UAddV(x.u, x.v).LogSoftmax()
		},
		"Softmax twice": func(_ *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.u, x.v).Softmax()
			return a.Mul(message.E(x.e)).Softmax().Mul(message.U(x.u)).Add(a)
		},
		"Normalise": func(_ *grad.Tape, x operands) message.Msg {
			return message.UAddV(x.u, x.v).Sigmoid().Normalise().Mul(message.E(x.e))
		},
		"Sparsemax": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.ft).Mul(message.UAddV(x.el, x.er).Sparsemax())
		},
		"Sparsemax of sums": func(_ *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.u, x.v).Scale(0.1).Sparsemax()
			return a.Mul(message.E(x.e)).Add(a.SiLU())
		},
		"waves": func(_ *grad.Tape, x operands) message.Msg {
			return message.UAddV(x.u, x.v).Sin().Add(message.E(x.e).Cos().GELU())
		},
		"powers": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.u).Pow(3).Add(message.V(x.v).Exp().Pow(-0.5)).Add(message.E(x.e).Pow(0))
		},
		"TopK": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.ft).Mul(message.UAddV(x.el, x.er).TopK(2).Softmax())
		},
		"TopK of weights": func(_ *grad.Tape, x operands) message.Msg {
			return message.UAddV(x.u, x.v).Softmax().TopK(3).ReLU().Normalise()
		},
		"Hardmax": func(_ *grad.Tape, x operands) message.Msg {
			return message.U(x.ft).Mul(message.UAddV(x.el, x.er).Hardmax())
		},
		"Sample": func(t *grad.Tape, x operands) message.Msg {
			drawn, logp := message.UAddV(x.el, x.er).Sample(t)
			return message.U(x.ft).Mul(drawn).Add(logp)
		},
		"Dropout": func(t *grad.Tape, x operands) message.Msg { return message.UMulV(x.u, x.v).Dropout(t, 0.4) },
		"GAT": func(t *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.el, x.er).Add(message.E(x.ee)).LeakyReLU(0.2).Softmax().Dropout(t, 0.4)
			return message.U(x.ft).Mul(a).Mul(message.E(x.ee).Sigmoid())
		},
		"GAT fused": func(t *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.el, x.er).Add(message.E(x.ee)).LeakyReLU(0.2).Softmax().Dropout(t, 0.4)
			return message.U(x.ft).Mul(a)
		},
		"GAT weighted": func(t *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.el, x.er).LeakyReLU(0.2).Softmax().Dropout(t, 0.4)
			return message.U(x.ft).Mul(a.Mul(message.E(x.ee)))
		},
		"GATv2": func(t *grad.Tape, x operands) message.Msg {
			a := message.UAddV(x.ft, x.fd).LeakyReLU(0.2).Dot(message.W(x.att)).Softmax().Dropout(t, 0.4)
			return message.U(x.ft).Mul(a)
		},
	}
}

func head(kinds []int32) []int32 {
	out := make([]int32, len(kinds))
	for i, k := range kinds {
		out[i] = k % 2
	}
	return out
}

// model holds the operands of expressions as Params.
type model struct {
	U, V, E, W, Ft, Fd, El, Er, Ee, Att, Table *grad.Param

	g *graph.Graph
}

func newModel(g *graph.Graph) *model {
	n, d, e := g.NumSrc(), g.NumDst(), g.NumEdges()
	m := &model{U: param(1, n, 3), V: param(2, d, 3), E: param(3, e, 3), W: param(4, 3), Ft: param(5, n, 2, 3), El: param(6, n, 2, 1),
		Er: param(7, d, 2, 1), Ee: param(8, e, 2, 1), Att: param(9, 2, 3), Table: param(10, 4, 3), g: g}
	// The reference knows operands by their memory, and OnDst copies rows of a block or a view.
	if g.Bipartite() {
		m.Fd = param(11, d, 2, 3)
	}
	return m
}

func (m *model) use(t *grad.Tape) operands {
	x := operands{u: t.Use(m.U), v: t.Use(m.V), e: t.Use(m.E), w: t.Use(m.W), ft: t.Use(m.Ft), el: t.Use(m.El),
		er: t.Use(m.Er), ee: t.Use(m.Ee), att: t.Use(m.Att), table: t.Use(m.Table)}
	if m.Fd != nil {
		x.fd = t.Use(m.Fd)
	} else {
		x.fd = message.OnDst(m.g, x.ft)
	}
	return x
}

// modulo4 is a kind for each edge.
func modulo4(g *graph.Graph) []int32 {
	kinds := make([]int32, g.NumEdges())
	for e := range kinds {
		kinds[e] = int32(e % 4)
	}
	return kinds
}

// TestGradients checks every expression under every reducer, and on the edges.
func TestGradients(t *testing.T) {
	g := odd()
	m := newModel(g)
	all := expressions(modulo4(g))
	for i, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		if i%3 != 0 && !gradtest.Sharp && !sparing.Full() {
			continue // of float64 all are checked, in which differences say more
		}
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var {
				x := m.use(tp)
				msg := f(tp, x)
				y := weigh(message.ApplyEdges(g, msg))
				for _, r := range reducers {
					y = y.Add(weigh(message.UpdateAll(g, msg, r)))
				}
				return y.Add(weigh(message.UpdateAll(g, msg, reducers...)))
			})
		})
	}
}
