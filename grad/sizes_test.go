package grad_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rowSet is operands of an operation whose rows have nothing to do with each other: rows
// of x and y, labels, and Params that all rows share.
type rowSet struct {
	t      *grad.Tape
	x, y   *grad.Var
	p      []*grad.Var // of width elements, width×5 and 5
	labels []int32
	width  int
}

// byRows are such operations. Each gives a row for each of x, or a sum over them.
var byRows = map[string]func(o rowSet) *grad.Var{
	"AddBias":         func(o rowSet) *grad.Var { return o.x.AddBias(o.p[0], grad.Identity) },
	"AddBias, Tanh":   func(o rowSet) *grad.Var { return o.x.AddBias(o.p[0], grad.Tanh) },
	"AddBias twice":   func(o rowSet) *grad.Var { return o.x.AddBias(o.p[0], grad.ELU).Add(o.x.Mul(o.y)) },
	"MatMul":          func(o rowSet) *grad.Var { return o.x.MatMul(o.p[1]) },
	"Linear":          func(o rowSet) *grad.Var { return o.x.Linear(o.p[1], o.p[2], grad.Identity) },
	"Linear, Sigmoid": func(o rowSet) *grad.Var { return o.x.Linear(o.p[1], o.p[2], grad.Sigmoid) },
	"LayerNorm":       func(o rowSet) *grad.Var { return o.x.LayerNorm(o.p[0], o.p[0], 1e-2) },
	"L2Normalise":     func(o rowSet) *grad.Var { return o.x.L2Normalise() },
	"Softmax":         func(o rowSet) *grad.Var { return o.x.Softmax() },
	"LogSoftmax":      func(o rowSet) *grad.Var { return o.x.LogSoftmax() },
	"MaxAxis":         func(o rowSet) *grad.Var { return o.x.MaxAxis(1) },
	"SumAxis":         func(o rowSet) *grad.Var { return o.x.Mul(o.y).SumAxis(1) },
	"Mul by a row":    func(o rowSet) *grad.Var { return o.x.Mul(o.p[0]) },
	"Div by a column": func(o rowSet) *grad.Var { return o.x.Div(o.y.Columns(0, 1).Tanh().Shift(3)) },
	"Dot": func(o rowSet) *grad.Var {
		return o.heads(o.x).Dot(o.heads(o.p[0]).Reshape(o.count(), -1))
	},
	"Dot twice": func(o rowSet) *grad.Var {
		a, b := dots(o.heads(o.x), o.heads(o.p[0]).Reshape(o.count(), -1), o.heads(o.p[0].Tanh()).Reshape(o.count(), -1))
		return a.Sub(b)
	},
	"Dot of rows": func(o rowSet) *grad.Var { return o.heads(o.x).Dot(o.heads(o.y)) },
	"CrossEntropy": func(o rowSet) *grad.Var {
		return grad.CrossEntropy{Reduction: grad.SumLoss}.Of(o.x, o.labels)
	},
	"CrossEntropy, each": func(o rowSet) *grad.Var {
		return grad.CrossEntropy{Reduction: grad.EachLoss, Smoothing: 0.2}.Of(o.x, o.labels)
	},
	"CrossEntropy of logarithms": func(o rowSet) *grad.Var {
		return grad.CrossEntropy{Reduction: grad.SumLoss}.OfLog(o.x, o.labels)
	},
	"MSE":       func(o rowSet) *grad.Var { return grad.Loss{Reduction: grad.SumLoss}.MSE(o.x, o.y) },
	"MSE, each": func(o rowSet) *grad.Var { return grad.Loss{Reduction: grad.EachLoss}.MSE(o.x, o.y) },
	"Huber":     func(o rowSet) *grad.Var { return grad.Loss{Reduction: grad.SumLoss}.Huber(o.x, o.y, 0.7) },
	"square product": func(o rowSet) *grad.Var { // whose gradient may be handed over
		return o.x.Tanh().MatMul(o.heads(o.p[3]).Reshape(o.width, o.width))
	},
}

// count is how many heads a row is cut into.
func (o rowSet) count() int {
	if o.width%4 == 0 {
		return 4
	}
	return 1
}

// heads returns x's rows as heads.
func (o rowSet) heads(x *grad.Var) *grad.Var { return x.Reshape(-1, o.count(), o.width/o.count()) }

