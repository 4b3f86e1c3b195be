package grad

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LayerNorm normalises each row along the last axis,
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// var being the mean square of x − mean. gain and bias have an element for each
// column; nil means 1 and 0. Sums are float64.
func (x *Var) LayerNorm(gain, bias *Var, eps float64) *Var {
	of := normed{x, gain, bias, nil}
	op := of.begin("LayerNorm")
	y, rows := op.freshLike(x), leading(x.val.Shape())
	room := op.freshFloats(3 * rows)
	n := note(op, layerNotes{of, dense.LayerNorm{
		X: x.val.Data, D: x.Dim(-1), Gain: dataOf(gain), Bias: dataOf(bias), Eps: eps,
		Mean: room[:rows], Rest: room[rows : 2*rows], Scale: room[2*rows:],
	}})
	if !op.dry(0) {
		n.dense.Forward(y.val.Data)
	}
	return op.recordBy(y, n)
}

// layerNotes is the pullback of a layer norm.
type layerNotes struct {
	of    normed
	dense dense.LayerNorm
}

// Pull adds to the gradients of x, gain and bias.
func (n *layerNotes) Pull(dy *tensor.Dense) {
	to := dense.NormGrads{Gain: gradOf(n.of.gain), Bias: gradOf(n.of.bias)}
	if dx, fresh := n.of.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	n.dense.Backward(to, dy.Data)
}

// normed is what a normalisation takes: x, and with an element for each column, or
// nil, a gain, a bias and a shift.
type normed struct{ x, gain, bias, shift *Var }

// begin checks the operands and starts the operation.
func (n *normed) begin(name string) Op {
	var all [4]*Var
	xs := append(all[:0], n.x)
	for _, v := range [...]*Var{n.gain, n.bias, n.shift} {
		if v != nil {
			xs = append(xs, v)
		}
	}
	op := Begin(name, xs...)
	op.pullsLast(n.x)
	d := n.x.Value().Dim(-1)
	for _, v := range xs[1:] {
		if len(v.Value().Data) != d {
			panic(tensor.Mismatch("grad."+name, n.x, v))
		}
	}
	return op
}

// L2Normalise divides each row along the last axis by its Euclidean length, which
// is summed in float64. A row of zeros stays and gets no gradient.
func (x *Var) L2Normalise() *Var {
	op := Begin("L2Normalise", x)
	y := op.newLike(x)
	n := note(op, unitNotes{x, dense.UnitRows{X: x.val.Data, D: x.Dim(-1), Y: y.val.Data, Inverse: op.Floats(leading(x.Shape()))}})
	if !op.dry(0) {
		n.dense.Forward()
	}
	return op.recordBy(y, n)
}

// unitNotes is the pullback of rows that were divided by their lengths.
type unitNotes struct {
	x     *Var
	dense dense.UnitRows
}

// Pull adds to x's gradient.
func (n *unitNotes) Pull(dy *tensor.Dense) { n.dense.Backward(n.x.Grad().Data, dy.Data) }

// Affine holds what a normalisation learns for each column; what is nil is left
// out.
type Affine struct {
	Gain, Bias *Var
	Shift      *Var // how much of the mean is taken off
}

// GraphNorm normalises each column over each graph of a batch; rows offsets[i] to
// offsets[i+1] are graph i. A learnt part of the mean is taken off:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
//
// Nil stands for a shift and gain of 1 and a bias of 0. Cai et al. 2021,
// "GraphNorm: A Principled Approach to Accelerating Graph Neural Network
// Training".
func (x *Var) GraphNorm(offsets []int, c Affine, eps float64) *Var {
	if offsets == nil {
		offsets = []int{} // nil is one range
	}
	y, _ := x.columnNorm("GraphNorm", c, dense.ColumnNorm{Offsets: offsets, Eps: eps})
	return y
}

// checkOffsets panics unless offsets cut n rows into ranges.
func checkOffsets(op string, n int, offsets []int) {
	ok := len(offsets) > 0 && offsets[0] == 0 && offsets[len(offsets)-1] == n
	if !ok || !slices.IsSorted(offsets) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{{n}, slices.Clone(offsets)}, Why: fmt.Sprintf("the offsets must rise from 0 to the number of rows, %d", n)})
	}
}

