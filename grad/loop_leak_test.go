package grad_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Var that a sealed loop made is noticed outside of it: its header is used again, so later it
// would be another value. Inside, around and below it all is as it was.
func TestVarOfLoopOutside(t *testing.T) {
	tp := grad.NewTape(1)
	refused := func(x *grad.Var) (why string) {
		defer func() {
			if e, ok := recover().(*grad.TapeError); ok {
				why = e.Error()
			}
		}()
		x.Value()
		return ""
	}
	var kept, inner *grad.Var
	for range 2 {
		tp.Reset()
		x := tp.Watch(tensor.Of([]tensor.Float{1, 2}, 1, 2))
		outer := tape.BeginLoop(2, x)
		outer.Seal()
		frame := tape.NewFrame(grad.Begin("Test", x), 1, 2)
		y := x.Scale(3)
		within := tape.BeginLoop(2, y)
		within.Seal()
		inner = y.Scale(2) // what is around a loop may be read in it
		if why := refused(y); why != "" {
			t.Errorf("inside: %s", why)
		}
		within.End()
		if why := refused(inner); !strings.Contains(why, "Sweep's step") {
			t.Errorf("the inner loop's Var in the outer one: %q", why)
		}
		frame.Write(0, y)
		outer.End()
		loss := frame.Sorted(0, []int32{0}, []int32{0}).Sum()
		if gs := tp.Backward(loss); gs.Of(x).Data[0] != 3 {
			t.Errorf("the gradient is %v, want 3", gs.Of(x).Data)
		}
		if why := refused(y); !strings.Contains(why, "Sweep's step") {
			t.Errorf("outside: %q", why)
		}
		if kept != nil && refused(kept) == "" {
			t.Error("after a Reset the Var of the last step is another, and nobody says so")
		}
		kept = y
	}
}