// TestRowSizes compares the results and gradients of many rows with those of 25 at a time,
// which are one chunk, one block and one run of everything and which finite differences
// check: with rows on either side of every size at which an operation goes another way,
// up to where it has the most parts. Those of so many rows are compared with 450 at a time,
// and only where the parts are no more than some, whatever the rows: a sum over all of them.
func TestRowSizes(t *testing.T) {
	defer grad.SetHandLeast(1 << 12)()
	defer grad.SetJointLeast(1 << 10)()
	whole, few := grad.NewTape(1), grad.NewTape(1)
	for _, size := range [][2]int{{33, 3}, {450, 3}, {31, 20}, {65, 20}, {450, 20}, {4000, 20}, {14_000, 20}, {40, 70}, {33, 600}} {
		rows, width := size[0], size[1]
		if sparing.Raced && rows > 1000 {
			continue
		}
		x, y, w := param(1, rows, width), param(2, rows, width).Value, param(3, rows, max(width, 5)).Value
		shared := []*grad.Param{param(4, width), param(5, width, 5), param(6, 5), param(7, width*width)}
		labels := make([]int32, rows)
		for i := range labels {
			labels[i] = int32(i * 7 % width)
		}
		step := 25
		if rows > 1000 {
			step = 450
		}
		for name, f := range byRows {
			if name == "square product" && width > 100 || rows > 10_000 && !sumsRows(name) && !sparing.Full() {
				continue
			}
			// part runs f on some rows, and returns its result and gradients.
			part := func(tape *grad.Tape, lo, hi int) (result *tensor.Dense, grads []*tensor.Dense) {
				tape.Reset()
				o := rowSet{t: tape, x: tape.Watch(x.Value.RowRange(lo, hi)), y: tape.Watch(y.RowRange(lo, hi)), labels: labels[lo:hi], width: width}
				for _, p := range shared {
					o.p = append(o.p, tape.Use(p))
				}
				z := f(o)
				loss := z.Sum()
				if n := z.Value().RowLen(); z.Dim(0) == hi-lo {
					of := tensor.New(hi-lo, n)
					for i := range hi - lo {
						copy(of.Row(i), w.Row(lo + i)[:n])
					}
					loss = z.Reshape(hi-lo, n).Mul(grad.Const(of)).Sum()
				}
				g := tape.Backward(loss)
				grads = []*tensor.Dense{g.Of(o.x), g.Of(o.y)}
				for _, p := range shared {
					grads = append(grads, g.Param(p))
				}
				return z.Value(), grads
			}
			result, grads := part(whole, 0, rows)
			all := compared{what: fmt.Sprintf("%s of %d rows of %d", name, rows, width), rows: rows, arrays: append([]*tensor.Dense{result}, grads...)}
			for lo := 0; lo < rows; lo += step {
				hi := min(lo+step, rows)
				result, grads := part(few, lo, hi)
				all.part(t, lo, hi, append([]*tensor.Dense{result}, grads...))
			}
			all.wantSums(t)
		}
	}
}

// sumsRows reports whether an operation adds up gradients of all rows in parts, whose number
// has a bound.
func sumsRows(name string) bool {
	return slices.ContainsFunc([]string{"AddBias", "Dot", "Linear", "MatMul"}, func(s string) bool { return strings.HasPrefix(name, s) })
}

// compared is arrays of all rows: the result, the gradients of x and y, and those of what
// rows share, which are sums of those of parts.
type compared struct {
	what   string
	rows   int
	arrays []*tensor.Dense
	sums   [8]sum64
}

// part compares arrays of the rows lo to hi, and adds up those that are sums.
func (c *compared) part(t *testing.T, lo, hi int, arrays []*tensor.Dense) {
	t.Helper()
	for i, d := range arrays {
		switch {
		case d == nil:
		case i < 3 && c.arrays[i].Dim(0) == c.rows && d.Dim(0) == hi-lo:
			n := d.RowLen()
			compare.Near(t, fmt.Sprintf("%s: array %d, rows from %d on, and few at a time", c.what, i, lo), c.arrays[i].Data[lo*n:hi*n], d.Data, compare.Off(1e-5, 1e-5))
		default:
			if c.sums[i].of == nil {
				c.sums[i] = newSum64(len(d.Data))
			}
			for k, v := range d.Data {
				c.sums[i].add(k, float64(v))
			}
		}
	}
}

