package message_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// AddAll has the bits of a sum that is added, and its gradients: in one pass where a node's
// own row is added to those of its neighbours, and of any message in two.
func TestAddAll(t *testing.T) {
	g := odd()
	n := g.NumNodes()
	p, other, w := param(1, n, 5), param(2, n, 5), param(3, g.NumEdges(), 1)
	small := graph.Must(graph.Block(g, []int32{2, 0}))
	of := func(own, from *grad.Var, m message.Msg, g *graph.Graph, joined bool) *grad.Var {
		if joined {
			return message.AddAll(own, g, m)
		}
		return own.Add(message.UpdateAll(g, m, message.Sum))
	}
	for name, c := range map[string]struct {
		y     func(t *grad.Tape, joined bool) *grad.Var
		fused bool
	}{
		"its own": {func(t *grad.Tape, joined bool) *grad.Var {
			x := t.Use(p).Scale(2)
			return of(x, x, message.U(x), g, joined)
		}, true},
		"its own, read after that too": {func(t *grad.Tape, joined bool) *grad.Var {
			x := t.Use(p).Scale(2)
			y := of(x, x, message.U(x), g, joined)
			return y.Add(x.Tanh())
		}, true},
		"another": {func(t *grad.Tape, joined bool) *grad.Var {
			x := t.Use(p).Scale(2)
			return of(t.Use(other), x, message.U(x), g, joined)
		}, false},
		"weighted": {func(t *grad.Tape, joined bool) *grad.Var {
			x := t.Use(p).Scale(2)
			return of(x, x, message.UMulE(x, t.Use(w)), g, joined)
		}, false},
		"of a block": {func(t *grad.Tape, joined bool) *grad.Var {
			x := t.Use(p).Rows(small.From().Src)
			return of(x.Rows(small.DstRows()), x, message.U(x), small, joined)
		}, false},
	} {
		run := func(joined bool) (all [][]tensor.Float, ops string) {
			tape := grad.NewTape(1)
			for range 2 { // in memory that was used
				tape.Reset()
				y := c.y(tape, joined)
				all = [][]tensor.Float{append([]tensor.Float(nil), y.Value().Data...)}
				grads := tape.Backward(weigh(y))
				for _, q := range []*grad.Param{p, other, w} {
					if d := grads.Of(tape.Use(q)); d != nil {
						all = append(all, append([]tensor.Float(nil), d.Data...))
					}
				}
			}
			return all, strings.Join(tape.Operations(), " ")
		}
		got, ops := run(true)
		want, _ := run(false)
		if fused := strings.Contains(ops, "AddAll.SumU"); fused != c.fused {
			t.Errorf("%s: one operation: %t, of %s", name, fused, ops)
		}
		compare.Slices(t, name, got, want, compare.SameBits)
	}
	defer func() {
		if _, ok := recover().(*grad.TapeError); !ok {
			t.Error("no graph is no error")
		}
	}()
	x := grad.Const(tensor.New(2, 2))
	message.AddAll(x, nil, message.U(x))
}
