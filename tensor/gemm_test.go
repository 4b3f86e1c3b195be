package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

var flags = []tensor.Flags{0, tensor.TransA, tensor.TransB, tensor.TransA | tensor.TransB}

// random returns an array of numbers from −2 to 2: drawing them from rng would take longer
// than the products.
func random(rng *rand.Rand, shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	sparing.Uniform(rng.Uint32(), d.Data)
	for i := range d.Data {
		d.Data[i] *= 2
	}
	return d
}

// operands returns random a and b for a product of m×k and k×n.
func operands(rng *rand.Rand, m, k, n int, f tensor.Flags) (a, b *tensor.Dense) {
	a, b = random(rng, m, k), random(rng, k, n)
	if f&tensor.TransA != 0 {
		a = random(rng, k, m)
	}
	if f&tensor.TransB != 0 {
		b = random(rng, n, k)
	}
	return a, b
}

// reference is a product in float64: rows of a and columns of b.
type reference struct{ rows, columns [][]float64 }

func newReference(a, b *tensor.Dense, f tensor.Flags) reference {
	return reference{lines(a, f&tensor.TransA != 0), lines(b, f&tensor.TransB == 0)}
}

// lines returns the rows of d, or its columns.
func lines(d *tensor.Dense, columns bool) [][]float64 {
	out := make([][]float64, d.Rows())
	if columns {
		out = make([][]float64, d.RowLen())
	}
	for i := range d.Rows() {
		for j, v := range d.Row(i) {
			if columns {
				out[j] = append(out[j], float64(v))
			} else {
				out[i] = append(out[i], float64(v))
			}
		}
	}
	return out
}

// check holds dst, to which the product was added, against each element of it.
func (r reference) check(t *testing.T, what string, dst, was *tensor.Dense) {
	t.Helper()
	n := dst.RowLen()
	want, sizes := make([]float64, len(dst.Data)), make([]float64, len(dst.Data))
	for at, start := range was.Data {
		sum, size := r.element(at/n, at%n)
		want[at], sizes[at] = float64(start)+sum, size+math.Abs(float64(start))
	}
	compare.Near(t, what, dst.Data, want, compare.PartOfTerms(0, 1e-6, sizes))
}

// element is one element of the product, and the sum of its terms' magnitudes.
func (r reference) element(i, j int) (sum, size float64) {
	y := r.columns[j]
	for l, x := range r.rows[i] {
		v := x * y[l]
		sum, size = sum+v, size+math.Abs(v)
	}
	return sum, size
}

var sizes = [][3]int{
	{1, 1, 1}, {1, 5, 7}, {7, 3, 1}, {3, 0, 4}, {0, 3, 4}, {4, 3, 0}, {5, 17, 16}, {13, 9, 33}, {30, 400, 70},
	{150, 20, 90}, {2, 800, 65}, {25, 512, 81}, {64, 128, 100}, {33, 31, 8}, {300, 2, 5}, {9, 5000, 20}, {9, 2500, 20}, {145, 385, 65}, {0, 3, 1}, {1, 0, 5}, {70, 2050, 1}, {700, 130, 1}, {1, 130, 700},
}

