package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// steps returns an array of random multiples of ½, plus off. Sums of such
// arrays stay away from the kink of LeakyReLU at zero.
func steps(rng *rand.Rand, off float, shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	for i := range x.Data {
		x.Data[i] = float(rng.IntN(9)-4)/2 + off
	}
	return x
}

// attentions runs f on attentions with every combination of options, over
// matrices with empty rows, loops, duplicates and a hub.
func attentions(t *testing.T, pairs [][2]int, f func(t *testing.T, k *fused.GAT, rng *rand.Rand)) {
	for _, hd := range pairs {
		for options := range 12 {
			t.Run(fmt.Sprintf("%dx%d/%d", hd[0], hd[1], options), func(t *testing.T) {
				heads, d := hd[0], hd[1]
				rng := rand.New(rand.NewPCG(uint64(heads*1000+d), uint64(options)))
				a := random(rng, 8, 6, 20, false)
				k := &fused.GAT{
					In: a, Slope: 0.2,
					El: steps(rng, 0.07, 6, heads), Er: steps(rng, 0.05, 8, heads), Ft: normal(rng, 6, heads, d),
				}
				if options&1 != 0 {
					k.Ee = steps(rng, 0.03, a.NNZ(), heads)
				}
				if options&2 != 0 {
					drop := tensor.NewMask(1, 2, 3, 0.4)
					k.Drop = &drop
				}
				switch options / 4 {
				case 1:
					k.Weight = normal(rng, a.NNZ(), 1)
				case 2:
					k.Weight = normal(rng, a.NNZ(), heads)
				}
				f(t, k, rng)
			})
		}
	}
}

var headPairs = [][2]int{{1, 7}, {8, 8}, {4, 64}, {1, 3}, {6, 121}, {3, 5}}

// unfused is the attention by the loops of its definition and the other
// kernels: z and the softmax, the factors on it, and the result.
func unfused(k *fused.GAT, out *tensor.Dense) (z, alpha, factor *tensor.Dense) {
	a, heads := k.In, k.El.RowLen()
	z, factor = tensor.New(a.NNZ(), heads), tensor.New(a.NNZ(), heads)
	y := z.Like()
	for v := range a.NumRows {
		for e := int(a.Offsets[v]); e < int(a.Offsets[v+1]); e++ {
			for h := range heads {
				s := k.El.Row(int(a.Cols[e]))[h] + k.Er.Row(v)[h]
				if k.Ee != nil {
					s += k.Ee.Row(e)[h]
				}
				z.Row(e)[h], y.Row(e)[h] = s, s
				if s < 0 {
					y.Row(e)[h] = s * k.Slope
				}
				factor.Row(e)[h] = 1
				if k.Drop != nil {
					factor.Row(e)[h] = 0
					if k.Drop.Keeps(e, h) {
						factor.Row(e)[h] = float(k.Drop.Scale)
					}
				}
			}
		}
	}
	alpha = z.Like()
	sparse.Softmax{A: a}.Into(alpha, y)
	sparse.Product{A: a, Weights: times(alpha, factor, weights(k)), Add: true}.Into(out, k.Ft)
	return z, alpha, factor
}

// weights returns k's weights as nnz×H, of ones if it has none.
func weights(k *fused.GAT) *tensor.Dense {
	heads := k.El.RowLen()
	w := tensor.New(k.In.NNZ(), heads)
	for i := range w.Data {
		switch {
		case k.Weight == nil:
			w.Data[i] = 1
		case k.Weight.RowLen() == 1:
			w.Data[i] = k.Weight.Data[i/heads]
		default:
			w.Data[i] = k.Weight.Data[i]
		}
	}
	return w
}

// times is the product element by element.
func times(xs ...*tensor.Dense) *tensor.Dense {
	y := xs[0].Clone()
	for _, x := range xs[1:] {
		for i, v := range x.Data {
			y.Data[i] *= v
		}
	}
	return y
}

