package fused_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// path is an attention and the pass that it takes.
type path struct {
	heads, width int
	change       func(k *fused.GAT)
	want         fused.Kind
	mixed        bool
}

// paths are the conditions of doc.go.
func paths() map[string]path {
	none := func(*fused.GAT) {}
	return map[string]path{
		"8 heads":               {8, 8, none, fused.Exponentials, false},
		"16 heads":              {16, 5, none, fused.Exponentials, false},
		"one head":              {1, 7, none, fused.Exponentials, false},
		"a mask":                {8, 8, func(k *fused.GAT) { m := tensor.NewMask(1, 2, 3, 0.5); k.Drop = &m }, fused.Exponentials, false},
		"a bias":                {8, 8, func(k *fused.GAT) { k.Bias = tensor.New(64) }, fused.Exponentials, false},
		"other heads":           {4, 8, none, fused.Tiles, false},
		"wide heads":            {8, 9, none, fused.Tiles, false},
		"a wide head":           {1, 9, none, fused.Tiles, false},
		"logits of edges":       {8, 8, func(k *fused.GAT) { k.Ee = tensor.New(k.In.NNZ(), 8) }, fused.Tiles, false},
		"weights":               {8, 8, func(k *fused.GAT) { k.Weight = tensor.New(k.In.NNZ(), 1) }, fused.Tiles, false},
		"a steep slope":         {8, 8, func(k *fused.GAT) { k.Slope = 1.5 }, fused.Tiles, false},
		"a slope below 0":       {8, 8, func(k *fused.GAT) { k.Slope = -0.5 }, fused.Tiles, false},
		"a source's logit":      {8, 8, func(k *fused.GAT) { k.El.Data[5] = 25 }, fused.Exponentials, true},
		"a destination's logit": {1, 7, func(k *fused.GAT) { k.Er.Data[5] = -25 }, fused.Exponentials, true},
	}
}

// of returns the attention on a random graph.
func (p path) of(rng *rand.Rand) *fused.GAT {
	a := random(rng, 30, 20, 150, false)
	k := &fused.GAT{In: a, El: normal(rng, 20, p.heads), Er: normal(rng, 30, p.heads), Ft: normal(rng, 20, p.heads, p.width), Slope: 0.2}
	p.change(k)
	return k
}

// The records say which pass ran.
func TestRecordsKind(t *testing.T) {
	for name, p := range paths() {
		k := p.of(rand.New(rand.NewPCG(1, 1)))
		rec := records(k)
		k.Forward(tensor.New(30, p.heads, p.width), rec)
		if rec.Kind != p.want || rec.Mixed != p.mixed {
			t.Errorf("%s: %v, mixed %t, want %v, %t", name, rec.Kind, rec.Mixed, p.want, p.mixed)
		}
	}
}

// Backward reads the records, whichever gradients are wanted, and sets Σα·dα alone: it can
// be called again, and what was kept for one pass is not turned into that of another.
func TestRecordsStay(t *testing.T) {
	for name, p := range paths() {
		rng := rand.New(rand.NewPCG(1, 2))
		k := p.of(rng)
		rec, out, dOut := records(k), tensor.New(30, p.heads, p.width), normal(rng, 30, p.heads, p.width)
		clear(rec.Data)
		k.Forward(out, rec)
		some := func() *fused.GATGrads {
			into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
			k.Backward(dOut, out, rec, into)
			return into
		}
		want := some()
		kept := append([]float(nil), rec.Data...)
		k.Backward(dOut, out, rec, gradsOf(k)) // of edges, too
		if rec.Kind != p.want {
			t.Errorf("%s: the records became those of %v", name, rec.Kind)
		}
		if !slices.Equal(rec.Data, kept) {
			t.Errorf("%s: the records changed", name)
		}
		got := some()
		for what, x := range map[string][2]*tensor.Dense{"El": {got.El, want.El}, "Er": {got.Er, want.Er}, "Ft": {got.Ft, want.Ft}} {
			compare.Equal(t, fmt.Sprintf("%s: %s again", name, what), x[0].Data, x[1].Data)
		}
	}
}

// Records that no Forward has set are refused, but where there is nothing to do.
func TestRecordsUnset(t *testing.T) {
	k := paths()["8 heads"].of(rand.New(rand.NewPCG(1, 3)))
	out := tensor.New(30, 8, 8)
	if tensor.Try(func() { k.Backward(out, out, records(k), gradsOf(k)) }) == nil {
		t.Error("Backward takes records that hold nothing")
	}
	var err error
	if k.In, err = sparse.New(30, 20, make([]int64, 31), nil, nil); err != nil {
		t.Fatal(err)
	}
	k.Backward(out, out, records(k), &fused.GATGrads{El: k.El.Like()})
}
