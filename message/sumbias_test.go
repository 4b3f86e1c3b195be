package message_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// summed are messages whose sums get a bias: of each kind of rule, and of none. weights is what a softmax weighs with,
// of those that have one.
var summed = map[string]func(t *grad.Tape, m *broad) (msg message.Msg, weights *message.Msg){
	"gatv2": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) {
		u := t.Use(m.U)
		a := message.UAddV(u, t.Use(m.V)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W))).Softmax()
		return message.U(u).Mul(a), &a
	},
	"gat": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) {
		x := t.Use(m.U)
		a := message.UAddV(x.SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)).LeakyReLU(0.2).Softmax()
		return message.U(x).Mul(a.Dropout(t, 0.3)), &a
	},
	"gat with edges": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) {
		score := message.UAddV(t.Use(m.U).SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)).Add(message.E(t.Use(m.E)))
		a := score.LeakyReLU(0.2).Softmax()
		return message.U(t.Use(m.X)).Mul(a), &a
	},
	"copies": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) { return message.U(t.Use(m.U)), nil },
	"weighed": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) {
		return message.U(t.Use(m.U)).Mul(message.E(t.Use(m.E))), nil
	},
	"anything else": func(t *grad.Tape, m *broad) (message.Msg, *message.Msg) {
		return message.UAddV(t.Use(m.U), t.Use(m.V)).Tanh(), nil
	},
}

// weighedBias is the formula of a sum with a bias. A way that adds it takes the gradient of a softmax from the result,
// less the bias again, and leaves in it roundings of the bias. So here the bias is weighed by the softmax, whose sum is 1.
func weighedBias(g *graph.Graph, m *broad, b *grad.Param, of func(t *grad.Tape, m *broad) (message.Msg, *message.Msg)) formula {
	t := grad.NewTape(3)
	msg, weights := of(t, m)
	f := sum(g, msg)
	f.made, f.then = headSums(m.U, m.V), biasedBy(b.Value.Data)
	if weights == nil {
		return f
	}
	f.m = msg.Add(weights.Mul(message.W(t.Use(b).Reshape(m.U.Value.Shape()[1:]...))))
	f.then = biasedAlone(g, f.then)
	return f
}

// biasedAlone does what follows for destinations that hear nobody, and no others.
func biasedAlone(g *graph.Graph, then following) following {
	return func(r *reference.Reference, y []rounding.Number) []rounding.Number {
		all, n := then(r, slices.Clone(y)), len(y)/max(1, g.NumDst())
		for v := range g.NumDst() {
			if g.InDegree(v) == 0 {
				copy(y[v*n:][:n], all[v*n:])
			}
		}
		return y
	}
}

// withBias is the sum of messages and a bias, which the way may add.
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

// A bias behind a sum is added by the ways that can, and the others leave it.
func TestSumBiasJoins(t *testing.T) {
	g := odd()
	m, b := newBroad(g, 8, 8), param(6, 64)
	for name, x := range summed {
		tape := grad.NewTape(3)
		msg, _ := x(tape, m)
		withBias(g, msg, tape.Use(b))
		all := strings.Join(tape.Operations(), " ")
		if joins := name != "copies" && name != "weighed"; strings.HasSuffix(all, "+AddBias") != joins {
			t.Errorf("%s: operations %s", name, all)
		}
		tape.Reset()
		msg, _ = x(tape, m)
		biasApart(g, msg, tape.Use(b))
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
		for _, shape := range [][2]int{{8, 8}, {8, 3}, {16, 8}, {1, 7}, {2, 5}} {
			m := newBroad(g, shape[0], shape[1])
			b := param(6, shape[0]*shape[1])
			for name, x := range summed {
				var of [][]tensor.Float
				run := func(end func(g *graph.Graph, m message.Msg, b *grad.Var) *grad.Var) []*tensor.Dense {
					tape := grad.NewTape(3)
					msg, _ := x(tape, m)
					y := end(g, msg, tape.Use(b))
					out, gs := []*tensor.Dense{y.Value()}, tape.Backward(weigh(y))
					for _, d := range gs {
						out = append(out, d.Value)
					}
					of = operandsOf(gs)
					return out
				}
				want, got := run(biasApart), run(withBias)
				what := fmt.Sprintf("%s of %v on %s", name, shape, at)
				compare.Arrays(t, what, got[:1], want[:1], compare.SameBits)
				truth := weighedBias(g, m, b, x).results(of...)
				reference.Near(t, what, got, truth)
				reference.Near(t, what+", apart", want, truth)
			}
		}
	}
}

// A bias of another length is an error that says so, whatever the way.
func TestSumBiasLength(t *testing.T) {
	g := odd()
	m := newBroad(g, 8, 8)
	for name, x := range summed {
		tape := grad.NewTape(3)
		err := tensor.Try(func() { msg, _ := x(tape, m); withBias(g, msg, tape.Use(param(6, 63))) })
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
			msg, _ := x(tape, m)
			y := withBias(g, msg, v)
			loss := weigh(y.RowRange(2, 5).Exp())
			first := tape.Backward(loss).Of(v).Clone()
			compare.Arrays(t, name+", again", []*tensor.Dense{tape.Backward(loss).Of(v)}, []*tensor.Dense{first}, compare.SameBits)
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
			var want [][]rounding.Result
			for _, size := range []tensor.Float{1, 0, 100, 1e4, 1e7} {
				b, tape := param(6, 64), grad.NewTape(3)
				b.Value.Fill(size)
				msg, _ := x(tape, m)
				var got []*tensor.Dense
				gs := tape.BackwardFrom(withBias(g, msg, tape.Use(b)), dy)
				for _, d := range gs[:len(gs)-1] { // but the bias's
					got = append(got, d.Value)
				}
				if size <= 1 { // larger ones change no gradient but their own
					f := weighedBias(g, m, b, x)
					f.dy = given(dy.Data)
					want = f.results(operandsOf(gs[:len(gs)-1])...)[1:]
				}
				reference.Near(t, fmt.Sprintf("%s on %s, a bias of %v", name, at, size), got, want)
			}
		}
	}
}