func TestMatMul(t *testing.T) {
	for _, path := range []string{"as built", "go"} {
		t.Run(path, func(t *testing.T) {
			if path == "go" {
				if cpu.Path() == path {
					t.Skip("it is as built")
				}
				defer cpu.Disable()()
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for i, s := range sizes {
				if path == "go" && i%2 == 0 && !sparing.Full() {
					continue // whose kernels are compared in internal/simd
				}
				for _, f := range flags {
					a, b := operands(rng, s[0], s[1], s[2], f)
					dst := random(rng, s[0], s[2])
					was := dst.Clone()
					tensor.MatMul(dst, a, b, f)
					newReference(a, b, f).check(t, fmt.Sprintf("%v flags %d", s, f), dst, was)
				}
			}
		})
	}
}

// A row of a product is the product of the row, and its column that of the column, to the
// bit, and a packed b changes no bit.
func TestMatMulLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	blocks := [][3]int{{33, 1000, 1100}, {600, 130, 3}, {3, 130, 600}, {18, 5000, 18}, {4, 70000, 18}, {200, 300, 200}, {64, 128, 512}, {300, 770, 17}, {40, 60, 1500}, {49, 512, 80}}
	for _, s := range append(blocks, sizes...) {
		for _, f := range flags {
			m, k, n := s[0], s[1], s[2]
			a, b := operands(rng, m, k, n, f)
			start := random(rng, m, n)
			whole := start.Clone()
			tensor.MatMul(whole, a, b, f)
			for range min(m, 10) {
				i := rng.IntN(m)
				row := tensor.New(1, k)
				if f&tensor.TransA != 0 {
					row = tensor.New(k, 1)
				}
				for l := range k {
					if f&tensor.TransA != 0 {
						row.Data[l] = a.Row(l)[i]
					} else {
						row.Data[l] = a.Row(i)[l]
					}
				}
				one := tensor.Of(append([]tensor.Float(nil), start.Row(i)...), 1, n)
				tensor.MatMul(one, row, b, f)
				compare.Equal(t, fmt.Sprintf("%v flags %d row %d", s, f, i), one.Data, whole.Row(i))
			}
			if n > 0 {
				j := rng.IntN(n)
				column, one, want := tensor.New(k, 1), tensor.New(m, 1), make([]tensor.Float, m)
				if f&tensor.TransB != 0 {
					copy(column.Data, b.Row(j))
					column = column.Reshape(1, k)
				} else {
					for l := range k {
						column.Data[l] = b.Row(l)[j]
					}
				}
				for i := range m {
					one.Data[i], want[i] = start.Row(i)[j], whole.Row(i)[j]
				}
				if f != tensor.TransA || k < 2048 || n <= 512 { // else in other parts
					tensor.MatMul(one, a, column, f)
					compare.Equal(t, fmt.Sprintf("%v flags %d column %d", s, f, j), one.Data, want)
				}
			}
			if f == tensor.TransA && k >= 2048 {
				continue // in parts, which a packed b has not
			}
			packed := start.Clone()
			tensor.MatMulPacked(packed, a, tensor.Pack(b, f), f)
			compare.Equal(t, fmt.Sprintf("%v flags %d packed", s, f), packed.Data, whole.Data)
		}
	}
}

func TestMatMulShapes(t *testing.T) {
	for _, f := range flags {
		for _, call := range []func(){
			func() { tensor.MatMul(tensor.New(2, 4), tensor.New(2, 3), tensor.New(5, 4), f) },
			func() { tensor.MatMul(tensor.New(2, 5), tensor.New(3, 3), tensor.New(3, 3), f) },
			func() { tensor.MatMulPacked(tensor.New(2, 5), tensor.New(3, 3), tensor.Pack(tensor.New(3, 3), f), f) },
		} {
			var shape *tensor.ShapeError
			if err := tensor.Try(call); !errors.As(err, &shape) || len(shape.Shapes) != 3 {
				t.Errorf("flags %d: %v, want a ShapeError with three shapes", f, err)
			}
		}
	}
}

// TestMatMulFew compares products that are too small to be planned with packed
// ones, to the bit.
func TestMatMulFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, f := range flags {
		for i := range 8 * 8 * 12 {
			m, n, k := i%8, i/8%8, i/64
			a, b := operands(rng, m, k, n, f)
			p, bias := tensor.Pack(b, f), random(rng, n)
			what := fmt.Sprintf("%d×%d×%d flags %d", m, k, n, f)
			for _, then := range []tensor.Epilogue{{}, {Bias: bias, Act: tensor.Activate(tensor.Unary(vec.Tanh), 0)}} {
				got, want := random(rng, m, n), random(rng, m, n)
				tensor.MatMulThen(got, a, b, f, then)
				tensor.MatMulPackedThen(want, a, p, f, then)
				compare.Equal(t, what+" set", got.Data, want.Data)
				tensor.MatMul(got, a, b, f)
				tensor.MatMulPacked(want, a, p, f)
				compare.Equal(t, what+" added", got.Data, want.Data)
			}
		}
	}
}

// A packed product of few rows is cut by rows, wherever that leaves tiles of any number of
// rows, and each row is that of the product of the row alone.
func TestPackedRows(t *testing.T) {
	defer par.SetThreads(3)()
	rng := rand.New(rand.NewPCG(5, 5))
	const k, n = 260, 290
	p := tensor.Pack(random(rng, k, n), 0)
	for _, m := range []int{1, 3, 4, 11, 23, 24, 25, 47, 48, 49, 50, 52, 64, 73, 100, 191, 192, 201} {
		a, got, want := random(rng, m, k), tensor.New(m, n), tensor.New(1, n)
		tensor.MatMulPacked(got, a, p, 0)
		for i := range m {
			want.Zero()
			tensor.MatMulPacked(want, a.RowRange(i, i+1), p, 0)
			compare.Equal(t, fmt.Sprintf("row %d of %d", i, m), got.Row(i), want.Data)
		}
	}
}

func TestPackedSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	p := tensor.Pack(random(rng, 40, 50), 0)
	for _, f := range []tensor.Flags{0, tensor.TransB} {
		a, b := operands(rng, 3, 9, 21, f)
		p.Set(b, f)
		got, want := tensor.New(3, 21), tensor.New(3, 21)
		tensor.MatMulPacked(got, a, p, 0)
		tensor.MatMul(want, a, b, f)
		compare.Equal(t, fmt.Sprint("flags ", f), got.Data, want.Data)
	}
}

func TestMatMulAllocates(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	if sparing.Raced {
		t.Skip("a sync.Pool forgets under the race detector")
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, f := range flags {
		a, b := operands(rng, 60, 4100, 70, f)
		dst, bias := tensor.New(60, 70), tensor.New(70)
		packed := tensor.Pack(b, f)
		then := tensor.Epilogue{Bias: bias, Act: tensor.Activate(tensor.Unary(vec.Tanh), 0)}
		batchA, batchB, batchDst := a.Reshape(2, a.Rows()/2, a.RowLen()), b.Reshape(2, b.Rows()/2, b.RowLen()), tensor.New(2, 60, 70)
		if f&tensor.TransA == 0 {
			batchA = a.Reshape(2, 60, 2050)
		}
		if f&tensor.TransB != 0 {
			batchB = b.Reshape(2, 70, 2050)
		}
		for name, call := range map[string]func(){
			"MatMul":           func() { tensor.MatMul(dst, a, b, f) },
			"MatMulThen":       func() { tensor.MatMulThen(dst, a, b, f, then) },
			"MatMulPacked":     func() { tensor.MatMulPacked(dst, a, packed, f) },
			"MatMulPackedThen": func() { tensor.MatMulPackedThen(dst, a, packed, f, then) },
			"Packed.Set":       func() { packed.Set(b, f) },
			"BatchMatMul":      func() { tensor.BatchMatMul(batchDst, batchA, batchB, f) },
		} {
			n := sparing.Allocations(call)
			if n > 0 {
				t.Errorf("%s, flags %d: %v allocations a product", name, f, n)
			}
		}
	}
}

func BenchmarkMatMul(b *testing.B) {
	for _, s := range []struct {
		m, k, n int
		f       tensor.Flags
	}{
		{1024, 1024, 1024, 0}, {1024, 1024, 1024, tensor.TransB}, {64, 128, 512, 0}, {169343 / 8, 128, 256, 0}, {19717, 500, 64, 0}, {2708, 1433, 64, 0},
		{2708, 1433, 7, 0}, {2708, 1433, 8, 0}, {16, 512, 512, tensor.TransB}, {64, 64, 64, 0}, {2708, 1433, 16, 0}, {2708, 1433, 1, 0}, {511, 513, 509, 0}, {2708, 64, 1433, tensor.TransB},
		{1433, 2708, 64, tensor.TransA}, {1024, 45000 / 8, 1024, tensor.TransA}, {128, 169343 / 8, 256, tensor.TransA}, {500, 19717, 64, tensor.TransA}, {64, 2708, 8, tensor.TransA},
	} {
		b.Run(fmt.Sprintf("%d/%dx%dx%d", s.f, s.m, s.k, s.n), func(b *testing.B) {
			x, y := operands(rand.New(rand.NewPCG(1, 1)), s.m, s.k, s.n, s.f)
			dst := tensor.New(s.m, s.n)
			rate(b, s.m, s.k, s.n, func() { tensor.MatMul(dst, x, y, s.f) })
		})
	}
}

func BenchmarkMatMulPacked(b *testing.B) {
	for _, m := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%dx128x512", m), func(b *testing.B) {
			x, y := operands(rand.New(rand.NewPCG(1, 1)), m, 128, 512, 0)
			dst, p := tensor.New(m, 512), tensor.Pack(y, 0)
			rate(b, m, 128, 512, func() { tensor.MatMulPacked(dst, x, p, 0) })
		})
	}
}

func rate(b *testing.B, m, k, n int, f func()) {
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}
