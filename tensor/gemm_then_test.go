package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// epilogues are what can follow a product of n columns.
func epilogues(rng *rand.Rand, n int) []tensor.Epilogue {
	bias := random(rng, n)
	return []tensor.Epilogue{
		{}, {Bias: bias}, {Act: tensor.Activate(tensor.Unary(vec.Tanh), 0)},
		{Bias: bias, Act: tensor.Activate(tensor.Unary(vec.LeakyReLU), 0.2)}, {Bias: bias, Act: tensor.Activate(tensor.Unary(vec.Scale), 0)},
		{Bias: bias.Reshape(1, n), Act: tensor.Activate(tensor.Unary(vec.ELU), 1)},
	}
}

// plainly is what an epilogue says, step by step, of a product.
func plainly(product *tensor.Dense, e tensor.Epilogue, f vec.Unary, c tensor.Float) *tensor.Dense {
	if e.Bias != nil {
		tensor.Add(product, product, e.Bias)
	}
	f.Forward(product.Data, product.Data, c)
	return product
}

// A product with an epilogue has the bits of the product, the sum and the
// activation, and what dst held does not matter.
func TestMatMulThen(t *testing.T) {
	acts := []struct {
		f vec.Unary
		c tensor.Float
	}{{vec.Scale, 1}, {vec.Scale, 1}, {vec.Tanh, 0}, {vec.LeakyReLU, 0.2}, {vec.Scale, 0}, {vec.ELU, 1}}
	rng := rand.New(rand.NewPCG(6, 6))
	for j, s := range sparing.Some(append([][3]int{{64, 128, 512}, {200, 300, 90}, {33, 60, 1400}}, sizes...)) {
		for _, f := range flags {
			a, b := operands(rng, s[0], s[1], s[2], f)
			packed := tensor.Pack(b, f)
			for i, e := range epilogues(rng, s[2]) {
				if (i+j+int(f))%2 != 0 && !sparing.Full() {
					continue // other sizes and flags have these
				}
				want, dst := tensor.New(s[0], s[2]), tensor.New(s[0], s[2])
				tensor.MatMul(want, a, b, f)
				plainly(want, e, acts[i].f, acts[i].c)
				dst.Fill(tensor.Float(math.NaN()))
				tensor.MatMulThen(dst, a, b, f, e)
				compare.Equal(t, fmt.Sprintf("%v flags %d epilogue %d", s, f, i), dst.Data, want.Data)
				if f == tensor.TransA && s[1] >= 2048 {
					continue // in parts, which a packed b has not
				}
				dst.Fill(tensor.Float(math.NaN()))
				tensor.MatMulPackedThen(dst, a, packed, f, e)
				compare.Equal(t, fmt.Sprintf("%v flags %d epilogue %d packed", s, f, i), dst.Data, want.Data)
			}
		}
	}
}

// Products refuse a destination that overlaps what they read, and sizes that
// cannot be counted, by a ShapeError that says so.
func TestMatMulRefuses(t *testing.T) {
	all := random(rand.New(rand.NewPCG(7, 7)), 8, 4)
	x, y, w := all.RowRange(0, 4), all.RowRange(3, 7), tensor.New(4, 4)
	p, bias := tensor.Pack(w, 0), tensor.Epilogue{Bias: y.RowRange(0, 1)}
	huge := tensor.Of(nil, 0, math.MaxInt/2+1, math.MaxInt/2+1)
	const overlap, count = "overlaps an operand", "the size of a row overflows"
	for i, c := range []struct {
		why  string
		call func()
	}{
		{overlap, func() { tensor.MatMul(x, x, w, 0) }},
		{overlap, func() { tensor.MatMul(x, w, y, 0) }},
		{overlap, func() { tensor.MatMulThen(x, y, w, 0, tensor.Epilogue{}) }},
		{overlap, func() { tensor.MatMulThen(x, w, y, 0, tensor.Epilogue{}) }},
		{overlap, func() { tensor.MatMulThen(y, w, x.Clone(), 0, bias) }},
		{overlap, func() { tensor.MatMulPacked(x, y, p, 0) }},
		{overlap, func() { tensor.MatMulPackedThen(x, y, p, 0, tensor.Epilogue{}) }},
		{overlap, func() { tensor.MatMulPackedThen(y, w, p, 0, bias) }},
		{overlap, func() { tensor.BatchMatMul(x.Reshape(1, 4, 4), w.Reshape(1, 4, 4), y.Reshape(1, 4, 4), 0) }},
		{"an element for each column", func() { tensor.MatMulThen(x, w, w, 0, tensor.Epilogue{Bias: w}) }},
		{count, func() { tensor.MatMul(tensor.New(0, 4), huge, tensor.New(0, 4), 0) }},
		{count, func() { tensor.MatMul(tensor.New(4, 0), w, huge, tensor.TransB) }},
		{count, func() { tensor.Pack(huge, 0) }},
	} {
		var shape *tensor.ShapeError
		if err := tensor.Try(c.call); !errors.As(err, &shape) || !strings.Contains(shape.Error(), c.why) {
			t.Errorf("call %d: %v, want a ShapeError: %s", i, err, c.why)
		}
	}
}

