package tensor

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
)

// drawn returns an array of random numbers, of which some are equal.
func drawn(seed uint64, shape ...int) *Dense {
	rng, d := rand.New(rand.NewPCG(seed, 77)), New(shape...)
	for i := range d.Data {
		d.Data[i] = Float(rng.IntN(41)-20) / 8
	}
	return d
}

// rounded is for what differs by rounding.
var rounded = compare.Part(1e-5).OrNaN()

// same is for numbers that are equal, or both NaN.
var same = compare.Exactly.OrNaN()

// refused checks that f panics with a ShapeError of this text.
func refused(t *testing.T, want string, f func()) {
	t.Helper()
	if err := Try(f); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

var pointwises = map[string]struct {
	f    func(dst, a, b *Dense)
	want func(x, y Float) Float
}{
	"Add": {Add, func(x, y Float) Float { return x + y }},
	"Sub": {Sub, func(x, y Float) Float { return x - y }},
	"Mul": {Mul, func(x, y Float) Float { return x * y }},
	"Div": {Div, func(x, y Float) Float { return x / y }},
	"Min": {Min, func(x, y Float) Float { return Float(math.Min(float64(x), float64(y))) }},
	"Max": {Max, func(x, y Float) Float { return Float(math.Max(float64(x), float64(y))) }},
}

// TestPointwise compares with a walk over the indices of every axis.
func TestPointwise(t *testing.T) {
	for _, s := range [][2][]int{
		{{7}, {7}}, {{1}, {1}}, {{0}, {1}}, {{3, 0}, {3, 1}}, {{5, 3}, {3}}, {{5, 3}, {5, 1}}, {{5, 1}, {1, 9}}, {{1}, {4, 3, 5}},
		{{2, 3, 1}, {3, 33}}, {{2, 1, 4}, {2, 3, 4}}, {{2, 1, 3, 1}, {1, 5, 1, 17}}, {{2, 3, 4, 5}, {2, 3, 4, 5}}, {{2, 3, 4, 5}, {4, 5}},
	} {
		for range 2 {
			a, b := drawn(1, s[0]...), drawn(2, s[1]...)
			shape, _ := Broadcast(s[0], s[1])
			for name, op := range pointwises {
				dst, want := drawn(3, shape...), New(shape...)
				op.f(dst, a, b)
				for i := range want.Data {
					want.Data[i] = op.want(a.Data[element(i, s[0], shape)], b.Data[element(i, s[1], shape)])
				}
				compare.Near(t, fmt.Sprintf("%s of %v and %v", name, s[0], s[1]), dst.Data, want.Data, same)
			}
			s[0], s[1] = s[1], s[0]
		}
	}
}

// element returns which element of an array of shape from stretches to element
// k of shape to.
func element(k int, from, to []int) (at int) {
	stride := 1
	for i, j := len(to)-1, len(from)-1; j >= 0; i, j = i-1, j-1 {
		if from[j] != 1 {
			at += k % to[i] * stride
		}
		k, stride = k/to[i], stride*from[j]
	}
	return at
}

func TestPointwiseNaN(t *testing.T) {
	nan := Float(math.NaN())
	a, b := Of([]Float{nan, 1, nan}, 3), Of([]Float{1, nan, nan}, 3)
	for name, op := range pointwises {
		dst := New(3)
		op.f(dst, a, b)
		compare.Near(t, name+" of NaN", dst.Data, []Float{nan, nan, nan}, same)
	}
}

func TestPointwiseRefused(t *testing.T) {
	refused(t, "tensor.Mul: cannot take shape [2 3] with [2] with [2 3]", func() { Mul(New(2, 3), New(2, 3), New(2)) })
	refused(t, "tensor.Div: cannot take shape [3] with [3] with [1 3]", func() { Div(New(1, 3), New(3), New(3)) })
	refused(t, "tensor.Min: cannot take shape [1] with [3] with [2]", func() { Min(New(2), New(1), New(3)) })
	refused(t, "tensor.Max: cannot take shape [3] with [3] with [1]", func() { Max(New(1), New(3), New(3)) })
	x := drawn(1, 3, 4)
	for i, f := range []func(){
		func() { Add(x.RowRange(0, 2), x.RowRange(1, 3), New(2, 4)) },
		func() { Add(x.RowRange(0, 2), New(2, 4), x.RowRange(1, 3)) },
		func() { Add(x, New(3, 4), x.RowRange(0, 1)) },
	} {
		var e *ShapeError
		if err := Try(f); !errors.As(err, &e) || e.Why != "the destination overlaps an operand" {
			t.Errorf("overlap %d: error is %v", i, err)
		}
	}
	Sub(x, x, x)
	compare.Near(t, "x − x", x.Data, New(3, 4).Data, same)
	Add(x.RowRange(0, 1), x.RowRange(1, 2), x.RowRange(2, 3)) // neighbours do not overlap
	compare.Near(t, "the sum of zero rows", x.Row(0), New(4).Data, same)
}

// TestTryWrapped takes a ShapeError out of what wraps it, and passes on errors
// that hold none.
func TestTryWrapped(t *testing.T) {
	want := Mismatch("op", New(1))
	for _, v := range []any{want, &par.Panic{Value: want}, fmt.Errorf("in a part: %w", want)} {
		if err := Try(func() { panic(v) }); err != want {
			t.Errorf("a panic with %T is the error %v", v, err)
		}
	}
	other := &par.Panic{Value: "other"}
	defer func() {
		if r := recover(); r != other {
			t.Errorf("Try passes on %v", r)
		}
	}()
	_ = Try(func() { panic(other) })
}

func TestPointwiseAllocates(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	dst, a, b := New(8, 5), drawn(1, 8, 5), drawn(2, 5)
	if n := testing.AllocsPerRun(10, func() { Add(dst, a, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStreamed adds arrays that are larger than the caches.
func TestStreamed(t *testing.T) {
	defer func(old int) { cpu.StreamFrom = old }(cpu.StreamFrom)
	cpu.StreamFrom = 1 << 17 // four chunks
	n := cpu.StreamFrom + 5
	whole := New(3*n + 1)
	for i := range whole.Data[:2*n+1] {
		whole.Data[i] = Float(i % 1001)
	}
	a, b, dst := Of(whole.Data[:n], n), Of(whole.Data[n:2*n], n), Of(whole.Data[2*n+1:], n)
	Add(dst, a, b)
	for i, v := range dst.Data {
		if v != a.Data[i]+b.Data[i] {
			t.Fatalf("element %d is %v, want %v", i, v, a.Data[i]+b.Data[i])
		}
	}
	if whole.Data[2*n] != Float(2*n%1001) {
		t.Error("wrote before the result")
	}
	Add(dst, dst, b) // in place
	if v := dst.Data[n-1]; v != a.Data[n-1]+2*b.Data[n-1] {
		t.Errorf("in place the last element is %v", v)
	}
}

func ExampleAdd() {
	x := Of([]Float{1, 2, 3, 4, 5, 6}, 2, 3)
	row := Of([]Float{10, 20, 30}, 3)
	column := Of([]Float{100, 200}, 2, 1)
	y := New(2, 3)
	Add(y, x, row) // the row is added to every row
	Add(y, y, column)
	fmt.Println(y.Data)
	// Output: [111 122 133 214 225 236]
}

func BenchmarkAdd(b *testing.B) {
	for name, shape := range map[string][]int{"same": {512, 64}, "row": {64}, "column": {512, 1}} {
		b.Run(name, func(b *testing.B) {
			dst, x, y := New(512, 64), drawn(1, 512, 64), drawn(2, shape...)
			b.SetBytes(int64(len(x.Data) * 4))
			b.ReportAllocs()
			for b.Loop() {
				Add(dst, x, y)
			}
		})
	}
}
