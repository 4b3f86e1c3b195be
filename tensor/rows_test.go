package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
)

// TestRowFunctions compares what works along the last axis with plain loops,
// into another array and in place.
func TestRowFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(dst, x *Dense)
		want func(row []Float) []float64
	}{
		"CumSum":         {CumSum, func(row []Float) []float64 { return running(row, 0, func(s, v float64) float64 { return s + v }) }},
		"CumProd":        {CumProd, func(row []Float) []float64 { return running(row, 1, func(s, v float64) float64 { return s * v }) }},
		"SoftmaxRows":    {SoftmaxRows, func(row []Float) []float64 { return shares(row, math.Exp) }},
		"LogSoftmaxRows": {LogSoftmaxRows, func(row []Float) []float64 { return shares(row, func(v float64) float64 { return v }) }},
	} {
		for _, s := range reduced {
			x := drawn(6, s...)
			var want []float64
			for _, row := range runs(x, len(s)-1) {
				want = append(want, c.want(row)...)
			}
			dst := drawn(7, s...)
			c.f(dst, x)
			compare.Near(t, name, dst.Data, want, rounded)
			c.f(x, x)
			compare.Near(t, name+" in place", x.Data, want, rounded)
		}
		x := drawn(1, 3, 4)
		refused(t, fmt.Sprintf("tensor.%s: cannot take shape [3 4] with [4 3]", name), func() { c.f(New(4, 3), x) })
		refused(t, fmt.Sprintf("tensor.%s: cannot take shape [2 4] with [2 4]: the destination overlaps an operand", name), func() { c.f(x.RowRange(1, 3), x.RowRange(0, 2)) })
	}
}

func running(row []Float, s float64, f func(s, v float64) float64) (out []float64) {
	for _, v := range row {
		s = f(s, float64(v))
		out = append(out, s)
	}
	return out
}

// shares returns f of the logarithm of each element's share in Σeˣ.
func shares(row []Float, f func(float64) float64) (out []float64) {
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v))
	}
	for _, v := range row {
		out = append(out, f(float64(v)-math.Log(sum)))
	}
	return out
}

func TestSoftmaxInfinite(t *testing.T) {
	inf := Float(math.Inf(1))
	for _, c := range []struct{ x, p []Float }{
		{[]Float{-inf, -inf}, []Float{0, 0}}, {[]Float{inf, 1, inf, -inf}, []Float{0.5, 0, 0.5, 0}}, {[]Float{-inf, 3}, []Float{0, 1}}, {[]Float{5000, 5000}, []Float{0.5, 0.5}},
	} {
		p, l, want := New(len(c.x)), New(len(c.x)), []float64{}
		SoftmaxRows(p, Of(c.x, len(c.x)))
		LogSoftmaxRows(l, Of(c.x, len(c.x)))
		for _, v := range c.p {
			want = append(want, math.Log(float64(v)))
		}
		compare.Near(t, fmt.Sprint("softmax of ", c.x), p.Data, c.p, same)
		compare.Near(t, fmt.Sprint("log-softmax of ", c.x), l.Data, want, rounded)
	}
}

// TestTopK compares with a stable sort, for every k, with many ties and NaN.
func TestTopK(t *testing.T) {
	for _, s := range [][]int{{1}, {9}, {3, 40}, {2, 3, 7}, {0, 5}, {4, 0}} {
		x := drawn(8, s...)
		for i := 3; i < len(x.Data); i += 11 {
			x.Data[i] = Float(math.NaN())
		}
		for k := range s[len(s)-1] + 1 {
			shape := append(slices.Clone(s[:len(s)-1]), k)
			values := New(shape...)
			places := make([]int32, len(values.Data))
			TopK(values, places, x)
			var wantValues []Float
			var wantPlaces []int32
			for _, row := range runs(x, len(s)-1) {
				order := make([]int32, len(row))
				for j := range order {
					order[j] = int32(j)
				}
				// cmp.Compare ranks NaN below all: negated it stays below, so it is taken first.
				slices.SortStableFunc(order, func(p, q int32) int { return cmp.Compare(-row[p], -row[q]) })
				for _, p := range order[:k] {
					wantValues, wantPlaces = append(wantValues, row[p]), append(wantPlaces, p)
				}
			}
			what := fmt.Sprintf("top %d of %v", k, x)
			compare.Near(t, what, values.Data, wantValues, same)
			if !slices.Equal(places, wantPlaces) {
				t.Fatalf("%s are at %v, want %v", what, places, wantPlaces)
			}
		}
	}
	x := New(2, 3)
	refused(t, "tensor.TopK: cannot take shape [2 3] with [2 4]", func() { TopK(New(2, 4), make([]int32, 8), x) })
	refused(t, "tensor.TopK: cannot take shape [2 3] with [1 2]", func() { TopK(New(1, 2), make([]int32, 2), x) })
	refused(t, "tensor.TopK: cannot take shape [2 2] with [3]: a place for each value", func() { TopK(New(2, 2), make([]int32, 3), x) })
	refused(t, "tensor.TopK: cannot take shape [2 3] with [2 3]: the destination overlaps an operand", func() { TopK(x, make([]int32, 6), x) })
}

