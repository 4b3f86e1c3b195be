package tape_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// doubled is 2x, and the pullback of that.
type doubled struct{ x *grad.Var }

func (n *doubled) Run(_ grad.Op, y *grad.Var) {
	for i, v := range n.x.Value().Data {
		y.Value().Data[i] = 2 * v
	}
}

func (n *doubled) Pull(dy *tensor.Dense) {
	dx, fresh := tape.FreshGrad(n.x)
	for i, g := range dy.Data {
		if fresh {
			dx.Data[i] = 0
		}
		dx.Data[i] += 2 * g
	}
}

// The operation of the package's comment gives what one of package grad gives, at once, late and in a loop.
func TestDouble(t *testing.T) {
	x := tensor.Of([]tensor.Float{1, 2, 3}, 3, 1)
	for name, record := range map[string]func(op grad.Op, y *grad.Var, n *doubled) *grad.Var{
		"at once": func(op grad.Op, y *grad.Var, n *doubled) *grad.Var {
			n.Run(op, y)
			return tape.RecordBy(op, y, n)
		},
		"late": func(op grad.Op, y *grad.Var, n *doubled) *grad.Var { return tape.RecordLate(op, y, n) },
	} {
		for _, loops := range []bool{false, true} {
			tp := grad.NewTape(1)
			w := tp.Watch(x)
			var loop tape.Loop
			if loops {
				if loop = tape.BeginLoop(3, w); !loop.OnTape() {
					t.Fatal("a loop of a watched value is on no tape")
				}
			}
			op := grad.Begin("Double", w)
			n := tape.Notes[doubled](op)
			n.x = w
			y := record(op, op.Fresh(3, 1), n)
			loop.End()
			if dx := tp.Backward(y.Sum()).Of(w).Data; !slices.Equal(y.Value().Data, []tensor.Float{2, 4, 6}) || !slices.Equal(dx, []tensor.Float{2, 2, 2}) {
				t.Errorf("%s, in a loop %v: %v with the gradient %v", name, loops, y.Value().Data, dx)
			}
		}
	}
}

// The zero Loop is one on no tape, which nothing need ask before it ends it, and a Var that is held is no projection.
func TestNothing(t *testing.T) {
	x := grad.Const(tensor.New(2, 8))
	loop := tape.BeginLoop(1, x)
	if loop.OnTape() || loop != (tape.Loop{}) {
		t.Error("a loop of constants is on a tape")
	}
	loop.Seal()
	loop.End()
	if y := loop.Read(x); y == x || &y.Value().Data[0] != &x.Value().Data[0] {
		t.Error("the rounds of a loop on no tape read another Var of the same elements")
	}
	if p := tape.Projected(x); p != nil {
		t.Errorf("a constant is the projection %v", p)
	}
}
