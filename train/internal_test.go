package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/weights"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Small Params are updated together, and large ones in parts; each number once, whatever the
// sizes, in an order that is theirs.
func TestSmallParamsGoTogether(t *testing.T) {
	for _, c := range []struct{ sizes, ends []int }{
		{[]int{1440, 1440, 1440, 1440}, []int{4}},
		{[]int{5, 0, 7}, []int{2}}, // nothing of the empty one
		{[]int{partSize, 1, partSize - 1, 1}, []int{1, 3, 4}},
		{[]int{2*partSize + 3, 4, partSize}, []int{1, 2, 4, 5}},
		{nil, nil},
	} {
		var p parts
		o := &SGD{}
		for i, n := range c.sizes {
			w := make([]tensor.Float, n)
			p.add(o, &slot{number: float64(i)}, update{w: w, g: slices.Repeat([]tensor.Float{-1}, n), rate: 1})
			defer func() {
				if slices.ContainsFunc(w, func(v tensor.Float) bool { return v != 1 }) {
					t.Errorf("%v: a number of Param %d is not updated once", c.sizes, i)
				}
			}()
		}
		if !slices.Equal(p.ends, c.ends) {
			t.Errorf("%v end at %v, want %v", c.sizes, p.ends, c.ends)
		}
		p.run(o)
	}
}

// A step of plain descent has the bits of its formula.
func TestPlainDescent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := grad.NewParam(37)
	p.Value.Normal(rng, 0, 1)
	g := tensor.New(37)
	g.Normal(rng, 0, 1)
	rate := tensor.Float(0.1)
	want := slices.Clone(p.Value.Data)
	for i, v := range g.Data {
		want[i] -= tensor.Float(rate * v)
	}
	(&SGD{LR: 0.1}).update(&update{w: p.Value.Data, g: g.Data, rate: 0.1})
	if !slices.Equal(p.Value.Data, want) {
		t.Errorf("a step gives %v, want %v", p.Value.Data, want)
	}
}

// TestNotFinite finds the first bad number at every place of short arrays and at
// some of long ones, and is not fooled by sums that overflow.
func TestNotFinite(t *testing.T) {
	largest := tensor.Float(math.MaxFloat32)
	if weights.Wide {
		v := math.MaxFloat64
		largest = tensor.Float(v)
	}
	nan, inf := math.NaN(), math.Inf(1)
	try := func(n, at int) {
		x := make([]tensor.Float, n)
		for i := range x {
			x[i] = largest
		}
		if v := notFinite(x); v != 0 {
			t.Fatalf("%d large numbers: found %v", n, v)
		}
		for _, bad := range []float64{nan, inf, -inf} {
			x[at] = tensor.Float(bad)
			if v := notFinite(x); v != bad && v == v {
				t.Fatalf("%v at %d of %d: found %v", bad, at, n, v)
			}
			x[at] = largest
		}
	}
	for n := 1; n <= 70; n++ {
		for at := range n {
			try(n, at)
		}
	}
	for _, at := range []int{0, 1<<16 - 1, 1 << 16, 199_999} {
		try(200_000, at)
	}
	if v := notFinite([]tensor.Float{1, tensor.Float(inf), tensor.Float(-inf), 2}); v != inf {
		t.Errorf("both infinities: found %v", v)
	}
	if notFinite(nil) != 0 {
		t.Error("found one in nothing")
	}
}
