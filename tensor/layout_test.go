package tensor

import (
	"errors"
	"runtime/debug"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// TestConcat compares with a walk over the runs along the axis; Split takes the
// whole apart again.
func TestConcat(t *testing.T) {
	for _, s := range reduced {
		for axis := range s {
			var parts, back []*Dense
			shape, total := slices.Clone(s), 0
			for i, n := range []int{s[axis], 0, 1, 5} {
				shape[axis] = n
				parts, back = append(parts, drawn(uint64(i), shape...)), append(back, New(shape...))
				total += n
			}
			shape[axis] = total
			whole := New(shape...)
			Concat(whole, axis-len(s), parts...)
			for k, run := range runs(whole, axis) {
				var want []Float
				for _, p := range parts {
					want = append(want, runs(p, axis)[k]...)
				}
				if !slices.Equal(run, want) {
					t.Fatalf("%v along %d: run %d is %v, want %v", s, axis, k, run, want)
				}
			}
			Split(whole, axis, back...)
			for i, p := range back {
				if !slices.Equal(p.Data, parts[i].Data) {
					t.Errorf("%v along %d: part %d is %v, want %v", s, axis, i, p, parts[i])
				}
			}
		}
	}
	x := New(2, 3)
	refused(t, "tensor.Concat: cannot take shape [2 3] with [2 1] with [2 1]: the lengths of the parts do not add up", func() { Concat(x, 1, New(2, 1), New(2, 1)) })
	refused(t, "tensor.Split: cannot take shape [2 3] with [1 3]", func() { Split(x, 1, New(1, 3)) })
	refused(t, "tensor.Concat: cannot take shape [2 3] with [2]: no such axis", func() { Concat(x, 2) })
	refused(t, "tensor.Split: cannot take shape [1 3] with [2 3]: the destination overlaps an operand", func() { Split(x, 0, x.RowRange(0, 1), New(1, 3)) })
}

func TestRoll(t *testing.T) {
	for _, s := range reduced {
		x := drawn(11, s...)
		for axis, n := range s {
			for _, shift := range []int{0, 1, -1, 3, -7, 40} {
				dst := drawn(12, s...)
				Roll(dst, x, axis-len(s), shift)
				from := runs(x, axis)
				for k, run := range runs(dst, axis) {
					for i, v := range from[k] {
						if to := ((i+shift)%n + n) % n; run[to] != v {
							t.Fatalf("%v along %d by %d: element %d of run %d is %v, want %v", s, axis, shift, to, k, run[to], v)
						}
					}
				}
			}
		}
	}
	x := New(2, 3)
	refused(t, "tensor.Roll: cannot take shape [2 3] with [3 2]", func() { Roll(New(3, 2), x, 0, 1) })
	refused(t, "tensor.Roll: cannot take shape [2 3] with [2 3]: the destination overlaps an operand", func() { Roll(x, x, 0, 1) })
}

func TestTranspose(t *testing.T) {
	for _, s := range [][]int{{1, 1}, {5, 3}, {1, 40}, {33, 65}, {0, 3}, {3, 0}, {4, 3, 2}, {2, 3, 33, 1}, {2, 2, 5, 7}} {
		k := len(s) - 2
		x, shape := drawn(13, s...), slices.Clone(s)
		shape[k], shape[k+1] = s[k+1], s[k]
		dst := drawn(14, shape...)
		Transpose(dst, x)
		m, n := s[k], s[k+1]
		for i, v := range x.Data {
			if b, r := i/(m*n)*(m*n), i%(m*n); dst.Data[b+r%n*m+r/n] != v {
				t.Fatalf("%v: element %d is not where it belongs", s, i)
			}
		}
	}
	refused(t, "tensor.Transpose: cannot take shape [3] with [3]", func() { Transpose(New(3), New(3)) })
	refused(t, "tensor.Transpose: cannot take shape [2 3] with [2 3]", func() { Transpose(New(2, 3), New(2, 3)) })
	x := New(2, 2)
	refused(t, "tensor.Transpose: cannot take shape [2 2] with [2 2]: the destination overlaps an operand", func() { Transpose(x, x) })
}

// TestBatchMatMul compares, to the bit, with a product at a time.
func TestBatchMatMul(t *testing.T) {
	for _, s := range []struct{ batch, m, k, n int }{{1, 3, 5, 7}, {6, 1, 9, 17}, {4, 0, 3, 2}, {0, 2, 3, 4}, {12, 33, 40, 31}} {
		for _, f := range []Flags{0, TransA, TransB, TransA | TransB} {
			a, b := []int{s.m, s.k}, []int{s.k, s.n}
			if f&TransA != 0 {
				slices.Reverse(a)
			}
			if f&TransB != 0 {
				slices.Reverse(b)
			}
			x, y := drawn(15, s.batch, a[0], a[1]), drawn(16, s.batch, b[0], b[1])
			dst := drawn(17, s.batch, s.m, s.n)
			four, want := dst.Clone(), dst.Clone()
			BatchMatMul(dst, x, y, f)
			for i := range s.batch {
				MatMul(Of(want.Row(i), s.m, s.n), Of(x.Row(i), a...), Of(y.Row(i), b...), f)
			}
			if !slices.Equal(dst.Data, want.Data) {
				t.Errorf("%+v, flags %d: other bits", s, f)
			}
			if s.batch%2 == 0 {
				BatchMatMul(four.Reshape(2, s.batch/2, s.m, s.n), x.Reshape(2, s.batch/2, a[0], a[1]), y.Reshape(2, s.batch/2, b[0], b[1]), f)
				if !slices.Equal(four.Data, want.Data) {
					t.Errorf("%+v, flags %d: other bits with two axes of matrices", s, f)
				}
			}
		}
	}
	x := New(2, 3, 3)
	refused(t, "tensor.BatchMatMul: cannot take shape [2 3] with [3 2] with [2 2]", func() { BatchMatMul(New(2, 2), New(2, 3), New(3, 2), 0) })
	refused(t, "tensor.BatchMatMul: cannot take shape [2 3 3] with [1 3 3] with [2 3 3]", func() { BatchMatMul(New(2, 3, 3), x, New(1, 3, 3), 0) })
	refused(t, "tensor.BatchMatMul: cannot take shape [2 3 3] with [2 4 3] with [2 3 3]", func() { BatchMatMul(New(2, 3, 3), x, New(2, 4, 3), 0) })
	refused(t, "tensor.BatchMatMul: cannot take shape [2 3 3] with [2 3 3]: the destination overlaps an operand", func() { BatchMatMul(x, New(2, 3, 3), x, 0) })
}

func TestMatrix(t *testing.T) {
	x := drawn(18, 3, 5)
	m := x.Matrix()
	if r, c := m.Dims(); r != 3 || c != 5 || m.At(2, 4) != float64(x.Data[14]) || m.T().At(4, 2) != m.At(2, 4) {
		t.Errorf("the matrix of %v is %v", x, mat.Formatted(m))
	}
	x.Data[14] = 0.1
	if m.At(2, 4) != float64(Float(0.1)) {
		t.Error("the matrix is no view")
	}
	y := drawn(19, 5, 2)
	var product mat.Dense
	product.Mul(m, y.Matrix())
	want := New(3, 2)
	MatMul(want, x, y, 0)
	var w []float64
	for _, v := range want.Data {
		w = append(w, float64(v))
	}
	compare.Near(t, "the product by gonum", FromMat(&product).Data, w, rounded)
	if back := FromMat(m.T()); !slices.Equal(back.Shape(), []int{5, 3}) || back.Data[5] != x.Data[11] {
		t.Errorf("the copy of the transpose is %v", back)
	}
	if empty := FromMat(New(0, 4).Matrix()); !slices.Equal(empty.Shape(), []int{0, 4}) {
		t.Errorf("the copy of nothing is %v", empty)
	}
	refused(t, "tensor.Matrix: cannot take shape [6]: a matrix has two axes", func() { New(6).Matrix() })
	for _, at := range [][2]int{{3, 0}, {0, 5}, {-1, 0}, {0, -1}} {
		func() {
			defer func() {
				var e mat.Error
				if err, ok := recover().(error); !ok || !errors.As(err, &e) {
					t.Errorf("element %v of 3×5: no panic of package mat", at)
				}
			}()
			m.At(at[0], at[1])
		}()
	}
}

// TestAllocates shows that no operation allocates once its pools are filled.
func TestAllocates(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	if sparing.Raced {
		t.Skip("a sync.Pool forgets under the race detector")
	}
	x, y, half, turned, places := drawn(1, 4, 8, 8), New(4, 8, 8), New(4, 8, 4), New(4, 8, 8), make([]int32, 128)
	sums, halves := New(8, 8), []*Dense{half, New(4, 8, 4)}
	for name, f := range map[string]func(){
		"SumAxis": func() { SumAxis(sums, x, 0) }, "MeanAxis": func() { MeanAxis(sums, x, 0) }, "MaxAxis": func() { MaxAxis(sums, x, 0) },
		"ArgMax": func() { ArgMax(places[:32], x, 2) }, "TopK": func() { TopK(half, places, x) }, "CumSum": func() { CumSum(y, x) },
		"SoftmaxRows": func() { SoftmaxRows(y, x) }, "LogSoftmaxRows": func() { LogSoftmaxRows(y, x) }, "Roll": func() { Roll(y, x, 1, 3) },
		"GatherRows": func() { GatherRows(y, x, places[:4]) }, "ScatterAddRows": func() { ScatterAddRows(y, x, places[:4]) },
		"Split": func() { Split(x, 2, halves...) }, "Transpose": func() { Transpose(turned, x) }, "BatchMatMul": func() { BatchMatMul(y, x, turned, 0) },
	} {
		clear(places)
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLayout(b *testing.B) {
	x, dst, turned := drawn(1, 512, 64), New(512, 64), New(64, 512)
	left, right := New(512, 24), New(512, 40)
	bench(b, "Concat", func() { Concat(dst, 1, left, right) })
	bench(b, "Split", func() { Split(x, 1, left, right) })
	bench(b, "Roll", func() { Roll(dst, x, 1, 5) })
	bench(b, "Transpose", func() { Transpose(turned, x) })
	a, w, c := x.Reshape(8, 64, 64), dst.Reshape(8, 64, 64), New(8, 64, 64)
	bench(b, "BatchMatMul", func() { BatchMatMul(c, a, w, 0) })
	bench(b, "FromMat", func() { FromMat(x.Matrix()) })
}
