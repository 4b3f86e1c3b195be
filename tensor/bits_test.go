package tensor

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// operation is something of this package with operands that are large enough
// for several chunks. Run writes its result to dst, which holds what is there
// before.
type operation struct {
	name string
	dst  []int
	run  func(dst *Dense)
}

// rough returns an array of numbers from −1 to 1 that do not add up exactly.
func rough(seed uint64, shape ...int) *Dense {
	d := New(shape...)
	sparing.Uniform(uint32(seed*7919), d.Data)
	return d
}

// operations are all that run in chunks, of a size: 1 for several threads.
func operations(rows int) []operation {
	x, y := rough(1, rows, 70), rough(2, rows, 70)
	list, wide := make([]int32, rows), rough(3, rows, 200)
	for i := range list {
		list[i] = int32(i * 7919 % max(1, rows/3))
	}
	mask, deep := NewMask(1, 2, 3, 0.4), rough(4, 5, rows, 70)
	plain := func(f func(dst, x *Dense)) func(*Dense) { return func(dst *Dense) { f(dst, x) } }
	ops := []operation{
		{"Add in place", []int{rows, 70}, func(d *Dense) { d.Add(x) }},
		{"AddScaled", []int{rows, 70}, func(d *Dense) { d.AddScaled(x, 0.3) }},
		{"MulAdd", []int{rows, 70}, func(d *Dense) { MulAdd(d, x, y) }},
		{"Dropout", []int{rows, 70}, func(d *Dense) { Dropout(d, x, &mask) }},
		{"DropoutAdd", []int{rows, 70}, func(d *Dense) { DropoutAdd(d, x, &mask) }},
		{"Sum64", []int{1}, func(d *Dense) { d.Data[0] = Float(Sum64(x)) }},
		{"SumAxis 0", []int{70}, func(d *Dense) { SumAxis(d, x, 0) }},
		{"SumAxis 1", []int{rows}, func(d *Dense) { SumAxis(d, x, 1) }},
		{"SumAxis middle", []int{5, 70}, func(d *Dense) { SumAxis(d, deep, 1) }},
		{"MeanAxis", []int{70}, func(d *Dense) { MeanAxis(d, x, 0) }},
		{"MaxAxis 0", []int{70}, func(d *Dense) { MaxAxis(d, x, 0) }},
		{"MaxAxis 1", []int{rows}, func(d *Dense) { MaxAxis(d, x, 1) }},
		{"ArgMax", []int{rows}, func(d *Dense) {
			at := make([]int32, rows)
			ArgMax(at, x, 1)
			for i, v := range at {
				d.Data[i] = Float(v)
			}
		}},
		{"CumSum", []int{rows, 70}, plain(CumSum)},
		{"CumProd", []int{rows, 70}, plain(CumProd)},
		{"SoftmaxRows", []int{rows, 70}, plain(SoftmaxRows)},
		{"LogSoftmaxRows", []int{rows, 70}, plain(LogSoftmaxRows)},
		{"SoftmaxGrad", []int{rows, 70}, func(d *Dense) { SoftmaxGrad(d, x, y) }},
		{"LogSoftmaxGrad", []int{rows, 70}, func(d *Dense) { LogSoftmaxGrad(d, x, y) }},
		{"GatherRows", []int{rows, 70}, func(d *Dense) { GatherRows(d, x, list) }},
		{"ScatterAddRows", []int{rows, 70}, func(d *Dense) { ScatterAddRows(d, x, list) }},
		{"ScatterAddRows wide", []int{rows, 200}, func(d *Dense) { ScatterAddRows(d, wide, list) }},
	}
	for _, f := range []vec.Unary{vec.Scale, vec.Tanh, vec.GELU} {
		ops = append(ops, operation{"Apply " + f.String(), []int{rows, 70}, func(d *Dense) { Apply(d, x, Unary(f), 0.3) }},
			operation{"ApplyGrad " + f.String(), []int{rows, 70}, func(d *Dense) { ApplyGrad(d, y, x, y, Unary(f), 0.3) }})
	}
	return append(ops, combinations(rows)...)
}

// combinations are functions of two arrays of all shapes that matter.
func combinations(rows int) (ops []operation) {
	third := max(rows/15, 1)
	for _, s := range [][2][]int{
		{{rows, 70}, {rows, 70}}, {{rows, 70}, {70}}, {{70}, {rows, 70}}, {{rows, 70}, {rows, 1}}, {{rows, 1}, {1, 70}}, {{rows * 70}, {1}}, {{1}, {rows * 70}},
		{{third, 5, 70}, {third, 1, 70}}, {{third, 5, 70}, {5, 1}}, {{1, 5, 70}, {third, 1, 70}}, {{2, rows * 35}, {2, 1}}, {{2, rows * 35}, {rows * 35}},
	} {
		shape, _ := Broadcast(s[0], s[1])
		a, b, z := rough(5, s[0]...), rough(6, s[1]...), rough(7, shape...)
		for _, f := range pairings() {
			name := fmt.Sprint(f, s)
			ops = append(ops, operation{name, shape, func(d *Dense) { Combine(d, a, b, Binary(f)) }},
				operation{name + " gradient x", s[0], func(d *Dense) { CombineGradX(d, z, a, b, Binary(f)) }},
				operation{name + " gradient y", s[1], func(d *Dense) { CombineGradY(d, z, a, b, Binary(f)) }})
		}
	}
	return ops
}

