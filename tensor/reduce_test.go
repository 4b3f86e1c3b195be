package tensor

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
)

var reduced = [][]int{{1}, {7}, {5, 3}, {1, 33}, {33, 1}, {3, 17, 2}, {2, 1, 4, 9}, {0, 3}, {3, 0}}

// runs returns the elements along an axis, for each of the others in order.
func runs(x *Dense, axis int) [][]Float {
	inner, n, all := 1, x.Dim(axis), 1
	for i, l := range x.Shape() {
		if i > axis {
			inner *= l
		}
		if i != axis {
			all *= l
		}
	}
	out := make([][]Float, all)
	for k := range out {
		for j := range n {
			out[k] = append(out[k], x.Data[(k/inner*n+j)*inner+k%inner])
		}
	}
	return out
}

// TestReduce compares with loops over gathered runs, for every axis, counted
// from both ends, with the axis taken away and kept.
func TestReduce(t *testing.T) {
	for _, s := range reduced {
		x := drawn(4, s...)
		for axis := range s {
			var sum, mean, top []float64
			var arg []int32
			for _, run := range runs(x, axis) {
				total, best := 0.0, 0
				for j, v := range run {
					total += float64(v)
					if v > run[best] {
						best = j
					}
				}
				sum, mean, arg = append(sum, total), append(mean, total/float64(max(1, len(run)))), append(arg, int32(best))
				most := math.Inf(-1)
				if len(run) > 0 {
					most = float64(run[best])
				}
				top = append(top, most)
			}
			kept := slices.Clone(s)
			kept[axis] = 1
			for _, to := range [][]int{kept, slices.Delete(slices.Clone(s), axis, axis+1)} {
				if len(to) == 0 {
					continue
				}
				dst := drawn(5, to...)
				SumAxis(dst, x, axis-len(s))
				compare.Near(t, "SumAxis", dst.Data, sum, rounded)
				MeanAxis(dst, x, axis)
				compare.Near(t, "MeanAxis", dst.Data, mean, rounded)
				MaxAxis(dst, x, axis)
				compare.Near(t, "MaxAxis", dst.Data, top, rounded)
			}
			if s[axis] > 0 {
				got := make([]int32, len(arg))
				if ArgMax(got, x, axis); !slices.Equal(got, arg) {
					t.Errorf("ArgMax of %v along %d is %v, want %v", s, axis, got, arg)
				}
			}
		}
	}
}

func TestReduceNaN(t *testing.T) {
	nan := Float(math.NaN())
	x, got := Of([]Float{1, nan, 9, nan, 2, 2}, 2, 3), make([]int32, 2)
	ArgMax(got, x, 1)
	top := New(2)
	MaxAxis(top, x, 1)
	compare.Near(t, "the largest in rows", top.Data, []Float{nan, nan}, same)
	if !slices.Equal(got, []int32{1, 0}) {
		t.Errorf("of %v the largest are at %v", x, got)
	}
	columns := New(3)
	MaxAxis(columns, x, 0)
	compare.Near(t, "the largest in columns", columns.Data, []Float{nan, nan, 9}, same)
}

func TestReduceRefused(t *testing.T) {
	x := New(2, 3)
	refused(t, "tensor.SumAxis: cannot take shape [2 3] with [2]: no such axis", func() { SumAxis(New(2), x, 2) })
	refused(t, "tensor.MaxAxis: cannot take shape [2 3] with [-3]: no such axis", func() { MaxAxis(New(2), x, -3) })
	refused(t, "tensor.MeanAxis: cannot take shape [2 3] with [2]: the destination does not fit x without axis 0", func() { MeanAxis(New(2), x, 0) })
	refused(t, "tensor.SumAxis: cannot take shape [2 3] with [1 2]: the destination does not fit x without axis 1", func() { SumAxis(New(1, 2), x, 1) })
	refused(t, "tensor.ArgMax: cannot take shape [2 3] with [3]: 2 places along axis 1 of length 3", func() { ArgMax(make([]int32, 3), x, 1) })
	refused(t, "tensor.ArgMax: cannot take shape [2 0] with [2]: 2 places along axis 1 of length 0", func() { ArgMax(make([]int32, 2), New(2, 0), 1) })
	refused(t, "tensor.SumAxis: cannot take shape [2 3] with [3]: the destination overlaps an operand", func() { SumAxis(Of(x.Data[:3], 3), x, 0) })
}

func BenchmarkReduce(b *testing.B) {
	x, row, column, places := drawn(1, 512, 64), New(64), New(512), make([]int32, 512)
	bench(b, "SumAxis0", func() { SumAxis(row, x, 0) })
	bench(b, "SumAxis1", func() { SumAxis(column, x, 1) })
	bench(b, "MeanAxis0", func() { MeanAxis(row, x, 0) })
	bench(b, "MaxAxis1", func() { MaxAxis(column, x, 1) })
	bench(b, "ArgMax1", func() { ArgMax(places, x, 1) })
}

// bench times one call on 512×64 elements.
func bench(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(512 * 64 * 4)
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}