// However many matrices without elements there are, they take no time.
func TestBatchMatMulOfNothing(t *testing.T) {
	none := tensor.Of(nil, math.MaxInt>>20, 1<<10, 0, 3)
	tensor.BatchMatMul(none, tensor.Of(nil, math.MaxInt>>20, 1<<10, 0, 0), none, 0)
}

// FuzzMatMul compares products of all kinds with three loops, on slices that
// begin anywhere and have guard words around them.
func FuzzMatMul(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(40), uint16(17), uint8(1))
	f.Add(uint64(2), uint16(150), uint16(30), uint16(90), uint8(2))
	f.Add(uint64(3), uint16(140), uint16(70), uint16(33), uint8(5))
	f.Fuzz(func(t *testing.T, seed uint64, m, k, n uint16, how uint8) {
		checkMatMul(t, seed, [3]int{int(m % 300), int(k % 500), int(n % 200)}, how)
	})
}

// guarded returns a random array that begins anywhere in a longer slice, and a
// check that what is around it still stands.
func guarded(rng *rand.Rand, rows, columns int) (d *tensor.Dense, intact func() bool) {
	const pad, word = 16, tensor.Float(-12345.5)
	at, n := pad+rng.IntN(8), rows*columns
	all := make([]tensor.Float, at+n+pad)
	for i := range all {
		if all[i] = word; i >= at && i < at+n {
			all[i] = tensor.Float(rng.NormFloat64())
		}
	}
	return tensor.Of(all[at:at+n:at+n], rows, columns), func() bool {
		for i, v := range all {
			if (i < at || i >= at+n) && v != word {
				return false
			}
		}
		return true
	}
}

func checkMatMul(t *testing.T, seed uint64, s [3]int, how uint8) {
	rng := rand.New(rand.NewPCG(seed, 0))
	f := tensor.Flags(how & 3)
	a, b := operands(rng, s[0], s[1], s[2], f)
	a, okA := guardedLike(rng, a)
	b, okB := guardedLike(rng, b)
	dst, okC := guarded(rng, s[0], s[2])
	was := dst.Clone()
	defer par.SetThreads(1 + int(how>>4)%8)()
	switch how >> 2 & 3 {
	case 0:
		tensor.MatMul(dst, a, b, f)
	case 1:
		tensor.MatMulPacked(dst, a, tensor.Pack(b, f), f)
	case 2:
		was.Zero()
		tensor.MatMulThen(dst, a, b, f, tensor.Epilogue{})
	default:
		was.Zero()
		tensor.MatMulPackedThen(dst, a, tensor.Pack(b, f), f, tensor.Epilogue{})
	}
	if !okA() || !okB() || !okC() {
		t.Fatalf("%v, how %d: wrote outside", s, how)
	}
	newReference(a, b, f).check(t, fmt.Sprintf("%v, how %d", s, how), dst, was)
}

// guardedLike returns a copy of d with guard words.
func guardedLike(rng *rand.Rand, d *tensor.Dense) (*tensor.Dense, func() bool) {
	g, intact := guarded(rng, d.Rows(), d.RowLen())
	copy(g.Data, d.Data)
	return g, intact
}

// NaN and infinities spread as in three loops, through every layout.
func TestMatMulNaN(t *testing.T) {
	inf, nan := tensor.Float(math.Inf(1)), tensor.Float(math.NaN())
	rng := rand.New(rand.NewPCG(8, 8))
	for _, f := range flags {
		for _, s := range [][3]int{{3, 5, 7}, {40, 30, 100}, {150, 20, 70}} {
			a, b := operands(rng, s[0], s[1], s[2], f)
			for _, v := range []tensor.Float{nan, inf, -inf} {
				a.Data[rng.IntN(len(a.Data))], b.Data[rng.IntN(len(b.Data))] = v, 0
			}
			got, product := tensor.New(s[0], s[2]), newReference(a, b, f)
			tensor.MatMul(got, a, b, f)
			for at, v := range got.Data {
				want, _ := product.element(at/s[2], at%s[2])
				if math.IsNaN(want) != (v != v) || math.IsInf(want, 0) && float64(v) != want {
					t.Fatalf("%v flags %d: element %d is %v, want %v", s, f, at, v, want)
				}
			}
		}
	}
}