// pairings are functions of two: if not sparing.Full one of each kind of gradient, which
// chunks and threads treat alike.
func pairings() []vec.Binary {
	if sparing.Full() {
		return []vec.Binary{vec.Add, vec.Sub, vec.Mul, vec.Div, vec.Min, vec.Max}
	}
	return []vec.Binary{vec.Sub, vec.Div, vec.Max}
}

// TestThreadsBits shows that no bit of anything depends on the threads.
func TestThreadsBits(t *testing.T) {
	for _, op := range sparing.Some(operations(1000)) {
		result := func(threads int) *Dense {
			defer par.SetThreads(threads)()
			dst := rough(9, op.dst...)
			op.run(dst)
			return dst
		}
		want := result(1)
		for _, threads := range sparing.Threads() {
			got := result(threads)
			compare.Bits(t, fmt.Sprintf("%s on %d threads", op.name, threads), got.Data, want.Data)
		}
	}
}

// TestCombineGrad compares the gradients of every shape with a walk over the
// elements in float64.
func TestCombineGrad(t *testing.T) {
	for _, rows := range []int{1, 7, 1000} { // of a thousand the sums are in two parts
		third := max(rows/15, 1)
		for k, s := range [][2][]int{
			{{rows, 70}, {rows, 70}}, {{rows, 70}, {70}}, {{70}, {rows, 70}}, {{rows, 70}, {rows, 1}}, {{rows, 1}, {1, 70}}, {{rows * 70}, {1}}, {{1}, {rows * 70}},
			{{third, 5, 70}, {third, 1, 70}}, {{third, 5, 70}, {5, 1}}, {{1, 5, 70}, {third, 1, 70}}, {{0, 3}, {3}}, {{1}, {1}}, {{2, rows * 35}, {2, 1}}, {{2, rows * 35}, {rows * 35}},
		} {
			shape, _ := Broadcast(s[0], s[1])
			a, b, dz := rough(5, s[0]...), rough(6, s[1]...), rough(7, shape...)
			for i := range b.Data {
				b.Data[i] += 2 // nothing divides by zero
			}
			for f, slope := range slopes {
				if rows > 7 && (!slices.Contains(pairings(), f) || !sparing.Full() && (k+int(f))%2 != 0) {
					continue // another shape has it
				}
				dx, dy := rough(8, s[0]...), rough(9, s[1]...)
				wx, sx := wide64(dx)
				wy, sy := wide64(dy)
				for k, g := range dz.Data {
					i, j := element(k, s[0], shape), element(k, s[1], shape)
					gx, gy := slope(float64(a.Data[i]), float64(b.Data[j]))
					wx[i] += float64(g) * gx
					sx[i] += math.Abs(float64(g) * gx)
					wy[j] += float64(g) * gy
					sy[j] += math.Abs(float64(g) * gy)
				}
				CombineGradX(dx, dz, a, b, Binary(f))
				CombineGradY(dy, dz, a, b, Binary(f))
				compare.Near(t, fmt.Sprint(f, s, " gradient x"), dx.Data, wx, compare.PartOfTerms(1e-6, 2e-6, sx))
				compare.Near(t, fmt.Sprint(f, s, " gradient y"), dy.Data, wy, compare.PartOfTerms(1e-6, 2e-6, sy))
			}
		}
	}
}

// slopes are the derivatives of the functions of two.
var slopes = map[vec.Binary]func(x, y float64) (dx, dy float64){
	vec.Add: func(_, _ float64) (dx, dy float64) { return 1, 1 },
	vec.Sub: func(_, _ float64) (dx, dy float64) { return 1, -1 },
	vec.Mul: func(x, y float64) (dx, dy float64) { return y, x },
	vec.Div: func(x, y float64) (dx, dy float64) { return 1 / y, -x / y / y },
	vec.Min: func(x, y float64) (dx, dy float64) {
		if x <= y {
			return 1, 0
		}
		return 0, 1
	},
	vec.Max: func(x, y float64) (dx, dy float64) {
		if x >= y {
			return 1, 0
		}
		return 0, 1
	},
}

// wide64 returns the elements in float64, and their sizes.
func wide64(d *Dense) (v, size []float64) {
	for _, e := range d.Data {
		v, size = append(v, float64(e)), append(size, math.Abs(float64(e)))
	}
	return v, size
}

// TestChunksAllocate shows that no loop in chunks allocates once its pools are
// filled, whether it is small or runs on several threads.
func TestChunksAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	if sparing.Raced {
		t.Skip("a sync.Pool forgets under the race detector")
	}
	for _, rows := range []int{3, 1000} {
		for _, op := range operations(rows) {
			if op.name == "ArgMax" {
				continue // its wrapper here makes the places
			}
			dst := rough(9, op.dst...)
			if n := sparing.Allocations(func() { op.run(dst) }); n >= 1 {
				t.Errorf("%s of %d rows: %v allocations", op.name, rows, n)
			}
		}
	}
}
