package grad_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// threes is a gradient of p that is 3 everywhere.
func threes(p *grad.Param) grad.Grads {
	g := p.Value.Like()
	g.Fill(3)
	return grad.Grads{{Param: p, Value: g}}
}

// TestClipLimits: nothing grows, watched values are left alone, and what is not
// finite is not hidden.
func TestClipLimits(t *testing.T) {
	p, watched := grad.NewParam(5), tensor.New(5)
	watched.Fill(100)
	gs := append(threes(p), grad.Grad{Value: watched})
	if norm := gs.ClipNorm(1); math.Abs(norm-3*math.Sqrt(5)) > 1e-6 || math.Abs(gs.Norm()-1) > 1e-6 {
		t.Errorf("the norm was %v and is %v", norm, gs.Norm())
	}
	gs.ClipValue(50)
	if watched.Data[0] != 100 {
		t.Error("a watched value was clipped")
	}
	for _, limit := range []float64{-1, math.NaN()} {
		for op, clip := range map[string]func(){"ClipNorm": func() { gs.ClipNorm(limit) }, "ClipValue": func() { gs.ClipValue(limit) }} {
			func() {
				defer func() {
					if e, ok := recover().(*grad.TapeError); !ok || e.Op != op {
						t.Errorf("%s of %v: %v", op, limit, e)
					}
				}()
				clip()
			}()
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		gs := threes(p)
		gs[0].Value.Data[2] = tensor.Float(bad)
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			if norm := gs.ClipNormOf(p, 1); norm-norm == 0 || gs[0].Value.Data[1] != 3 {
				t.Errorf("%v: the norm of %v is %v, the gradient %v", bad, p, norm, gs[0].Value.Data)
			}
		}
		gs.ClipValue(2)
		if v := float64(gs[0].Value.Data[2]); math.IsNaN(bad) != math.IsNaN(v) || math.Abs(v) > 2 {
			t.Errorf("%v was clipped to %v", bad, v)
		}
	}
}

// TestNormOf: the power of a norm is above 0, and norms of threes are known.
func TestNormOf(t *testing.T) {
	p := grad.NewParam(5)
	for power, want := range map[float64]float64{1: 15, 2: 3 * math.Sqrt(5), 3: 3 * math.Cbrt(5), 0.5: 75, math.Inf(1): 3} {
		gs := threes(p)
		if norm := gs.ClipNormOf(power, 1); math.Abs(norm-want) > 1e-5*want || math.Abs(gs.NormOf(power)-1) > 1e-5 {
			t.Errorf("the norm of %v was %v, want %v, and is %v", power, norm, want, gs.NormOf(power))
		}
	}
	for _, power := range []float64{0, -1, math.NaN()} {
		func() {
			defer func() {
				if _, ok := recover().(*grad.TapeError); !ok {
					t.Errorf("the power %v is taken", power)
				}
			}()
			threes(p).NormOf(power)
		}()
	}
}

// TestClipTogether: one norm over all Params, so that a huge one shrinks the others with it,
// and the direction stays; of two micro-batches it is the sum that is clipped.
func TestClipTogether(t *testing.T) {
	huge, small := grad.NewParam(2), grad.NewParam(3)
	gradients := func(a, b tensor.Float) grad.Grads {
		gs := grad.Grads{{Param: huge, Value: huge.Value.Like()}, {Param: small, Value: small.Value.Like()}}
		gs[0].Value.Fill(a)
		gs[1].Value.Fill(b)
		return gs
	}
	gs := gradients(1000, 1)
	norm := gs.ClipNorm(1)
	if want := math.Sqrt(2e6 + 3); math.Abs(norm-want) > 1e-3 {
		t.Errorf("the norm is %v, want %v", norm, want)
	}
	for i, v := range []float64{1000, 1} {
		for _, got := range gs[i].Value.Data {
			if want := v / norm; math.Abs(float64(got)-want) > 1e-5*want {
				t.Errorf("%v became %v, want %v: the direction is another", v, got, want)
			}
		}
	}
	sum := gradients(3, 0)
	for i, half := range gradients(-2.5, 0.1) { // each would be clipped by itself, their sum is not
		sum[i].Value.Add(half.Value)
	}
	sum.ClipNorm(1)
	if got := sum[0].Value.Data[0]; got != 0.5 {
		t.Errorf("the sum of both was clipped to %v", got)
	}
}

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
