package message_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What attention carries may be what its logits are made of, or a view of it:
// their gradients meet in one array, which the pass sets or adds to.
func TestAttentionSharedGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n, edges = 200, 1200 // in several parts
	from, to := make([]int32, edges), make([]int32, edges)
	for i := range from {
		from[i], to[i] = rng.Int32N(n), rng.Int32N(n-3)
	}
	g, err := graph.New(n, from, to)
	if err != nil {
		t.Fatal(err)
	}
	for _, heads := range []int{1, 3, 8} { // those of spokes among them
		value := tensor.New(edges+n, heads, 1)
		value.Normal(rng, 0, 1)
		checkShared(t, g, value, func(x *grad.Var, z message.Msg) message.Msg { return z.LeakyReLU(0.2).Softmax() })
		edgeRows := func(x *grad.Var, from int) message.Msg { return message.E(x.RowRange(from, from+edges)) }
		checkShared(t, g, value, func(x *grad.Var, z message.Msg) message.Msg {
			return z.Add(edgeRows(x, 3)).LeakyReLU(0.2).Softmax().Mul(edgeRows(x, 6))
		})
	}
}

func checkShared(t *testing.T, g *graph.Graph, value *tensor.Dense, weights func(x *grad.Var, z message.Msg) message.Msg) {
	t.Helper()
	n, heads := g.NumSrc(), value.Dim(1)
	for name, c := range map[string]struct {
		pick func(x *grad.Var) (ft, el, er *grad.Var)
		made func(r *reference.Reference, x rounding.Number) rounding.Number // what is no view, element by element
	}{
		"same": {func(x *grad.Var) (ft, el, er *grad.Var) { y := x.RowRange(0, n).Scale(1.5); return y, y, y },
			func(r *reference.Reference, x rounding.Number) rounding.Number { return r.Scale(x, 1.5) }},
		"views": {func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(0, n), x.RowRange(n, 2*n), x.RowRange(5, n+5)
		}, nil},
		"later rows": {func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(0, n), x.RowRange(5, n+5), x.RowRange(7, n+7)
		}, nil},
		"earlier rows": {func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(9, n+9), x.RowRange(5, n+5), x.RowRange(7, n+7)
		}, nil},
		"whole": {func(x *grad.Var) (ft, el, er *grad.Var) {
			y := x.RowRange(0, n).Tanh()
			return y.Reshape(n, heads, 1), y, x.RowRange(n, 2*n)
		}, func(r *reference.Reference, x rounding.Number) rounding.Number { return r.Tanh(x) }},
	} {
		made := func(r *reference.Reference, _ ops.Kind, x *tensor.Dense) (out []rounding.Number) {
			for i := range value.Data {
				if &value.Data[i] == &x.Data[0] {
					return nil
				}
			}
			for _, v := range r.Of(value.Data[:n*heads]) {
				out = append(out, c.made(r, v))
			}
			return out
		}
		msg := func(x *grad.Var) message.Msg {
			ft, el, er := c.pick(x)
			return message.U(ft).Mul(weights(x, message.UAddV(el, er)))
		}
		want := formula{g: g, m: msg(grad.NewTape(1).Watch(value)), by: []message.Reducer{message.Sum}, made: made, dy: squares}.results(value.Data)
		for _, fused := range []bool{true, false} {
			message.SetFuse(t, fused)
			tape := grad.NewTape(1)
			for range 2 { // the second time from used buffers
				tape.Reset()
				x := tape.Watch(value)
				y := message.UpdateAll(g, msg(x), message.Sum)
				what := fmt.Sprintf("%d heads, %s, fused %t", heads, name, fused)
				reference.Near(t, what, []*tensor.Dense{y.Value(), tape.Backward(y.Mul(y).Sum()).Of(x)}, want)
			}
		}
	}
}
