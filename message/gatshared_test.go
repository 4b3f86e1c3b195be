package message_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What attention carries may be what its logits are made of, or a view of it:
// their gradients meet in one array, which the kernel sets or adds to.
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
	for name, pick := range map[string]func(x *grad.Var) (ft, el, er *grad.Var){
		"same": func(x *grad.Var) (ft, el, er *grad.Var) { y := x.RowRange(0, n).Scale(1.5); return y, y, y },
		"views": func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(0, n), x.RowRange(n, 2*n), x.RowRange(5, n+5)
		},
		"later rows": func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(0, n), x.RowRange(5, n+5), x.RowRange(7, n+7)
		},
		"earlier rows": func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(9, n+9), x.RowRange(5, n+5), x.RowRange(7, n+7)
		},
		"whole": func(x *grad.Var) (ft, el, er *grad.Var) {
			y := x.RowRange(0, n).Tanh()
			return y.Reshape(n, heads, 1), y, x.RowRange(n, 2*n)
		},
	} {
		var first *tensor.Dense
		for _, fused := range []bool{true, false} {
			message.SetFuse(t, fused)
			tape := grad.NewTape(1)
			for range 2 { // the second time from used buffers
				tape.Reset()
				x := tape.Watch(value)
				ft, el, er := pick(x)
				y := message.UpdateAll(g, message.U(ft).Mul(weights(x, message.UAddV(el, er))), message.Sum)
				dx := tape.Backward(y.Mul(y).Sum()).Of(x).Clone()
				if first == nil {
					first = dx
				}
				for i, v := range dx.Data {
					if w := first.Data[i]; !(math.Abs(float64(v-w)) <= 1e-4*(1+math.Abs(float64(w)))) {
						t.Fatalf("%d heads, %s, fused %t: gradient %d is %v, want %v", heads, name, fused, i, v, w)
					}
				}
			}
		}
	}
}
