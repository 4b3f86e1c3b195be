package message_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// summed are messages whose sums get a bias: of each kind of kernel, and of none.
var summed = map[string]func(t *grad.Tape, m *broad) message.Msg{
	"gatv2": joined["gatv2"].make,
	"gat": func(t *grad.Tape, m *broad) message.Msg {
		x := t.Use(m.U)
		return message.U(x).Mul(message.UAddV(x.SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)).LeakyReLU(0.2).Softmax().Dropout(t, 0.3))
	},
	"gat with edges": func(t *grad.Tape, m *broad) message.Msg {
		score := message.UAddV(t.Use(m.U).SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)).Add(message.E(t.Use(m.E)))
		return message.U(t.Use(m.X)).Mul(score.LeakyReLU(0.2).Softmax())
	},
	"copies":        func(t *grad.Tape, m *broad) message.Msg { return message.U(t.Use(m.U)) },
	"weighed":       func(t *grad.Tape, m *broad) message.Msg { return message.U(t.Use(m.U)).Mul(message.E(t.Use(m.E))) },
	"anything else": func(t *grad.Tape, m *broad) message.Msg { return message.UAddV(t.Use(m.U), t.Use(m.V)).Tanh() },
}

// withBias is the sum of messages and a bias, which the kernel may add.
func withBias(g *graph.Graph, m message.Msg, b *grad.Var) *grad.Var {
	y := message.UpdateAll(g, m, message.Sum)
	return y.Reshape(g.NumDst(), y.Dim(1)*y.Dim(-1)).AddBias(b, grad.Identity)
}

// biasApart is withBias with another operation in between, so that each of them runs
// by itself.
func biasApart(g *graph.Graph, m message.Msg, b *grad.Var) *grad.Var {
	y := message.UpdateAll(g, m, message.Sum)
	b.Neg()
	return y.Reshape(g.NumDst(), y.Dim(1)*y.Dim(-1)).AddBias(b, grad.Identity)
}

// A bias behind a sum is added by the kernels that can, and the others leave it.
func TestSumBiasJoins(t *testing.T) {
	g := odd()
	m, b := newBroad(g, 8, 8), param(6, 64)
	for name, x := range summed {
		tape := grad.NewTape(3)
		withBias(g, x(tape, m), tape.Use(b))
		all := strings.Join(tape.Operations(), " ")
		if joins := name != "copies" && name != "weighed"; strings.HasSuffix(all, "+AddBias") != joins {
			t.Errorf("%s: operations %s", name, all)
		}
		tape.Reset()
		biasApart(g, x(tape, m), tape.Use(b))
		if all := strings.Join(tape.Operations(), " "); strings.Contains(all, "+") {
			t.Errorf("%s: operations %s", name, all)
		}
	}
}

// TestSumBias compares sums with a bias with the bias of sums.
func TestSumBias(t *testing.T) {
	all := graphs()
	all["hub of 700"] = hub(700)
	all["chains"] = graph.Chains(3, 1, 4)
	all["no edges"] = graph.Must(graph.New(4, nil, nil))
	for _, at := range slices.Sorted(maps.Keys(all)) {
		g := all[at]
		if at == "block" || at == "view" {
			continue // here V may read rows of sources
		}
		for _, shape := range [][2]int{{8, 8}, {8, 3}, {16, 8}, {1, 7}, {2, 5}} {
			m := newBroad(g, shape[0], shape[1])
			b := param(6, shape[0]*shape[1])
			for name, x := range summed {
				run := func(end func(t *grad.Tape) *grad.Var) []*tensor.Dense {
					tape := grad.NewTape(3)
					y := end(tape)
					out := []*tensor.Dense{y.Value()}
					for _, d := range tape.Backward(weigh(y)) {
						out = append(out, d.Value)
					}
					return out
				}
				want := run(func(t *grad.Tape) *grad.Var { return biasApart(g, x(t, m), t.Use(b)) })
				got := run(func(t *grad.Tape) *grad.Var { return withBias(g, x(t, m), t.Use(b)) })
				what := fmt.Sprintf("%s of %v on %s", name, shape, at)
				sameBits(t, what, got[:1], want[:1])
				nearSums(t, what, got, want, 4)
			}
		}
	}
}

// A bias of another length is an error that says so, whatever the kernel.
func TestSumBiasLength(t *testing.T) {
	g := odd()
	m := newBroad(g, 8, 8)
	for name, x := range summed {
		tape := grad.NewTape(3)
		err := tensor.Try(func() { withBias(g, x(tape, m), tape.Use(param(6, 63))) })
		if _, ok := err.(*tensor.ShapeError); !ok {
			t.Errorf("%s: %v, want a ShapeError", name, err)
		}
	}
}

// A bias that alone is trained has the same gradient each time, whose memory is
// taken back.
func TestSumBiasAlone(t *testing.T) {
	g := odd()
	m, b := newBroad(g, 8, 8), param(6, 64)
	for _, p := range []*grad.Param{m.U, m.X, m.V, m.E, m.W} {
		p.Frozen = true
	}
	for name, x := range summed {
		tape := grad.NewTape(3)
		var held []int
		for range 3 {
			tape.Reset()
			v := tape.Use(b)
			y := withBias(g, x(tape, m), v)
			loss := weigh(y.RowRange(2, 5).Exp())
			first := tape.Backward(loss).Of(v).Clone()
			sameBits(t, name+", again", []*tensor.Dense{tape.Backward(loss).Of(v)}, []*tensor.Dense{first})
			held = append(held, int(tape.Stats().Held))
		}
		if held[2] != held[1] {
			t.Errorf("%s: after each step the tape holds %v bytes", name, held)
		}
	}
	c := func(shape ...int) *grad.Var { return grad.Const(param(8, shape...).Value) }
	tape := grad.NewTape(3)
	y := withBias(g, message.U(c(g.NumSrc(), 8, 8)).Mul(message.E(c(g.NumEdges(), 8, 1)).Softmax()), tape.Use(b))
	if d := tape.Backward(y.RowRange(5, 7).Exp().Sum())[0].Value; d.Data[0] <= 0 {
		t.Errorf("the gradient of the bias of constants is %v", d.Data[:3])
	}
}

// A bias of any size changes no gradient but its own by more than their rounding: none is
// taken from what is left of a sum after the bias.
func TestLargeBias(t *testing.T) {
	all := graphs()
	all["hub of 700"] = hub(700)
	for _, at := range []string{"odd", "hub of 700"} {
		g := all[at]
		m := newBroad(g, 8, 8)
		dy := param(7, g.NumDst(), 64).Value
		for name, x := range summed {
			run := func(b *grad.Param, end func(g *graph.Graph, m message.Msg, b *grad.Var) *grad.Var) []*tensor.Dense {
				tape := grad.NewTape(3)
				y := end(g, x(tape, m), tape.Use(b))
				var out []*tensor.Dense
				for _, d := range tape.BackwardFrom(y, dy) {
					out = append(out, d.Value)
				}
				return out
			}
			want := run(param(6, 64), biasApart)
			for _, size := range []tensor.Float{1, 100, 1e4, 1e7} {
				b := param(6, 64)
				b.Value.Fill(size)
				what := fmt.Sprintf("%s on %s, a bias of %v", name, at, size)
				nearSums(t, what, run(b, withBias), want, 1)
			}
		}
	}
}
