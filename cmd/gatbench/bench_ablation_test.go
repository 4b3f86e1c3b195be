package main

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ablated returns two trainings on Cora, the second without something.
func ablated(t *testing.T, a ablation, dropout float64) (whole, part *gatEpoch) {
	t.Helper()
	k, r, err := openPeers(trainChoice{epochs: 1, seed: 3}, "gat", "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = dropout, dropout
	if whole, err = newGATEpoch(k, r); err != nil {
		t.Fatal(err)
	}
	if part, err = newGATEpoch(k, r); err != nil {
		t.Fatal(err)
	}
	a.leave(part)
	return whole, part
}

// Without dropout, whatever is left out, steps lead to the same weights.
func TestAblationsAgree(t *testing.T) {
	for _, a := range ablations {
		t.Run(a.without, func(t *testing.T) {
			whole, part := ablated(t, a, 0)
			for range 3 {
				whole.run()
				part.run()
			}
			for name, p := range grad.Params(part.net) {
				if d := distance(p.Value, paramOf(whole.net, name).Value); !(d < 1e-3) {
					t.Errorf("%s differs by %g after three steps", name, d)
				}
			}
		})
	}
}

func paramOf(n *network, name string) *grad.Param {
	for other, p := range grad.Params(n) {
		if other == name {
			return p
		}
	}
	return nil
}

func distance(a, b *tensor.Dense) float64 {
	most := 0.0
	for i, v := range a.Data {
		most = max(most, math.Abs(float64(v-b.Data[i])))
	}
	return most
}

// With dropout each learns, and an evaluation drops nothing.
func TestAblationsLearn(t *testing.T) {
	for _, a := range ablations {
		if testing.Short() && a.without == "all" {
			continue
		}
		t.Run(a.without, func(t *testing.T) {
			_, part := ablated(t, a, 0.6)
			loss := func() float64 {
				part.t.ResetEval()
				return float64(part.forward(part.t, part.step).CrossEntropy(part.labels).Value().Data[0])
			}
			before := loss()
			if again := loss(); again != before {
				t.Errorf("the loss is %v, then %v", before, again)
			}
			for range 8 {
				part.run()
			}
			if after := loss(); !(after < before) {
				t.Errorf("the loss goes from %v to %v", before, after)
			}
		})
	}
}

// What is left out is really not there during an epoch, and back after it.
func TestAblationsUndone(t *testing.T) {
	path := simd.Path()
	for _, a := range ablations {
		if a.without != "assembly" && a.without != "memory" {
			continue
		}
		_, part := ablated(t, a, 0.6)
		during, tape := "", part.t
		attend := part.attend
		part.attend = func(t *grad.Tape, g *graph.Graph, l *layers.GATConv, x *grad.Var) *grad.Var {
			during = simd.Path()
			return attend(t, g, l, x)
		}
		part.run()
		if a.without == "assembly" && during != "go" || a.without == "memory" && (during != path || part.t == tape || part.t.Step() != 1) {
			t.Errorf("%s: kernels %q, new tape %v, step %d", a.without, during, part.t != tape, part.t.Step())
		}
		if simd.Path() != path {
			t.Errorf("%s: the kernels are %q afterwards, and were %q", a.without, simd.Path(), path)
		}
	}
}

// Drawn masks drop the fraction that they should, keep the mean, and leave an
// evaluation alone; of sparse features only what is stored is drawn.
func TestDrawnMasks(t *testing.T) {
	_, part := ablated(t, ablations[slices.IndexFunc(ablations, func(a ablation) bool { return a.without == "dropout" })], 0.6)
	tape := grad.NewTape(1)
	tape.Reset()
	x := tensor.New(200, 50)
	x.Fill(1)
	y := part.drop(tape, grad.Const(x), 0.6).Value()
	a := part.step.x.Sparse()
	kept, stored := fraction(y.Data, 2.5), make([]tensor.Float, a.NNZ())
	dropped := part.drop(tape, part.step.x, 0.6).Sparse()
	for i, v := range dropped.Values {
		stored[i] = v / a.Values[i]
	}
	if also := fraction(stored, 2.5); math.Abs(kept-0.4) > 0.02 || math.Abs(also-0.4) > 0.02 {
		t.Errorf("%.3f of a dense array is kept and %.3f of a sparse one, want 0.4", kept, also)
	}
	if x := grad.Const(x); part.drop(grad.NewEval(), x, 0.6) != x {
		t.Error("an evaluation drops")
	}
}

// fraction returns how many of the elements are v, and fails to be a number if any
// is neither that nor zero.
func fraction(x []tensor.Float, v float64) float64 {
	n := 0
	for _, e := range x {
		switch {
		case math.Abs(float64(e)-v) < 1e-5:
			n++
		case e != 0:
			return math.NaN()
		}
	}
	return float64(n) / float64(len(x))
}
