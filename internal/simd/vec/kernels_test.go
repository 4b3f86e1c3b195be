package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// tolerances are the relative errors of functions whose tails come from the
// exponential of a rounded number of up to 87, forwards and backwards.
var tolerances = map[Unary][2]float64{
	SiLU:     {4e-7, 1e-5}, // the slope crosses zero
	GELU:     {2e-6, 2e-5},
	GELUTanh: {2e-5, 2e-4},
	SELU:     {5e-7, 1e-6},
}

// flat reports whether the slope of u crosses zero near x, so that no relative
// error holds.
func flat(u Unary, x Float) bool {
	switch u {
	case SiLU:
		return x > -1.6 && x < -1
	case GELU, GELUTanh:
		return x > -1.1 && x < -0.5
	}
	return false
}

func checkUnary(t *testing.T, rng *rand.Rand, u Unary, n int) {
	t.Helper()
	c, tol := Float(0.3), [2]float64{4e-7, 1e-6}
	if w, ok := tolerances[u]; ok {
		tol = w
	}
	simdtest.Trial(t, u.String(), tol[0], [][]Float{simdtest.Draw(n, simdtest.Plain(rng)), simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { u.Forward(s[0], s[1], c) })
	simdtest.Trial(t, u.String()+" in place", tol[0], [][]Float{simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { u.Forward(s[0], s[0], c) })
	x := simdtest.Draw(n, simdtest.Some(rng))
	for i, v := range x {
		if flat(u, v) {
			x[i] = -2
		}
	}
	y := make([]Float, n)
	u.forwardGo(y, x, c)
	dx := make([]Float, n) // zero, so that nothing cancels
	simdtest.Trial(t, u.String()+" backward", tol[1], [][]Float{dx, simdtest.Draw(n, simdtest.Plain(rng)), x, y}, func(s [][]Float) { u.Backward(s[0], s[1], s[2], s[3], c) })
	simdtest.Trial(t, u.String()+" backward, set", tol[1], [][]Float{simdtest.Draw(n, simdtest.Some(rng)), simdtest.Draw(n, simdtest.Plain(rng)), x, y}, func(s [][]Float) { u.SetBackward(s[0], s[1], s[2], s[3], c) })
}

func TestAsmUnary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for u := range numUnary {
		t.Run(u.String(), func(t *testing.T) {
			for _, n := range simdtest.Lengths() {
				checkUnary(t, rng, u, n)
			}
			checkUnary(t, rng, u, 17000) // more than one call
			simdtest.Trial(t, u.String(), max(4e-7, tolerances[u][0]), [][]Float{make([]Float, len(simdtest.Special)), simdtest.Special}, func(s [][]Float) { u.Forward(s[0], s[1], 1) })
		})
	}
}

// Gradients are added to what is there.
func TestUnaryBackwardAdds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for u := range numUnary {
		x, dy := simdtest.Draw(37, simdtest.Plain(rng)), simdtest.Draw(37, simdtest.Plain(rng))
		for i := range x {
			x[i] = Float(math.Abs(float64(x[i]))) + 0.1
		}
		y, once, twice := make([]Float, 37), make([]Float, 37), make([]Float, 37)
		u.Forward(y, x, 0.3)
		u.Backward(once, dy, x, y, 0.3)
		u.Backward(twice, dy, x, y, 0.3)
		u.Backward(twice, dy, x, y, 0.3)
		doubled := make([]Float, len(once))
		for i, v := range once {
			doubled[i] = 2 * v
		}
		compare.Near(t, u.String()+" twice", twice, doubled, simdtest.Rounded(1e-6))
	}
}

// An element has the same bits wherever it stands, whatever stands beside it.
func TestUnaryPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := simdtest.Draw(400, simdtest.Some(rng))
	for u := range numUnary {
		whole := make([]Float, len(x))
		u.Forward(whole, x, 0.3)
		for lo := range x {
			part := make([]Float, min(1+lo%37, len(x)-lo))
			u.Forward(part, x[lo:lo+len(part)], 0.3)
			compare.Near(t, fmt.Sprintf("%v of a part from %d on, and in the whole", u, lo), part, whole[lo:lo+len(part)], compare.SameBits.OrNaN())
		}
	}
}

