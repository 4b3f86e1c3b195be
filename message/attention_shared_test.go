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
	const n = 30
	from, to := make([]int32, 150), make([]int32, 150)
	for i := range from {
		from[i], to[i] = rng.Int32N(n), rng.Int32N(n-3)
	}
	g, err := graph.New(n, from, to)
	if err != nil {
		t.Fatal(err)
	}
	value := tensor.New(2*n, 3, 1)
	value.Normal(rng, 0, 1)
	for name, pick := range map[string]func(x *grad.Var) (ft, el, er *grad.Var){
		"same": func(x *grad.Var) (ft, el, er *grad.Var) { y := x.RowRange(0, n).Scale(1.5); return y, y, y },
		"views": func(x *grad.Var) (ft, el, er *grad.Var) {
			return x.RowRange(0, n), x.RowRange(n, 2*n), x.RowRange(5, n+5)
		},
		"whole": func(x *grad.Var) (ft, el, er *grad.Var) {
			y := x.RowRange(0, n).Tanh()
			return y.Reshape(n, 3, 1), y, x.RowRange(n, 2*n)
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
				alpha := message.UAddV(el, er).LeakyReLU(0.2).Softmax()
				y := message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum)
				dx := tape.Backward(y.Mul(y).Sum()).Of(x).Clone()
				if first == nil {
					first = dx
				}
				for i, v := range dx.Data {
					if w := first.Data[i]; !(math.Abs(float64(v-w)) <= 1e-4*(1+math.Abs(float64(w)))) {
						t.Fatalf("%s, fused %t: gradient %d is %v, want %v", name, fused, i, v, w)
					}
				}
			}
		}
	}
}