func TestAttentionForward(t *testing.T) {
	attentions(t, headPairs, func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		out, rec := normal(rng, k.In.NumRows, k.Ft.RowLen()), records(k)
		want := out.Like()
		unfused(k, want)
		k.Forward(out, rec)
		compare.Near(t, "out", out.Data, want.Data, rounded)
	})
}

// records returns records to be overwritten.
func records(k *fused.GAT) *fused.Records {
	return &fused.Records{Data: spoilt(k.RecordsLen())}
}

// gradsOf returns zero gradients of everything.
func gradsOf(k *fused.GAT) *fused.GATGrads {
	into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like(), Ee: tensor.New(k.In.NNZ(), k.El.RowLen())}
	if k.Weight != nil {
		into.Weight = k.Weight.Like()
	} else {
		into.Weight = into.Ee.Like()
	}
	return into
}

// The backward pass equals that of the unfused composition, kernel by kernel.
func TestAttentionBackward(t *testing.T) {
	attentions(t, headPairs, func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		a, heads := k.In, k.El.RowLen()
		out, dOut := tensor.New(a.NumRows, k.Ft.RowLen()), normal(rng, a.NumRows, k.Ft.RowLen())
		rec := records(k)
		k.Forward(out, rec)
		into, want := gradsOf(k), gradsOf(k)
		into.Er.Fill(3) // gradients are added
		want.Er.Fill(3)
		k.Backward(dOut, out, rec, into)

		z, alpha, factor := unfused(k, out.Like())
		w, g := weights(k), z.Like()
		sparse.Product{A: a, Weights: times(alpha, factor, w), Transpose: true, Add: true}.Into(want.Ft, dOut)
		sparse.Dots{A: a, Add: true}.Into(g, k.Ft, dOut)
		for i, v := range times(g, alpha, factor).Data {
			want.Weight.Data[i*want.Weight.RowLen()/heads] += v
		}
		sparse.Softmax{A: a, Add: true}.Grad(want.Ee, alpha, times(g, factor, w))
		for i, s := range z.Data {
			if s < 0 {
				want.Ee.Data[i] *= k.Slope
			}
		}
		for v := range a.NumRows {
			for e := int(a.Offsets[v]); e < int(a.Offsets[v+1]); e++ {
				for h, dz := range want.Ee.Row(e) {
					want.El.Row(int(a.Cols[e]))[h] += dz
					want.Er.Row(v)[h] += dz
				}
			}
		}
		compare.Near(t, "El", into.El.Data, want.El.Data, rounded)
		compare.Near(t, "Er", into.Er.Data, want.Er.Data, rounded)
		compare.Near(t, "Ft", into.Ft.Data, want.Ft.Data, rounded)
		compare.Near(t, "Ee", into.Ee.Data, want.Ee.Data, rounded)
		compare.Near(t, "Weight", into.Weight.Data, want.Weight.Data, rounded)
	})
}

func TestAttentionDifferences(t *testing.T) {
	attentions(t, [][2]int{{1, 3}, {3, 5}}, func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		out, dOut := tensor.New(k.In.NumRows, k.Ft.RowLen()), normal(rng, k.In.NumRows, k.Ft.RowLen())
		rec := records(k)
		f := func() float64 {
			k.Forward(out, rec)
			return inner(out, dOut)
		}
		f()
		into := gradsOf(k)
		k.Backward(dOut, out, rec, into)
		compare.Gradient(t, "El", k.El.Data, into.El.Data, f)
		compare.Gradient(t, "Er", k.Er.Data, into.Er.Data, f)
		compare.Gradient(t, "Ft", k.Ft.Data, into.Ft.Data, f)
		if k.Ee != nil {
			compare.Gradient(t, "Ee", k.Ee.Data, into.Ee.Data, f)
		}
		if k.Weight != nil {
			compare.Gradient(t, "Weight", k.Weight.Data, into.Weight.Data, f)
		}
	})
}