// A layer's product, bias and activation in one call, beside three.
func BenchmarkMatMulThen(b *testing.B) {
	for _, s := range [][3]int{{2708, 64, 64}, {169343 / 4, 128, 256}, {64, 128, 512}} {
		x, w := operands(rand.New(rand.NewPCG(1, 1)), s[0], s[1], s[2], 0)
		dst, e := tensor.New(s[0], s[2]), tensor.Epilogue{Bias: tensor.New(s[2]), Act: tensor.Activate(tensor.Unary(vec.ReLU), 0)}
		b.Run(fmt.Sprintf("then/%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			rate(b, s[0], s[1], s[2], func() { tensor.MatMulThen(dst, x, w, 0, e) })
		})
		b.Run(fmt.Sprintf("apart/%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			rate(b, s[0], s[1], s[2], func() {
				dst.Zero()
				tensor.MatMul(dst, x, w, 0)
				plainly(dst, e, vec.ReLU, 0)
			})
		})
	}
}

// A long column of equal numbers, whose sum a chain of additions would lose.
func TestMatMulSumLong(t *testing.T) {
	const k = 1 << 18 // float32 loses 0.01 % in a chain of an eighth of it, a part
	a, b, sums := tensor.New(k, 2), tensor.New(k, 16), tensor.New(16)
	b.Fill(0.1)
	tensor.MatMulSum(tensor.New(2, 16), a, b, true, sums)
	for j, v := range sums.Data {
		if d := float64(v)/(0.1*k) - 1; d > 1e-5 || d < -1e-5 {
			t.Fatalf("column %d sums to %v, want %v", j, v, 0.1*k)
		}
	}
}

// TestMatMulSum compares it with the product and the sum apart, on any number of
// threads.
func TestMatMulSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	for _, size := range sparing.Some([][3]int{ // of a's columns, b's columns and both's rows
		{0, 3, 5}, {3, 0, 5}, {3, 4, 0}, {1, 1, 1}, {1, 1, 2048}, {5, 7, 100}, {64, 1, 5000}, {64, 7, 4100},
		{9, 24, 5000}, {128, 64, 5000}, {40, 64, 2047}, {64, 33, 17000}, {7, 600, 4096}, {7, 600, 3000},
		{130, 70, 4100}, {16, 300, 4200}, {96, 128, 2100},
	}) {
		m, n, k := size[0], size[1], size[2]
		a, b, was, sums := tensor.New(k, m), tensor.New(k, n), tensor.New(m, n), tensor.New(n)
		for _, x := range []*tensor.Dense{a, b, was, sums} {
			copy(x.Data, random(rng, x.Shape()...).Data)
		}
		for _, set := range []bool{false, true} {
			want, column := was.Clone(), make([]float64, n)
			if set {
				want.Zero()
			}
			tensor.MatMul(want, a, b, tensor.TransA)
			for i, v := range b.Data {
				column[i%n] += float64(v)
			}
			var first *tensor.Dense
			for _, threads := range []int{1, 2, 3, 16, 33} {
				what := fmt.Sprintf("%v, set %v, %d threads", size, set, threads)
				undo := par.SetThreads(threads)
				got, s := was.Clone(), sums.Clone()
				tensor.MatMulSum(got, a, b, set, s)
				undo()
				if first == nil {
					first = s
				}
				for i := range want.Data {
					if got.Data[i] != want.Data[i] {
						t.Fatalf("%s: the product at %d is %v, want %v", what, i, got.Data[i], want.Data[i])
					}
				}
				for j, v := range s.Data {
					if v != first.Data[j] {
						t.Fatalf("%s: column %d sums to %v, on one thread %v", what, j, v, first.Data[j])
					}
					if d := float64(v) - float64(sums.Data[j]) - column[j]; d > 1e-2 || d < -1e-2 {
						t.Fatalf("%s: column %d is %v off", what, j, d)
					}
				}
			}
		}
	}
}

func TestMatMulSumShapes(t *testing.T) {
	a, b, c := tensor.New(5, 3), tensor.New(5, 4), tensor.New(3, 4)
	for what, f := range map[string]func(){
		"sums of another length": func() { tensor.MatMulSum(c, a, b, true, tensor.New(3)) },
		"another product":        func() { tensor.MatMulSum(tensor.New(4, 3), a, b, true, tensor.New(4)) },
		"sums within b":          func() { tensor.MatMulSum(c, a, b, true, tensor.Of(b.Data[:4], 4)) },
	} {
		if _, ok := tensor.Try(f).(*tensor.ShapeError); !ok {
			t.Errorf("%s: no ShapeError", what)
		}
	}
}