func ExampleTopK() {
	scores := Of([]Float{0.1, 0.7, 0.2, 0.5, 0.3, 0.5}, 2, 3)
	values, places := New(2, 2), make([]int32, 4)
	TopK(values, places, scores)
	fmt.Println(values.Data, places)
	// Output: [0.7 0.2 0.5 0.5] [1 2 0 2]
}

// TestGatherScatter compares with loops and shows that the two are adjoint:
// ⟨gather(x), y⟩ = ⟨x, scatter(y)⟩.
func TestGatherScatter(t *testing.T) {
	for _, s := range [][]int{{1}, {5}, {6, 3}, {4, 2, 9}, {3, 0}} {
		x := drawn(9, s...)
		rows := []int32{0, int32(s[0] - 1), int32(s[0] / 2), 0, 0}
		y := drawn(10, append([]int{len(rows)}, s[1:]...)...)
		got := y.Like()
		GatherRows(got, x, rows)
		sum, want := x.Clone(), x.Clone()
		ScatterAddRows(sum, y, rows)
		left, right := 0.0, 0.0
		for i, r := range rows {
			compare.Near(t, fmt.Sprintf("%v: row %d", s, i), got.Row(i), x.Row(int(r)), same)
			for j, v := range y.Row(i) {
				want.Row(int(r))[j] += v
				left += float64(v * got.Row(i)[j])
			}
		}
		compare.Near(t, fmt.Sprintf("scattered to %v", s), sum.Data, want.Data, same)
		for i, v := range sum.Data {
			right += float64((v - x.Data[i]) * x.Data[i])
		}
		if math.Abs(left-right) > 1e-3 {
			t.Errorf("%v: not adjoint: %v and %v", s, left, right)
		}
	}
	x := New(3, 2)
	GatherRows(New(0, 2), x, nil)
	refused(t, "tensor.GatherRows: cannot take shape [3 2]: index 1 asks for row 3", func() { GatherRows(New(2, 2), x, []int32{0, 3}) })
	refused(t, "tensor.ScatterAddRows: cannot take shape [3 2]: index 0 asks for row -1", func() { ScatterAddRows(x, New(1, 2), []int32{-1}) })
	refused(t, "tensor.GatherRows: cannot take shape [3 2] with [2 2] with [1]", func() { GatherRows(New(2, 2), x, []int32{0}) })
	refused(t, "tensor.GatherRows: cannot take shape [3 2] with [1 2]: the destination overlaps an operand", func() { GatherRows(x.RowRange(1, 2), x, []int32{0}) })
}

func BenchmarkRows(b *testing.B) {
	x, dst, top, places, rows := drawn(1, 512, 64), New(512, 64), New(512, 8), make([]int32, 512*8), make([]int32, 512)
	for i := range rows {
		rows[i] = int32(i * 37 % 512)
	}
	bench(b, "CumSum", func() { CumSum(dst, x) })
	bench(b, "CumProd", func() { CumProd(dst, x) })
	bench(b, "SoftmaxRows", func() { SoftmaxRows(dst, x) })
	bench(b, "LogSoftmaxRows", func() { LogSoftmaxRows(dst, x) })
	bench(b, "TopK", func() { TopK(top, places, x) })
	bench(b, "GatherRows", func() { GatherRows(dst, x, rows) })
	bench(b, "ScatterAddRows", func() { ScatterAddRows(dst, x, rows) })
}
