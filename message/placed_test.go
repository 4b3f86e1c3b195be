package message_test

import (
	"fmt"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

// A bias after messages takes the memory of their reduction, with the value and the
// gradients of one beside it; not where a gradient reads the reduction.
func TestBiasInPlace(t *testing.T) {
	message.SetFuse(t, false)
	b := param(9, 3)
	for at, g := range graphs() {
		if g.NumDst() == 0 {
			continue
		}
		m := newModel(g)
		for _, red := range reducers {
			reduced := func(x operands) *grad.Var {
				return message.UpdateAll(g, message.U(x.u).Mul(message.E(x.e)).Add(message.V(x.v)), red)
			}
			ended := func(end func(y, b *grad.Var) *grad.Var) func(t *grad.Tape, x operands) *grad.Var {
				return func(t *grad.Tape, x operands) *grad.Var {
					return end(reduced(x), t.Use(b))
				}
			}
			what := fmt.Sprintf("%v on %s", red, at)
			got := outcome(m, ended(func(y, b *grad.Var) *grad.Var {
				z := y.AddBiasInPlace(b, grad.Identity)
				if in := &z.Value().Data[0] == &y.Value().Data[0]; in != (red != message.Std) {
					t.Errorf("%s: in place is %v", what, in)
				}
				return z
			}))
			want := outcome(m, ended(func(y, b *grad.Var) *grad.Var { return y.AddBias(b, grad.Identity) }))
			sameBits(t, what, got, want)
		}
	}
}
