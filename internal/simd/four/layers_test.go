//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestDropRows(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, n, row, column, add := rng.IntN(5), rng.IntN(30), rng.IntN(1000), rng.IntN(50), rng.IntN(2)
		ds, ss := n+rng.IntN(3), n+rng.IntN(3)
		dst, src := drawn(rng, rows*ds, positive(rng)), drawn(rng, rows*ss, positive(rng))
		k0, k1, below, scale := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1
		want := wide(dst.x)
		for i := range rows {
			for j := range n {
				want[i*ds+j] = want[i*ds+j]*float64(add) + float64(src.x[i*ss+j])*float64(factorOf(k0, k1, below, scale, row+i, column+j))
			}
		}
		m := NewMask(k0, k1, below, columnKey, scale, column)
		DropRows(dst.at(0), src.at(0), unsafe.Pointer(&m), rows, n, 4*ds, 4*ss, row, add)
		dst.intact(t, "DropRows")
		near(t, "DropRows", dst.x, want, 2)
	})
}

func TestDropELU(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, row, column := rng.IntN(40), rng.IntN(1000), rng.IntN(50)
		dst, src, bias, dy := drawn(rng, n, normal(rng)), drawn(rng, n, spread(rng)), drawn(rng, n, normal(rng)), drawn(rng, n, normal(rng))
		k0, k1, below, scale := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1
		m := NewMask(k0, k1, below, columnKey, scale, column)
		DropELU(dst.at(0), src.at(0), bias.at(0), unsafe.Pointer(&m), unsafe.Pointer(&Table), n, row)
		dst.intact(t, "DropELU")
		want, slope := make([]float64, n), make([]float64, n)
		for j := range n {
			v, keeps := float64(src.x[j]+bias.x[j]), factorOf(k0, k1, below, 1, row, column+j) == 1
			want[j] = pick(v, v, math.Expm1(v))*float64(scale) + 0
			if dropped := dst.x[j] == 0 && math.Signbit(float64(dst.x[j])); dropped == keeps {
				t.Fatalf("DropELU: element %d of %d is %v, kept: %t", j, n, dst.x[j], keeps)
			}
			if slope[j] = float64(dy.x[j]) * (float64(scale) + min(float64(dst.x[j]), 0)); !keeps {
				want[j], slope[j] = 0, 0
			}
		}
		near(t, "DropELU", dst.x, want, 6)
		dx := drawn(rng, n, normal(rng))
		DropELUSlope(dx.at(0), dy.at(0), dst.at(0), n, scale)
		dx.intact(t, "DropELUSlope")
		for j, v := range slope { // the sum loses what both have in common
			if off := math.Abs(float64(dx.x[j]) - v); off > 0x1p-22*float64(scale)*math.Abs(float64(dy.x[j])) {
				t.Fatalf("DropELUSlope: element %d is %v, want %v", j, dx.x[j], v)
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, add := 1+rng.IntN(70), rng.IntN(2)
		x, y, dy, dx := drawn(rng, n, spread(rng)), drawn(rng, n, normal(rng)), drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng))
		top := Max(x.at(0), n)
		largest, sum := float32(math.Inf(-1)), 0.0
		for _, v := range x.x {
			largest = max(largest, v)
		}
		if top != largest {
			t.Fatalf("Max is %v, want %v", top, largest)
		}
		want := wide(x.x)
		for i, v := range x.x {
			want[i] = math.Exp(float64(v - top))
			sum += want[i]
		}
		got := ExpSum(y.at(0), x.at(0), unsafe.Pointer(&Table), n, top)
		y.intact(t, "ExpSum")
		near(t, "ExpSum", append([]float32{got}, y.x...), append([]float64{sum}, want...), float64(n+4))
		near(t, "ExpSum, each", y.x, want, 4)
		for i := range want {
			want[i] /= float64(got)
		}
		DivideBy(y.at(0), y.at(0), n, got)
		y.intact(t, "DivideBy")
		near(t, "DivideBy", y.x, want, 5)
		grads := wide(dx.x)
		for i := range grads {
			grads[i] = grads[i]*float64(add) + float64(y.x[i])*(float64(dy.x[i])+1)
		}
		SoftmaxSlope(dx.at(0), dy.at(0), y.at(0), n, add, -1)
		dx.intact(t, "SoftmaxSlope")
		near(t, "SoftmaxSlope", dx.x, grads, 4)
	})
	x := drawn(rand.New(rand.NewPCG(1, 1)), 37, func() float32 { return 1 })
	for i := range x.x {
		x.x[i] = float32(math.NaN())
		if got := Max(x.at(0), 37); got == got && !maxLosesNaN {
			t.Errorf("Max with a NaN at %d is %v", i, got)
		}
		x.x[i] = 1
	}
}

func TestNormalise(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, add := rng.IntN(40), rng.IntN(2)
		pos := positive(rng)
		x, gain, with, y, g := drawn(rng, n, pos), drawn(rng, n, pos), drawn(rng, n, pos), drawn(rng, n, pos), drawn(rng, n, pos)
		mean, rest, scale, slope, at0 := -pos(), float32(-1e-6), pos(), pos(), pos()
		by, plus := gain.at(0), with.at(0)
		if rng.IntN(2) == 0 {
			by = nil
		}
		if rng.IntN(2) == 0 {
			plus = nil
		}
		want, grads, gains, sums := wide(y.x), wide(y.x), wide(gain.x), wide(with.x)
		for i, v := range x.x {
			d := float64(v) - float64(mean) - float64(rest)
			grads[i] = grads[i]*float64(add) + d*float64(slope) + float64(at0) + float64(scale)*float64(g.x[i])
			gains[i] += d * float64(scale) * float64(g.x[i])
			if want[i] = d * float64(scale); by != nil {
				want[i] *= float64(gain.x[i])
			}
			if plus != nil {
				want[i] += float64(with.x[i])
				sums[i] += float64(g.x[i])
			}
		}
		NormaliseSlope(y.at(0), g.at(0), x.at(0), n, add, mean, rest, scale, slope, at0)
		near(t, "NormaliseSlope", y.x, grads, 8)
		Normalise(y.at(0), x.at(0), by, plus, n, mean, rest, scale)
		near(t, "Normalise", y.x, want, 8)
		NormaliseSums(gain.at(0), plus, x.at(0), g.at(0), n, mean, rest, scale)
		near(t, "NormaliseSums, gain", gain.x, gains, 8)
		near(t, "NormaliseSums, bias", with.x, sums, 2)
		for _, r := range []*room{y, gain, with} {
			r.intact(t, "Normalise")
		}
	})
}

func TestFactorColumn(t *testing.T) {
	each(t, 60, func(t *testing.T, rng *rand.Rand) {
		n, row, column := 4*rng.IntN(9), rng.IntN(1000), rng.IntN(50)
		k0, k1, below, scale := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1
		to := drawn(rng, n, normal(rng))
		FactorColumn(to.at(0), n, row+int(k0), int(k1), column*columnKey, int(below), scale)
		to.intact(t, "FactorColumn")
		for i, v := range to.x {
			if want := factorOf(k0, k1, below, scale, row+i, column); v != want {
				t.Fatalf("FactorColumn: row %d is %v, want %v", row+i, v, want)
			}
		}
	})
}