// A gradient that is not wanted changes nothing about the others.
func TestAttentionOneGradient(t *testing.T) {
	attentions(t, [][2]int{{3, 5}}, func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		out, dOut := tensor.New(k.In.NumRows, 15), normal(rng, k.In.NumRows, 15)
		rec := records(k)
		k.Forward(out, rec)
		all := gradsOf(k)
		k.Backward(dOut, out, rec, all)
		one := gradsOf(k)
		for _, into := range []*fused.GATGrads{{El: one.El}, {Er: one.Er}, {Ft: one.Ft}, {Ee: one.Ee}, {Weight: one.Weight}, {}} {
			k.Backward(dOut, out, rec, into)
		}
		compare.Equal(t, "El", one.El.Data, all.El.Data)
		compare.Equal(t, "Er", one.Er.Data, all.Er.Data)
		compare.Equal(t, "Ft", one.Ft.Data, all.Ft.Data)
		compare.Equal(t, "Ee", one.Ee.Data, all.Ee.Data)
		compare.Equal(t, "Weight", one.Weight.Data, all.Weight.Data)
	})
}

// lone returns an attention of one head and width over the edges from each of
// the sources to one destination, with logits el (Er is zero) and ft = 1, 2, ….
func lone(el ...float) *fused.GAT {
	cols := make([]int32, len(el))
	ft := tensor.New(len(el), 1, 1)
	for i := range cols {
		cols[i], ft.Data[i] = int32(i), float(i+1)
	}
	a, err := sparse.New(1, len(el), []int64{0, int64(len(el))}, cols, nil)
	if err != nil {
		panic(err)
	}
	return &fused.GAT{In: a, El: tensor.Of(el, len(el), 1), Er: tensor.New(1, 1), Ft: ft, Slope: 0.25}
}

func TestAttentionSlopeAtZero(t *testing.T) {
	k := lone(0, 0)
	out, rec := tensor.New(1, 1), records(k)
	k.Forward(out, rec)
	dOut := tensor.Of([]float{1}, 1, 1)
	into := gradsOf(k)
	k.Backward(dOut, out, rec, into)
	// α = ½ each and c = 1.5, so α(dα − c) is ∓¼, times the slope ¼.
	if into.El.Data[0] != -1.0/16 || into.El.Data[1] != 1.0/16 {
		t.Errorf("gradient %v, want ∓1/16: the slope at zero is the negative branch's", into.El.Data)
	}
}

func TestAttentionExtremes(t *testing.T) {
	inf := float(math.Inf(1))
	for _, test := range []struct {
		el  []float
		out float
	}{
		{[]float{-inf, -inf}, 0},
		{[]float{-inf, 2, -inf}, 2},
		{[]float{1e4, 0, 1e4}, 2},
		{[]float{inf, 3, inf}, 2},
		{[]float{-4e4, -8e4}, 1},
	} {
		k := lone(test.el...)
		out, rec := tensor.New(1, 1), records(k)
		k.Forward(out, rec)
		if out.Data[0] != test.out {
			t.Errorf("logits %v: out %v, want %v", test.el, out.Data[0], test.out)
		}
		into := gradsOf(k)
		k.Backward(tensor.Of([]float{1}, 1, 1), out, rec, into)
		for i, v := range into.El.Data {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("logits %v: gradient %d is %v", test.el, i, v)
			}
		}
	}
}

