package vec

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// ofUnary is a place in a function of one number.
func ofUnary(u Unary, lo, hi float64) simdtest.Exponential {
	return simdtest.Exponential{Name: u.String(), Lo: lo, Hi: hi, F: oracle[u].f, Run: func(y, x []Float) { u.Forward(y, x, 0.3) }}
}

// exponentialsOfRows are the places among functions of elements and rows.
func exponentialsOfRows() []simdtest.Exponential {
	zeros := make([]Float, 8)
	small := func(name string, run func(y, x []Float)) simdtest.Exponential {
		return simdtest.Exponential{Name: name, Lo: -math.Ln2 / 2, Hi: -0.02, F: math.Expm1, Bound: 3e-8, Run: run}
	}
	return []simdtest.Exponential{
		ofUnary(Exp, -86, 86), ofUnary(Exp, 87.1, 88.6), ofUnary(Sigmoid, -80, -18), ofUnary(Softplus, -80, -18),
		ofUnary(SiLU, -80, -18), ofUnary(SiLU, -90, -87.2),
		{Name: "the sigmoid's slope", Lo: -80, Hi: -18, Run: func(y, x []Float) {
			one := make([]Float, len(x))
			for i := range one {
				one[i] = 1
			}
			Sigmoid.Forward(y, x, 0)
			Softplus.SetBackward(y, one, x, y, 0)
		}},
		small("ELU", func(y, x []Float) { ELU.Forward(y, x, 1) }),
		small("ELU under a dropout", func(y, x []Float) {
			d := NewDropout(1, 2, 3, 0)
			d.Scale = 1
			d.ELU(y, x, zeros, 0)
		}),
		{Name: "Softmax of a row", Lo: -80, Hi: -18, Run: func(y, x []Float) {
			in := append([]Float{0}, x...)
			out := make([]Float, len(in))
			expInto(out, in, 0)
			copy(y, out[1:])
		}},
		{Name: "ExpRows", Lo: -80, Hi: 0, Run: func(y, x []Float) { ExpRows(y, x, zeros) }},
		{Name: "WeighRows", Lo: -80, Hi: 0, Run: func(y, x []Float) { WeighRows(y, x, zeros, make([]Float, 8)) }},
	}
}

func TestExponentials(t *testing.T) { simdtest.CheckExponentials(t, exponentialsOfRows()) }