// wantSums compares what the parts add up to.
func (c *compared) wantSums(t *testing.T) {
	t.Helper()
	for i, s := range c.sums {
		if s.of != nil {
			compare.Near(t, fmt.Sprintf("%s: array %d, and the sum of few rows at a time", c.what, i), c.arrays[i].Data, s.of, compare.PartOfTerms(1e-5, 1e-5, s.size))
		}
	}
}

// sum64 is sums in float64, and those of the absolute values.
type sum64 struct{ of, size []float64 }

func (s sum64) add(k int, v float64) {
	s.of[k] += v
	s.size[k] += math.Abs(v)
}

// TestColumnSizes compares normalisation of columns with its formula in float64, element
// by element, in runs and in parts of runs, over one range of rows and over many.
func TestColumnSizes(t *testing.T) {
	const eps = 1e-2
	for _, size := range [][3]int{{64, 3, 1}, {65, 3, 1}, {65, 17, 1}, {2100, 20, 1}, {9000, 5, 1}, {9000, 5, 130}, {2000, 20, 3}} {
		rows, width, ranges := size[0], size[1], size[2]
		if sparing.Raced && rows > 1000 {
			continue
		}
		x, gain, bias, dy := param(1, rows, width), param(2, width), param(3, width), param(4, rows, width).Value
		offsets := make([]int, ranges+1)
		for i := range offsets {
			offsets[i] = rows * i / ranges
		}
		tape := grad.NewTape(1)
		y := tape.Use(x).GraphNorm(offsets, grad.Affine{Gain: tape.Use(gain), Bias: tape.Use(bias)}, eps)
		grads := tape.Backward(y.Mul(grad.Const(dy)).Sum())
		wantY, dx, dg, db := newSum64(rows*width), newSum64(rows*width), newSum64(width), newSum64(width)
		for k := range ranges {
			for j := range width {
				lo, n := offsets[k], float64(offsets[k+1]-offsets[k])
				at := func(d *tensor.Dense, i int) float64 { return float64(d.Data[i*width+j]) }
				mean, square, sdy, sdyx := 0.0, 0.0, 0.0, 0.0
				for i := lo; i < offsets[k+1]; i++ {
					mean += at(x.Value, i) / n
				}
				for i := lo; i < offsets[k+1]; i++ {
					o := at(x.Value, i) - mean
					square += o * o / n
					sdy += at(dy, i) / n
					sdyx += at(dy, i) * o / n
				}
				s, g := 1/math.Sqrt(square+eps), float64(gain.Value.Data[j])
				for i := lo; i < offsets[k+1]; i++ {
					o := at(x.Value, i) - mean
					wantY.add(i*width+j, o*s*g+float64(bias.Value.Data[j]))
					dx.add(i*width+j, g*s*(at(dy, i)-sdy-o*s*s*sdyx))
					dg.add(j, at(dy, i)*o*s)
					db.add(j, at(dy, i))
				}
			}
		}
		for i, d := range []*tensor.Dense{y.Value(), grads.Param(x), grads.Param(gain), grads.Param(bias)} {
			want := []sum64{wantY, dx, dg, db}[i]
			compare.Near(t, fmt.Sprintf("%v: array %d", size, i), d.Data, want.of, compare.PartOfTerms(1e-5, 1e-5, want.size))
		}
	}
}

func newSum64(n int) sum64 { return sum64{make([]float64, n), make([]float64, n)} }

// TestClassSizes compares the gradient of cross-entropy, p less 1 at the label, with that
// in float64 for numbers of classes that are taken one by one, in blocks and alone.
func TestClassSizes(t *testing.T) {
	const rows = 37
	for _, classes := range []int{1, 2, 3, 15, 16, 17, 40, 511, 512, 513, 700} {
		x, labels, want := param(1, rows, classes), make([]int32, rows), newSum64(rows*classes)
		for i := range rows {
			labels[i] = int32(i * 11 % classes)
			sum := 0.0
			for _, v := range x.Value.Row(i) {
				sum += math.Exp(float64(v))
			}
			for j, v := range x.Value.Row(i) {
				want.add(i*classes+j, math.Exp(float64(v))/sum)
			}
			want.add(i*classes+int(labels[i]), -1)
		}
		tape := grad.NewTape(1)
		got := tape.Backward(grad.CrossEntropy{Reduction: grad.SumLoss}.Of(tape.Use(x), labels)).Param(x)
		compare.Near(t, fmt.Sprintf("%d classes", classes), got.Data, want.of, compare.PartOfTerms(1e-7, 1e-6, want.size))
	}
}
