package grad_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

// Gradients from before a Reset, or before another Backward of their tape, are
// recognised like a Var that is stale: their memory is another's.
func TestStaleGrads(t *testing.T) {
	p := param(1, 3)
	uses := func(gs grad.Grads, x *grad.Var, fresh grad.Grads) map[string]func() {
		return map[string]func(){
			"Of": func() { gs.Of(x) }, "Param": func() { gs.Param(p) }, "Norm": func() { gs.Norm() },
			"NormOf": func() { gs.NormOf(1) }, "ClipNormOf": func() { gs.ClipNormOf(math.Inf(1), 1) },
			"ClipNorm": func() { gs.ClipNorm(1) }, "ClipValue": func() { gs.ClipValue(1) },
			"SumGrads, first": func() { grad.SumGrads(gs, fresh) }, "SumGrads, second": func() { grad.SumGrads(fresh, gs) },
			"MustLive": func() { gs.MustLive("test") },
		}
	}
	tape, other := grad.NewTape(1), grad.NewTape(1)
	fresh := other.Backward(other.Use(p).Sum())
	x := tape.Use(p)
	first := tape.Backward(x.Sum())
	second := tape.Backward(x.Square().Sum())
	for _, f := range uses(first, x, fresh) {
		misuse(t, "last Backward", f)
	}
	for what, f := range uses(second, x, fresh) {
		if r := elsewhere(f); r != nil {
			t.Errorf("%s of the last gradients: %v", what, r)
		}
	}
	tape.Reset()
	for _, f := range uses(second, nil, fresh) {
		misuse(t, "last Reset", f)
	}
	if own := (grad.Grads{{Param: p, Value: ones(3)}}); own.Param(p).Data[0] != 1 { // of no tape
		t.Error("gradients of no tape are stale")
	}
}

// Of several tapes the gradients add up, and the first tape's stay good.
func TestSumGradsOfTapes(t *testing.T) {
	p := param(1, 3)
	var all []grad.Grads
	var tapes []*grad.Tape
	for range 3 {
		tape := grad.NewTape(1)
		tapes, all = append(tapes, tape), append(all, tape.Backward(tape.Use(p).Scale(2).Sum()))
	}
	sum := grad.SumGrads(all...)
	tapes[1].Reset()
	if got := sum.Param(p).Data[0]; got != 6 {
		t.Errorf("the sum is %v, want 6", got)
	}
	misuse(t, "last Reset", func() { grad.SumGrads(all[0], all[1]) })
}
