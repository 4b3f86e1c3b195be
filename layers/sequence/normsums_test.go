package sequence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The gradients of norms, which all levels of a sweep add up together, are the same when a tape
// is differentiated again and behind a checkpoint; those of some frozen are none, and nothing
// happens on a tape that evaluates.
func TestNormSums(t *testing.T) {
	const in, m = 3, 20
	g, x := graph.Chains(4, 70, 2, 9), random(1, 85, in) // levels of a row to four, one chunk
	wide := graph.Chains(slices.Repeat([]int{3}, 130)...)
	wx := random(2, 390, in)
	l := &sequence.LSTM{In: in, Hidden: m, LayerNorm: true}
	l.Init(rand.New(rand.NewPCG(4, 1)))
	norms := []*grad.Param{l.GainX, l.B, l.GainH, l.GainC, l.BiasC}
	take := func(grads grad.Grads) (out [][]tensor.Float) {
		for _, p := range norms {
			out = append(out, slices.Clone(grads.Param(p).Data))
		}
		return out
	}
	same := func(what string, got, want [][]tensor.Float) {
		t.Helper()
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: gradient %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	for what, of := range map[string]struct {
		g *graph.Graph
		x *grad.Param
	}{"a chunk": {g, x}, "some chunks": {wide, wx}} {
		tp := grad.NewTape(1)
		y := l.Forward(tp, of.g, tp.Use(of.x)).Sum()
		want := take(tp.Backward(y))
		same(what+", again", take(tp.Backward(y)), want)
		tp = grad.NewTape(1)
		y = tp.Checkpoint(func(xs ...*grad.Var) *grad.Var { return l.Forward(tp, of.g, xs[0]) }, tp.Use(of.x))
		same(what+", behind a checkpoint", take(tp.Backward(y.Sum())), want)

		l.GainX.Frozen, l.BiasC.Frozen = true, true
		tp = grad.NewTape(1)
		grads := tp.Backward(l.Forward(tp, of.g, tp.Use(of.x)).Sum())
		l.GainX.Frozen, l.BiasC.Frozen = false, false
		for i, p := range norms {
			if d := grads.Param(p); i == 0 || i == 4 {
				if d != nil {
					t.Errorf("%s: frozen Param %d has a gradient", what, i)
				}
			} else if !slices.Equal(d.Data, want[i]) {
				t.Errorf("%s: beside frozen ones gradient %d is %v, want %v", what, i, d.Data, want[i])
			}
		}
		for _, p := range norms {
			p.Frozen = true
		}
		tp = grad.NewTape(1)
		if tp.Backward(l.Forward(tp, of.g, tp.Use(of.x)).Sum()).Param(of.x) == nil {
			t.Errorf("%s: beside frozen norms x has no gradient", what)
		}
		for _, p := range norms {
			p.Frozen = false
		}
	}
}
