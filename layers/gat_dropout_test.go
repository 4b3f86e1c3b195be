package layers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A dropout behind a layer has the value and gradients of one that another operation
// keeps apart, with a bias and without one, and of any activation.
func TestGATThenDropout(t *testing.T) {
	g := graph.WithSelfLoops(graph.Must(graph.New(4, []int32{0, 1, 2, 3, 0, 2}, []int32{1, 2, 3, 0, 2, 2})))
	rng := rand.New(rand.NewPCG(7, 6))
	x := tensor.New(4, 3)
	x.Normal(rng, 0, 1)
	for _, a := range []grad.Activation{grad.ELU, grad.Tanh, grad.Identity} {
		for _, noBias := range []bool{false, true} {
			conv := layers.GATConv{In: 3, Out: 5, Heads: 2, FeatDrop: 0.2, AttnDrop: 0.4, Activation: a, NoBias: noBias}
			conv.Init(rng)
			if !noBias {
				conv.B.Value.Normal(rng, 0, 1)
			}
			var value, grads [2][]tensor.Float
			for i, run := range []func(t *grad.Tape) *grad.Var{
				func(t *grad.Tape) *grad.Var { return t.Dropout(conv.Forward(t, g, grad.Const(x)), 0.5) },
				func(t *grad.Tape) *grad.Var {
					y := conv.Forward(t, g, grad.Const(x))
					t.Use(conv.W).Neg()
					return t.Dropout(y, 0.5)
				},
			} {
				tape := grad.NewTape(9)
				y := run(tape)
				ops := strings.Join(tape.Operations(), " ")
				if joined := i == 0 && a == grad.ELU && !noBias; strings.HasSuffix(ops, "+Dropout") != joined {
					t.Errorf("%q, no bias %v: operations %s", a, noBias, ops)
				}
				value[i] = y.Value().Data
				for _, dw := range tape.Backward(y.Mul(y).Sum()) {
					grads[i] = append(grads[i], dw.Value.Data...)
				}
			}
			for what, v := range map[string][2][]tensor.Float{"value": value, "gradient": grads} {
				compare.Near(t, fmt.Sprintf("%q: %s", a, what), v[0], v[1], compare.Off(1e-4, 1e-4))
			}
		}
	}
}
