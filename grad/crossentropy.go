package grad

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NoLabel is the label of a row that does not count in a loss.
const NoLabel = -1

// CrossEntropy is a loss of rows of logits against one label each, with class
// weights w and smoothing s:
//
//	ℓ_i = −(1−s)·w_y·log p_iy − s/C·Σ_c w_c·log p_ic,   p = softmax(logits)
//
// The zero value is −log p_iy, and the loss is the mean over the rows, divided
// by the sum of w_y. Rows labelled NoLabel, and rows where Mask is false, are
// left out of both. A row of −Inf alone has p = 0: its loss is +Inf and its
// gradient that of p.
type CrossEntropy struct {
	Weights   []float64 // of each class; nil: all 1
	Smoothing float64   // s, from 0 to 1
	Mask      []bool    // the rows that count; nil: all
	Reduction Reduction // EachLoss gives a loss a row
}

// CrossEntropy returns the mean of −log softmax(x)_label over the rows of x; of
// no rows zero.
func (x *Var) CrossEntropy(labels []int32) *Var { return CrossEntropy{}.Of(x, labels) }

// NLL returns the mean of −x_label over the rows of x, which are logarithms of
// probabilities; of no rows zero.
func (x *Var) NLL(labels []int32) *Var { return CrossEntropy{}.OfLog(x, labels) }

// Of returns the loss of logits x, a matrix of a row for each label. It panics
// with a [*tensor.ShapeError] on a label that is neither a column nor NoLabel.
// The labels must not change until the tape's next Reset.
func (c CrossEntropy) Of(x *Var, labels []int32) *Var {
	op := Begin("CrossEntropy", x)
	c.check(op.name, x, labels)
	e := Notes[entropy](op)
	*e = entropy{c: c, x: x, labels: labels, logp: op.FreshFloats(len(x.val.Data))}
	return e.record(op)
}

// OfLog is Of where x holds log p already: the negative log-likelihood.
func (c CrossEntropy) OfLog(x *Var, labels []int32) *Var {
	op := Begin("NLL", x)
	c.check(op.name, x, labels)
	e := Notes[entropy](op)
	*e = entropy{c: c, x: x, labels: labels, logp: x.val.Data, given: true}
	return e.record(op)
}

func (e *entropy) record(op Op) *Var {
	n := 1
	if e.c.Reduction == EachLoss {
		n = len(e.labels)
	}
	y := op.New(n)
	if !op.Dry(0) {
		if !e.given {
			e.parallel((*entropy).logSoftmax)
		}
		e.forward(y.val.Data)
	}
	return op.RecordBy(y, e)
}

// Pull adds to x's gradient.
func (e *entropy) Pull(dy *tensor.Dense) {
	e.dx, e.dy = e.x.Grad().Data, dy.Data
	e.parallel((*entropy).pull)
}

// entropy is one loss: its operand, what Backward needs of it, and while a
// pullback runs where from and to.
type entropy struct {
	c      CrossEntropy
	x      *Var
	labels []int32
	logp   []tensor.Float
	given  bool    // x is logp
	factor float64 // of all gradients
	dx, dy []tensor.Float
}

// parallel calls f on all rows.
func (e *entropy) parallel(f func(e *entropy, lo, hi int)) {
	n, grain := len(e.labels), max(1, 1<<12/max(1, e.x.Dim(1)))
	if n <= grain { // without the memory of a closure
		f(e, 0, n)
		return
	}
	par.For(n, grain, func(lo, hi int) { f(e, lo, hi) })
}

// row returns row i of an array like x.
func (e *entropy) row(a []tensor.Float, i int) []tensor.Float {
	d := e.x.Dim(1)
	return a[i*d : i*d+d]
}

// counts reports whether row i does.
func (e *entropy) counts(i int) bool {
	return e.labels[i] != NoLabel && (e.c.Mask == nil || e.c.Mask[i])
}

func (e *entropy) logSoftmax(lo, hi int) {
	d := e.x.Dim(1)
	e.runs(lo, hi, hi-lo, func(lo, hi int) {
		simd.LogSoftmaxRows(e.logp[lo*d:hi*d], e.x.val.Data[lo*d:hi*d], d)
	})
}

// runs calls f with ranges of rows, of at most so many, that all count and are
// all of lo to hi that do.
func (e *entropy) runs(lo, hi, most int, f func(lo, hi int)) {
	for lo < hi {
		end := lo
		for end < min(hi, lo+most) && e.counts(end) {
			end++
		}
		if end > lo {
			f(lo, end)
		}
		for lo = end; lo < hi && !e.counts(lo); lo++ {
		}
	}
}

// forward works out the loss y and the factor.
func (e *entropy) forward(y []tensor.Float) {
	loss, total := 0.0, 0.0
	for i, l := range e.labels {
		if !e.counts(i) {
			continue
		}
		ℓ := e.c.row(e.row(e.logp, i), int(l))
		if e.c.Reduction == EachLoss {
			y[i] = tensor.Float(ℓ)
		}
		loss += ℓ
		total += e.c.weight(int(l))
	}
	e.factor = 1
	if e.c.Reduction != EachLoss {
		e.factor = e.c.Reduction.factor(total, len(e.labels))
		y[0] = tensor.Float(loss * e.factor)
	}
}

