package grad_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Weights and bias get their gradients together as they do one after the other,
// whichever of a layer's operands want one.
func TestLinearJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, size := range [][3]int{{3, 4, 5}, {5000, 16, 40}, {2100, 7, 16}, {2100, 7, 1}, {0, 2, 30}} {
		n, in, out := size[0], size[1], size[2]
		x, w, b := tensor.New(n, in), tensor.New(in, out), tensor.New(out)
		for _, d := range []*tensor.Dense{x, w, b} {
			d.Normal(rng, 0, 1)
		}
		for wanted := range 8 {
			run := func() (gs []*tensor.Dense) {
				tape := grad.NewTape(1)
				var vars []*grad.Var
				for i, d := range []*tensor.Dense{x, w, b} {
					if wanted>>i&1 == 1 {
						vars = append(vars, tape.Watch(d))
					} else {
						vars = append(vars, grad.Const(d))
					}
				}
				all := tape.Backward(vars[0].Linear(vars[1], vars[2], grad.Identity).Square().Sum())
				for i, v := range vars {
					if wanted>>i&1 == 1 {
						gs = append(gs, all.Of(v))
					}
				}
				return gs
			}
			if wanted == 0 {
				continue
			}
			apart := run()
			undo := grad.SetJointLeast(0)
			joint := run()
			undo()
			compare.Arrays(t, fmt.Sprint(size, wanted, " apart and joint"), apart, joint, compare.Off(1e-4, 1e-4))
		}
	}
}

// One Param may be weights and bias, or parts of it that share elements.
func TestLinearJointShared(t *testing.T) {
	defer grad.SetJointLeast(0)()
	x, w := tensor.New(20, 1), tensor.New(1, 32)
	x.Fill(2)
	tape := grad.NewTape(1)
	v := tape.Watch(w)
	g := tape.Backward(tape.Watch(x).Linear(v, v.Reshape(32), grad.Identity).Sum()).Of(v)
	for j, d := range g.Data {
		if d != 60 {
			t.Fatalf("the gradient at %d is %v, want 60", j, d)
		}
	}
}