// columnNotes is the pullback of a normalisation of columns.
type columnNotes struct {
	of    normed
	dense dense.ColumnNorm
	all   [2]int // the offsets of one range of all rows
	y     *Var   // of a ReLU of the norm: its result
	from  *late  // of the same: of the norm, which was taken along
}

// columnNorm records a normalisation of the columns of x, and returns it with the
// means and scales that it used. norm has the offsets, or none if all rows are one
// range, Eps, and if they are Fixed the means and scales.
func (x *Var) columnNorm(name string, c Affine, norm dense.ColumnNorm) (*Var, *dense.ColumnNorm) {
	of := normed{x, c.Gain, c.Bias, c.Shift}
	op := of.begin(name)
	back := note(op, columnNotes{of: of, dense: norm})
	n, rows := &back.dense, leading(x.val.Shape())
	if n.Offsets == nil {
		back.all[1] = rows
		n.Offsets = back.all[:]
	}
	checkOffsets(name, rows, n.Offsets)
	n.X, n.D = x.val.Data, x.Dim(-1)
	n.Gain, n.Bias, n.Shift = dataOf(c.Gain), dataOf(c.Bias), dataOf(c.Shift)
	y := op.freshLike(x)
	size := (len(n.Offsets) - 1) * n.D
	if !n.Fixed {
		room := op.freshFloats(2 * size)
		n.Mean, n.Scale = room[:size], room[size:]
	}
	if n.Shift != nil {
		n.Shifted = op.freshFloats(size)
	}
	if back.waits(op) {
		if !op.dry(0) {
			n.Moments()
		}
		return op.recordLate(y, back), n // a ReLU may come next
	}
	if !op.dry(0) {
		n.Forward(y.val.Data)
	}
	return op.recordBy(y, back), n
}

// waits reports whether the norm of a layer in training, of all rows, may wait until the
// next operation. Its gain and bias are copied then.
func (n *columnNotes) waits(op Op) bool {
	k, row := &n.dense, [...]*Var{n.of.gain, n.of.bias}
	if k.Fixed || k.Few() || len(k.Offsets) != 2 || n.of.shift != nil || row[0] == nil || row[1] == nil || !op.tape.Recording() || n.of.x.leaf() || !op.own(row[:]) {
		return false
	}
	k.Gain, k.Bias = dataOf(row[0]), dataOf(row[1])
	return true
}

// Run implements [deferred].
func (n *columnNotes) Run(op Op, y *Var) {
	if !op.measuring() {
		n.dense.Write(y.val.Data)
	}
}

// took implements [taker].
func (n *columnNotes) took() string {
	if n.from != nil {
		return n.from.op.name
	}
	return ""
}

// reluAlong returns the ReLU of x if that is a norm that waits: both are one pass over
// rows, and two over their gradient. Else it returns nil.
func (x *Var) reluAlong() *Var {
	l, norm, y := takeAs[*columnNotes](x)
	if y == nil {
		return nil
	}
	op := l.begin("ReLU", x)
	z, n := op.over(y.val.Data, x.val.Shape()), note(op, *norm)
	n.y, n.from, n.dense.ReLU = z, l, true
	n.Run(op, z)
	return op.recordBy(z, n)
}

// Pull adds to the gradients of x, gain, bias and shift.
func (n *columnNotes) Pull(dy *tensor.Dense) {
	if n.from != nil && n.from.apart {
		(&unaryNotes{n.from.out, n.from.out, n.y, kernel{vec.ReLU, 0}}).Pull(dy)
		return
	}
	to := dense.NormGrads{Gain: gradOf(n.of.gain), Bias: gradOf(n.of.bias), Shift: gradOf(n.of.shift)}
	if dx, fresh := n.of.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	n.dense.Backward(to, dy.Data)
}

// RunningStats is the mean and the variance of each column that a batch
// normalisation remembers, in frozen Params of one element a column.
type RunningStats struct {
	Mean, Variance *Param
	Momentum       float64 // weight of a batch; 0 means 0.1
	Fixed          bool    // use them while training too, and do not move them
}