// pull adds the gradients of rows lo to hi.
func (e *entropy) pull(lo, hi int) {
	d := e.x.Dim(1)
	most := max(1, min(entropyBlock/max(1, d), hi-lo))
	if e.given {
		e.pullRows(lo, hi, most, nil)
		return
	}
	if most*d <= entropyFew {
		var buf [entropyFew]tensor.Float
		e.pullRows(lo, hi, most, buf[:])
		return
	}
	buf := borrowRows(most * d)
	e.pullRows(lo, hi, most, *buf)
	scratchRows.Put(buf)
}

// pullRows is pull with scratch of most rows, which log p that is given needs not.
func (e *entropy) pullRows(lo, hi, most int, buf []tensor.Float) {
	d := e.x.Dim(1)
	e.runs(lo, hi, most, func(lo, hi int) {
		if !e.given {
			simd.Exp.Forward(buf[:(hi-lo)*d], e.logp[lo*d:hi*d], 0)
		}
		for i := lo; i < hi; i++ {
			g, dx, l := e.factor*float64(e.dy[min(i, len(e.dy)-1)]), e.row(e.dx, i), int(e.labels[i])
			if e.given {
				e.c.pullLog(dx, l, g)
			} else {
				e.c.pullLogits(dx, buf[(i-lo)*d:(i-lo+1)*d], l, g)
			}
		}
	})
}

// entropyBlock is about of how many elements exponentials are taken together.
const entropyBlock = 1 << 9

// entropyFew is of how many elements at most they are taken on the stack.
const entropyFew = 16

// scratchRows are rows of scratch for loops on several threads.
var scratchRows = sync.Pool{New: func() any { return new([]tensor.Float) }}

// borrowRows returns n elements of scratch, which hold anything and go back to scratchRows.
func borrowRows(n int) *[]tensor.Float {
	p := scratchRows.Get().(*[]tensor.Float)
	*p = slices.Grow((*p)[:0], n)[:n]
	spoil.Floats(*p)
	return p
}

// pullLog adds g·∂ℓ/∂log p of one row.
func (c CrossEntropy) pullLog(dx []tensor.Float, label int, g float64) {
	for j := range dx {
		dx[j] -= tensor.Float(g * c.target(j, label, len(dx)))
	}
}

// row returns the loss of one row.
func (c CrossEntropy) row(logp []tensor.Float, label int) float64 {
	loss := -(1 - c.Smoothing) * c.weight(label) * float64(logp[label])
	if c.Smoothing > 0 {
		for j, v := range logp {
			loss -= c.Smoothing / float64(len(logp)) * c.weight(j) * float64(v)
		}
	}
	return loss
}

// pullLogits adds g·∂ℓ/∂x of one row: with t_c the target weight of class c, it
// is p_c·Σt − t_c.
func (c CrossEntropy) pullLogits(dx, p []tensor.Float, label int, g float64) {
	if c.Smoothing == 0 {
		w := tensor.Float(g * c.weight(label))
		if len(p) < 16 { // less work than a call
			for j, v := range p {
				dx[j] += w * v
			}
		} else {
			simd.Axpy(dx, w, p)
		}
		dx[label] -= w
		return
	}
	sum := 0.0
	for j := range p {
		sum += c.target(j, label, len(p))
	}
	for j, v := range p {
		dx[j] += tensor.Float(g * (float64(v)*sum - c.target(j, label, len(p))))
	}
}

// target returns t_j: what −log p_j is multiplied by in a row of that label.
func (c CrossEntropy) target(j, label, classes int) (t float64) {
	if c.Smoothing > 0 {
		t = c.Smoothing / float64(classes) * c.weight(j)
	}
	if j == label {
		t += (1 - c.Smoothing) * c.weight(j)
	}
	return t
}

func (c CrossEntropy) weight(class int) float64 {
	if c.Weights == nil {
		return 1
	}
	return c.Weights[class]
}

func (c CrossEntropy) check(op string, x *Var, labels []int32) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape()), {len(labels)}}, Why: why})
	}
	checkLabels(op, x, labels)
	if c.Weights != nil && len(c.Weights) != x.Dim(1) {
		bad(fmt.Sprintf("%d class weights", len(c.Weights)))
	}
	if c.Mask != nil && len(c.Mask) != len(labels) {
		bad(fmt.Sprintf("a mask of %d rows", len(c.Mask)))
	}
	if !(c.Smoothing >= 0 && c.Smoothing <= 1) {
		panic(&TapeError{Op: op, Why: fmt.Sprintf("a smoothing of %v, want 0 to 1", c.Smoothing)})
	}
}

func badLabel(op string, x *Var, row int, label int32) error {
	return &tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("label %d of row %d is no class", label, row)}
}