// The error of exp stays within 2e-7 as long as the result is normal, and
// denormal results are right to the last bit but one.
func TestExpError(t *testing.T) {
	worst, at := 0.0, Float(0)
	x, y := make([]Float, 1000), make([]Float, 1000)
	for lo := -104.5; lo < 89; lo += 0.5 {
		for i := range x {
			x[i] = Float(lo + float64(i)*0.0005)
		}
		Exp.Forward(y, x, 0)
		for i, v := range y {
			want := math.Exp(float64(x[i]))
			switch {
			case want > math.MaxFloat32*(1+1e-7):
				if Float(want) != v && !math.IsInf(float64(v), 1) {
					t.Fatalf("exp %v = %v", x[i], v)
				}
			case want < 1.1754944e-38:
				if math.Abs(float64(v)-want) > 3e-45 {
					t.Fatalf("exp %v = %v, want %v", x[i], v, want)
				}
			case math.Abs(float64(v)/want-1) > worst:
				worst, at = math.Abs(float64(v)/want-1), x[i]
			}
		}
	}
	t.Logf("largest relative error %.2g, at %v", worst, at)
	if worst > 2e-7 {
		t.Errorf("relative error %.2g at %v", worst, at)
	}
}

func TestAsmBinary(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for b := range numBinary {
		for _, n := range simdtest.Lengths() {
			checkBinary(t, rng, b, n)
		}
		checkBinary(t, rng, b, 17000) // more than one call
	}
}

// checkBinary compares forwards and, to the bit, what is added to a zero
// gradient.
func checkBinary(t *testing.T, rng *rand.Rand, b Binary, n int) {
	t.Helper()
	for _, step := range [][2]int{{1, 1}, {1, 0}, {0, 1}, {0, 0}} {
		sx, sy := step[0], step[1]
		nx, ny := max(1, n*sx), max(1, n*sy)
		name := fmt.Sprint(b, step)
		dz, x, y := simdtest.Draw(n, simdtest.Some(rng)), simdtest.Draw(nx, simdtest.Some(rng)), simdtest.Draw(ny, simdtest.Some(rng))
		for i := range min(nx, ny) {
			if rng.IntN(4) == 0 {
				x[i] = y[i] // ties
			}
		}
		simdtest.Trial(t, name, 0, [][]Float{simdtest.Draw(n, simdtest.Plain(rng)), x, y}, func(s [][]Float) {
			b.Forward(s[0], s[1], s[2], sx, sy)
		})
		if sx == 1 && sy == 1 {
			simdtest.Trial(t, name+" streamed", 0, [][]Float{simdtest.Draw(n, simdtest.Plain(rng)), x, y}, func(s [][]Float) { b.Stream(s[0], s[1], s[2]) })
		}
		simdtest.Trial(t, name+" backward x", 0, [][]Float{make([]Float, nx), dz, x, y}, func(s [][]Float) {
			b.BackwardX(s[0], s[1], s[2], s[3], sx, sy)
		})
		simdtest.Trial(t, name+" backward y", 0, [][]Float{make([]Float, ny), dz, x, y}, func(s [][]Float) {
			b.BackwardY(s[0], s[1], s[2], s[3], sx, sy)
		})
		plus := func(n int) []Float { return simdtest.Draw(n, simdtest.NearOne(rng)) } // so that sums have no cancellation
		simdtest.Trial(t, name+" backward x, adding", 1e-5, [][]Float{plus(nx), plus(n), plus(nx), plus(ny)}, func(s [][]Float) {
			b.BackwardX(s[0], s[1], s[2], s[3], sx, sy)
		})
		if b != Sub && b != Div { // which take away
			simdtest.Trial(t, name+" backward y, adding", 1e-5, [][]Float{plus(ny), plus(n), plus(nx), plus(ny)}, func(s [][]Float) {
				b.BackwardY(s[0], s[1], s[2], s[3], sx, sy)
			})
		}
	}
}

func TestAsmReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range simdtest.Lengths() {
		sizes := []int{n}
		if n <= 32 || n == 195 { // each rest behind several calls
			sizes = append(sizes, n+17000)
		}
		for _, size := range sizes {
			x, y := simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))
			simdtest.Trial(t, "sum, dot", 1e-3*float64(size)/17000+1e-6, [][]Float{{0}, {0}, x, y}, func(s [][]Float) {
				s[0][0], s[1][0] = Sum(s[2]), Dot(s[2], s[3])
			})
			simdtest.Trial(t, "axpy", 1e-6, [][]Float{x, y}, func(s [][]Float) { Axpy(s[0], 0.7, s[1]) })
			simdtest.Trial(t, "mulAdd", 1e-6, [][]Float{x, y, simdtest.Draw(size, simdtest.NearOne(rng))}, func(s [][]Float) { MulAdd(s[0], s[1], s[2]) })
			checkSum64(t, rng, size)
		}
		simdtest.Trial(t, "max", 0, [][]Float{{0}, simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { s[0][0] = MaxOf(s[1]) })
		simdtest.Trial(t, "max", 0, [][]Float{{0}, simdtest.Draw(n, func() Float { return -1 - Float(rng.Float64()) })}, func(s [][]Float) { s[0][0] = MaxOf(s[1]) })
		for i := range n {
			x := simdtest.Draw(n, simdtest.Plain(rng))
			x[i] = Float(math.NaN())
			if m := MaxOf(x); m == m {
				t.Fatalf("the largest of %d with a NaN at %d is %v", n, i, m)
			}
		}
	}
}

// checkSum64 compares with a sum in plain Go, of numbers that lose all their
// digits in float32, and looks at what is not finite.
func checkSum64(t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	x, ok := simdtest.Guarded(n, n%8, func() Float { return Float(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)))) })
	want, size := 0.0, 0.0
	for _, v := range x {
		want += float64(v)
		size += math.Abs(float64(v))
	}
	if got := Sum64(x); math.Abs(got-want) > 1e-14*size || !ok() {
		t.Fatalf("the sum of %d is %v, want %v", n, got, want)
	}
	if n > 0 {
		x[rng.IntN(n)] = Float(math.Inf(-1))
		if got := Sum64(x); !math.IsInf(got, -1) {
			t.Fatalf("the sum of %d with an infinity is %v", n, got)
		}
		x[rng.IntN(n)] = Float(math.NaN())
		if got := Sum64(x); got == got {
			t.Fatalf("the sum of %d with a NaN is %v", n, got)
		}
	}
}

func TestAsmSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	inf := Float(math.Inf(1))
	for _, n := range simdtest.Lengths() {
		for i, next := range []func() Float{simdtest.Plain(rng), func() Float { return Float(rng.NormFloat64() * 60) }, simdtest.Some(rng), func() Float { return -inf }} {
			x := simdtest.Draw(n, next)
			if i == 1 && n > 2 {
				x[n/2] = -inf
			}
			simdtest.Trial(t, "softmax", 2e-6, [][]Float{make([]Float, n), x, {0, 0, 0}}, func(s [][]Float) {
				s[2][0], s[2][1] = Softmax(s[0], s[1])
				s[2][2] = LogSumExp(s[1]) + 1000
			})
		}
	}
}

// The rows of a softmax, of every width.
func TestAsmRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	inf := Float(math.Inf(1))
	for n := 1; n <= 40; n++ {
		for _, rows := range []int{0, 1, 2, 3, 7, 8, 9, 30, 17000 / n} {
			if rows > 30 && n > 9 && n%8 > 1 && !sparing.Full() {
				continue // more than one call, on either side of whole registers
			}
			x := simdtest.Draw(rows*n, func() Float {
				switch rng.IntN(20) {
				case 0:
					return -inf
				case 1:
					return 3 // ties
				}
				return Float(rng.NormFloat64())
			})
			top, sum := make([]Float, n), simdtest.Draw(n, simdtest.NearOne(rng))
			NoTop(top)
			simdtest.Trial(t, fmt.Sprint("rows of ", n), 1e-4, [][]Float{make([]Float, len(x)), x, top, sum, make([]Float, len(x))}, func(s [][]Float) {
				TopRows(s[2], s[1])
				if n > 2 {
					s[2][0] = inf // a column of −∞ but for the top
					s[3][1] = 0
				}
				WeighRows(s[0], s[1], s[2], s[3])
				ExpRows(s[4], s[1], s[2])
				s[3][n-1] *= Float(min(1, rows))
				DivideRows(s[0], s[3])
			})
		}
	}
}