func TestAttentionShapes(t *testing.T) {
	fresh := func() *fused.GAT { return lone(1, 2, 3) }
	m := func(rows, cols int) *tensor.Dense { return tensor.New(rows, cols) }
	for i, call := range []func(){
		func() { fresh().Forward(m(2, 1), &fused.Records{Data: make([]float, 4)}) },
		func() { fresh().Forward(m(1, 1), &fused.Records{Data: make([]float, 5)}) },
		func() { fresh().Forward(m(1, 1), &fused.Records{}) },
		func() { k := fresh(); k.El = m(2, 1); k.Forward(m(1, 1), &fused.Records{Data: make([]float, 4)}) },
		func() { k := fresh(); k.Er = m(3, 1); k.Forward(m(1, 1), &fused.Records{Data: make([]float, 4)}) },
		func() { k := fresh(); k.Ft = m(1, 1); k.Forward(m(1, 1), &fused.Records{Data: make([]float, 4)}) },
		func() { k := fresh(); k.Ee = m(2, 1); k.Forward(m(1, 1), &fused.Records{Data: make([]float, 4)}) },
		func() { k := fresh(); k.Weight = m(3, 2); k.Forward(m(1, 1), &fused.Records{Data: make([]float, 4)}) },
		func() {
			k := fresh()
			k.El, k.Er = m(3, 2), m(1, 2)
			k.Ft = m(3, 5)
			k.Forward(m(1, 5), &fused.Records{Data: make([]float, 8)})
		},
	} {
		err, ok := tensor.Try(call).(*tensor.ShapeError)
		if !ok || err.Op != "attend.GAT.Forward" {
			t.Errorf("call %d: %v, want a ShapeError", i, err)
		}
	}
	for i, into := range []*fused.GATGrads{{El: m(1, 1)}, {Er: m(3, 1)}, {Ft: m(3, 2)}, {Ee: m(1, 1)}, {Weight: m(3, 2)}, {Weight: m(2, 1)}} {
		err, ok := tensor.Try(func() { fresh().Backward(m(1, 1), m(1, 1), &fused.Records{Data: make([]float, 4)}, into) }).(*tensor.ShapeError)
		if !ok || err.Op != "attend.GAT.Backward" {
			t.Errorf("gradient %d: %v, want a ShapeError", i, err)
		}
	}
}

// A gradient that is set is what one added to zeros is, whatever was there.
func TestAttentionSets(t *testing.T) {
	check := func(t *testing.T, k *fused.GAT, rng *rand.Rand) {
		out, dOut := tensor.New(k.In.NumRows, k.Ft.RowLen()), normal(rng, k.In.NumRows, k.Ft.RowLen())
		rec := records(k)
		k.Forward(out, rec)
		want := gradsOf(k)
		want.Ee, want.Weight = nil, nil
		k.Backward(dOut, out, rec, want)
		into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like(), Sets: fused.SetEl | fused.SetEr | fused.SetFt}
		for _, x := range []*tensor.Dense{into.El, into.Er, into.Ft} {
			x.Fill(float(math.NaN()))
		}
		k.Backward(dOut, out, rec, into)
		compare.Equal(t, "El", into.El.Data, want.El.Data)
		compare.Equal(t, "Er", into.Er.Data, want.Er.Data)
		compare.Equal(t, "Ft", into.Ft.Data, want.Ft.Data)
	}
	attentions(t, headPairs, check)
	t.Run("hub", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 0))
		a := hubs(t, rng)
		for _, shape := range [][2]int{{8, 8}, {1, 7}, {9, 3}} {
			h, d := shape[0], shape[1]
			check(t, &fused.GAT{In: a, El: normal(rng, a.NumCols, h), Er: normal(rng, a.NumRows, h), Ft: normal(rng, a.NumCols, h, d), Slope: 0.2}, rng)
		}
	})
	t.Run("no edges", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 0))
		a, err := sparse.New(2, 3, make([]int64, 3), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(t, &fused.GAT{In: a, El: normal(rng, 3, 2), Er: normal(rng, 2, 2), Ft: normal(rng, 3, 2, 4)}, rng)
	})
}

// A graph without nodes is an attention too.
func TestAttentionNoNodes(t *testing.T) {
	a, err := sparse.New(0, 0, []int64{0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []int{0, 4} {
		x, w := tensor.New(0, f), tensor.New(0, f/2)
		k := fused.GAT{In: a, El: w, Er: w, Ft: x}
		k.Forward(x.Like(), nil)
		k.Backward(x, x.Like(), nil, &fused.GATGrads{El: w.Like(), Er: w.Like(), Ft: x.Like()})
	}
}
