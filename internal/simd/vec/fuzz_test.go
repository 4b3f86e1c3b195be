package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// Each target draws operands from the seed and does what the tests do with all
// small lengths.

func FuzzUnary(f *testing.F) {
	f.Add(uint64(1), uint8(10), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, u uint8, n uint16) {
		checkUnary(t, rand.New(rand.NewPCG(seed, 0)), Unary(u)%numUnary, int(n%1000))
	})
}

func FuzzBinary(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, b uint8, n uint16) {
		checkBinary(t, rand.New(rand.NewPCG(seed, 0)), Binary(b)%numBinary, int(n%1000))
	})
}

func FuzzReduce(f *testing.F) {
	f.Add(uint64(1), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		rng, size := rand.New(rand.NewPCG(seed, 0)), int(n%3000)
		checkSum64(t, rng, size)
		simdtest.Trial(t, "max", 0, [][]Float{{0}, simdtest.Draw(size, simdtest.Some(rng))}, func(s [][]Float) { s[0][0] = MaxOf(s[1]) })
		simdtest.Trial(t, "sum, dot", 1e-4, [][]Float{{0}, {0}, simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}, func(s [][]Float) {
			s[0][0], s[1][0] = Sum(s[2]), Dot(s[2], s[3])
		})
		simdtest.Trial(t, "products", 1e-6, [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}, func(s [][]Float) {
			Axpy(s[0], 0.7, s[1])
			MulAdd(s[0], s[1], s[2])
		})
	})
}

func FuzzSoftmaxRows(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(30))
	f.Fuzz(func(t *testing.T, seed uint64, width, rows uint8) {
		rng, n := rand.New(rand.NewPCG(seed, 0)), 1+int(width%70)
		x := simdtest.Draw(int(rows)*n, simdtest.Plain(rng))
		top := make([]Float, n)
		NoTop(top)
		simdtest.Trial(t, "rows", 1e-4, [][]Float{make([]Float, len(x)), x, top, simdtest.Draw(n, simdtest.NearOne(rng))}, func(s [][]Float) {
			TopRows(s[2], s[1])
			WeighRows(s[0], s[1], s[2], s[3])
			DivideRows(s[0], s[3])
		})
		simdtest.Trial(t, "softmax", 2e-6, [][]Float{make([]Float, n), simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { Softmax(s[0], s[1]) })
	})
}

func FuzzDropout(f *testing.F) {
	f.Add(uint64(1), uint16(64), uint8(3), 0.6)
	f.Add(uint64(1), uint16(20001), uint8(2), 0.1)
	f.Fuzz(func(t *testing.T, seed uint64, width uint16, rows uint8, p float64) {
		if p != p {
			p = 0.5
		}
		rng, n := rand.New(rand.NewPCG(seed, 0)), 1+int(width)
		size := n * min(int(rows), 1<<16/n+1)
		d := NewDropout(seed, 1, uint32(width), p)
		simdtest.Trial(t, "dropout", 1e-6, [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}, func(s [][]Float) { d.Add(s[0], s[1], int(rows), n) })
		simdtest.Trial(t, "set dropout", 0, [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.Some(rng))}, func(s [][]Float) { d.Set(s[0], s[1], int(rows), n) })
	})
}

func FuzzAdam(f *testing.F) {
	f.Add(uint64(1), uint16(33), 0.1)
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, decay float64) {
		if !(decay >= 0 && decay < 1) {
			decay = 0
		}
		rng, size := rand.New(rand.NewPCG(seed, 0)), int(n%3000)
		a := Adam{Rate: 0.01, Decay: Float(decay), Gain1: 0.1, Keep2: 0.99, Gain2: 0.01, Root: 3, Eps: 1e-8}
		s := [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}
		simdtest.Trial(t, "Adam", 1e-5, s, func(s [][]Float) { a.Step(s[0], s[1], s[2], s[3]) })
	})
}