// BatchNorm normalises each column over the rows, which are all axes but the
// last:
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// While t records, mean and var are those of the batch, var being the mean square
// of x − mean, and run moves towards them (with n−1 for n in its variance, as
// PyTorch does; of one row only the mean moves, of none nothing). Otherwise, or
// if run is Fixed, they are those of run. A nil run is no memory: every batch is
// normalised by itself. c.Shift is not used.
func (t *Tape) BatchNorm(x *Var, c Affine, run *RunningStats, eps float64) *Var {
	n := dense.ColumnNorm{Eps: eps}
	rows := leading(x.Value().Shape())
	c.Shift = nil
	if run != nil {
		run.check(x)
	}
	if run != nil && (run.Fixed || !t.Recording()) {
		n.Fixed = true
		n.Mean, n.Scale = run.Mean.Value.Data, run.scales(t, eps)
		y, _ := x.columnNorm("BatchNorm", c, n)
		return y
	}
	y, used := x.columnNorm("BatchNorm", c, n)
	if run != nil && rows > 0 {
		run.move(t, used.Mean, used.Scale, batchSize{rows, eps})
	}
	return y
}

// batchSize is the rows of a batch and the eps in its scales.
type batchSize struct {
	n   int
	eps float64
}

func (r *RunningStats) check(x *Var) {
	for _, p := range []*Param{r.Mean, r.Variance} {
		if p == nil || p.Value == nil {
			panic(&TapeError{Op: "BatchNorm", Why: "the running statistics have no value; was the layer's Init called?"})
		}
		if len(p.Value.Data) != x.Dim(-1) {
			panic(tensor.Mismatch("grad.BatchNorm", x, p.Value))
		}
	}
}

// scales returns 1/√(var + eps) of the remembered variances.
func (r *RunningStats) scales(t *Tape, eps float64) []tensor.Float {
	s := t.take(len(r.Variance.Value.Data))
	for j, v := range r.Variance.Value.Data {
		s[j] = tensor.Float(1 / math.Sqrt(float64(v)+eps))
	}
	return s
}

// move mixes the statistics of a batch into the remembered ones, at the end of
// Backward.
func (r *RunningStats) move(t *Tape, mean, scale []tensor.Float, b batchSize) {
	m := Preset(r.Momentum, 0.1)
	n := float64(b.n)
	mix := func(p *Param, batch func(j int) float64) {
		v := Op{tape: t}.New(p.Value.Shape()...)
		for j, old := range p.Value.Data {
			v.val.Data[j] = tensor.Float((1-m)*float64(old) + m*batch(j))
		}
		t.Update(p, v)
	}
	mix(r.Mean, func(j int) float64 { return float64(mean[j]) })
	if b.n > 1 {
		mix(r.Variance, func(j int) float64 {
			s := float64(scale[j])
			return (1/(s*s) - b.eps) * n / (n - 1)
		})
	}
}

// PairNorm keeps the rows of each graph of a batch apart: it takes off the mean
// of each column over a graph, c = x − mean, and scales what is left,
//
//	y = scale·c/√(eps + mean ‖c‖²)       the mean being over the rows of the graph
//	y = scale·c/(eps + ‖c‖)              if Each, for each row by itself
//
// Zhao and Akoglu 2020, "PairNorm: Tackling Oversmoothing in GNNs".
type PairNorm struct {
	Scale float64 // 0 means 1
	Each  bool
	Eps   float64 // 0 means 1e-5
}

// Of applies p to the matrix x; rows offsets[i] to offsets[i+1] are graph i.
func (p PairNorm) Of(x *Var, offsets []int) *Var {
	op := Begin("PairNorm", x)
	rows := leading(x.Value().Shape())
	checkOffsets("PairNorm", rows, offsets)
	y := op.freshLike(x)
	n := note(op, pairNotes{x, dense.PairNorm{
		X: x.val.Data, D: x.Dim(-1), Offsets: offsets, Y: y.val.Data, Divisor: op.freshFloats(rows),
		Scale: Preset(p.Scale, 1), Each: p.Each, Eps: Preset(p.Eps, 1e-5),
	}})
	if !op.dry(0) {
		n.dense.Forward()
	}
	return op.recordBy(y, n)
}

// pairNotes is the pullback of a PairNorm.
type pairNotes struct {
	x     *Var
	dense dense.PairNorm
}

// Pull adds to x's gradient.
func (n *pairNotes) Pull(dy *tensor.Dense) { n.dense.Backward(n.x.Grad().Data, dy.Data) }