// A sum over rows and a gradient that is summed are chains: parts in order give
// the bits of the whole.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	for n := 1; n <= 20; n++ {
		const rows = 30
		x, dz := simdtest.Draw(rows*n, simdtest.Plain(rng)), simdtest.Draw(rows*n, simdtest.Plain(rng))
		top := make([]Float, n)
		whole, parts := make([]Float, n+3), make([]Float, n+3)
		add := func(to []Float, lo, hi int) {
			y := make([]Float, (hi-lo)*n)
			WeighRows(y, x[lo*n:hi*n], top, to[:n])
			Add.BackwardX(to[n:n+1], dz[lo*n:hi*n], nil, nil, 0, 0)
			Mul.BackwardX(to[n+1:n+2], dz[lo*n:hi*n], nil, x[lo*n:hi*n], 0, 1)
			Mul.BackwardY(to[n+2:], dz[lo*n:hi*n], x[lo*n:hi*n], nil, 1, 0)
		}
		add(whole, 0, rows)
		for lo := 0; lo < rows; {
			hi := min(rows, lo+1+rng.IntN(9))
			add(parts, lo, hi)
			lo = hi
		}
		for i, v := range whole {
			if parts[i] != v {
				t.Errorf("rows of %d: sum %d is %v, in parts %v", n, i, v, parts[i])
			}
		}
	}
}

func TestAsmDropoutAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, p := range []float64{0, 1e-9, 0.3, 0.6, 1} {
		d := NewDropout(3, 4, 5, p)
		for width := 1; width <= 200; width++ {
			const rows = 3
			dst := simdtest.Draw(rows*width, simdtest.NearOne(rng))
			simdtest.Trial(t, "dropout", 1e-6, [][]Float{dst, simdtest.Draw(rows*width, simdtest.NearOne(rng))}, func(s [][]Float) { d.Add(s[0], s[1], 1000, width) })
			simdtest.Trial(t, "set dropout", 0, [][]Float{dst, simdtest.Draw(rows*width, simdtest.Some(rng))}, func(s [][]Float) { d.Set(s[0], s[1], 1000, width) })
			simdtest.Trial(t, "dropout in place", 0, [][]Float{simdtest.Draw(rows*width, simdtest.Some(rng))}, func(s [][]Float) { d.Set(s[0], s[0], 7, width) })
			got, ones := make([]Float, rows*width), simdtest.Draw(rows*width, func() Float { return 1 })
			d.Add(got, ones, 1000, width)
			for i, v := range got {
				if (v != 0) != d.Keep(d.Row(1000+i/width), i%width) {
					t.Fatalf("p = %v: row %d column %d is %v, which Keep denies", p, 1000+i/width, i%width, v)
				}
			}
		}
	}
}

func TestAsmAdam(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	a := Adam{Rate: 0.01, Decay: 0.1, Gain1: 0.1, Keep2: 0.99, Gain2: 0.01, Root: 3, Eps: 1e-8}
	for _, n := range simdtest.Lengths() {
		for _, size := range []int{n, 20000 * (n / 200)} {
			s := [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}
			simdtest.Trial(t, "Adam", 1e-5, s, func(s [][]Float) { a.Step(s[0], s[1], s[2], s[3]) })
		}
	}
}

func TestAsmWelford(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, size := range []int{0, 1, 7, 8, 9, 16, 17, 33, 100, 20000} {
		for rows := 1; rows < 4; rows++ {
			s := [][]Float{simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))}
			for i := range s[2] {
				s[2][i] *= 1e-7
			}
			simdtest.Trial(t, "Welford", 0, s, func(s [][]Float) { Welford(s[0], s[1], s[2], s[3], rows) })
		}
	}
}

func TestAsmAllocations(t *testing.T) {
	x, y, z := make([]Float, 100), make([]Float, 100), make([]Float, 100)
	d, a := NewDropout(1, 2, 3, 0.5), Adam{Eps: 1}
	n := testing.AllocsPerRun(10, func() {
		var top, sum [8]Float
		for u := range numUnary {
			u.Forward(y, x, 1)
			u.Backward(z, y, x, y, 1)
		}
		for b := range numBinary {
			b.Forward(z, x, y, 1, 1)
			b.BackwardX(z, x, x, y, 1, 1)
			b.BackwardY(z, x, x, y, 1, 1)
		}
		Softmax(y, x)
		LogSumExp(x)
		TopRows(top[:], x[:96])
		WeighRows(y[:96], x[:96], top[:], sum[:])
		ExpRows(y[:96], x[:96], top[:])
		DivideRows(y[:96], sum[:])
		d.Add(y, x, 0, 100)
		d.Set(y, x, 0, 100)
		Sum64(x)
		MulAdd(z, x, y)
		a.Step(x, y, z, z)
		Welford(z, z, y, x, 3)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
