package dense

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Entropy is the cross-entropy of rows of logarithms of probabilities against one label
// each:
//
//	for i, y := range Labels {
//		loss += −(1−Smoothing)·w[y]·logp[i,y] − Smoothing/Classes·Σ_c w[c]·logp[i,c]
//		weight += w[y]
//	}
//
// in float64. Rows whose label is negative, and rows where Mask is false, do not count.
type Entropy struct {
	LogP      []tensor.Float // a row a label
	Classes   int            // the elements of a row
	Labels    []int32
	Weights   []float64 // w, of each class; nil: all 1
	Smoothing float64
	Mask      []bool // the rows that count; nil: all

	pass entropyPass
}

// entropyPass is what a pass over the rows works on: the logits that LogP is made of,
// or a gradient.
type entropyPass struct {
	x, dx, dy []tensor.Float
	factor    float64
	logits    bool // the gradient is that of the logits
}

// SetLogP sets the rows of LogP that count to the logarithms of the softmax of logits x.
func (e *Entropy) SetLogP(x []tensor.Float) {
	e.pass = entropyPass{x: x}
	e.parallel((*Entropy).logSoftmax)
	e.pass = entropyPass{}
}

// Forward returns the sum of the losses of all rows that count and that of the weights of
// their labels, and sets each, unless it is nil, to the losses of these rows.
func (e *Entropy) Forward(each []tensor.Float) (loss, weight float64) {
	for i, l := range e.Labels {
		if !e.counts(i) {
			continue
		}
		ℓ := e.loss(e.row(e.LogP, i), int(l))
		if each != nil {
			each[i] = tensor.Float(ℓ)
		}
		loss += ℓ
		weight += e.weight(int(l))
	}
	return loss, weight
}

// Backward adds factor·dy times the gradient of each row's loss to that of LogP. dy has an
// element a row, or one for all.
func (e *Entropy) Backward(dx, dy []tensor.Float, factor float64) {
	e.pull(entropyPass{dx: dx, dy: dy, factor: factor})
}

// BackwardLogits is Backward for the gradient of the logits that SetLogP was given.
func (e *Entropy) BackwardLogits(dx, dy []tensor.Float, factor float64) {
	e.pull(entropyPass{dx: dx, dy: dy, factor: factor, logits: true})
}

func (e *Entropy) pull(p entropyPass) {
	e.pass = p
	e.parallel((*Entropy).backward)
	e.pass = entropyPass{}
}

// parallel calls f with ranges of all rows.
func (e *Entropy) parallel(f func(e *Entropy, lo, hi int)) {
	n, step := len(e.Labels), max(1, 1<<12/max(1, e.Classes))
	if n <= step { // without the memory of a closure
		f(e, 0, n)
		return
	}
	par.For(n, step, func(lo, hi int) { f(e, lo, hi) })
}

// row returns row i of an array like LogP.
func (e *Entropy) row(a []tensor.Float, i int) []tensor.Float {
	return a[i*e.Classes : i*e.Classes+e.Classes]
}

// counts reports whether row i does.
func (e *Entropy) counts(i int) bool {
	return e.Labels[i] >= 0 && (e.Mask == nil || e.Mask[i])
}

func (e *Entropy) logSoftmax(lo, hi int) {
	d := e.Classes
	e.runs(lo, hi, hi-lo, func(lo, hi int) {
		vec.LogSoftmaxRows(e.LogP[lo*d:hi*d], e.pass.x[lo*d:hi*d], d)
	})
}

// runs calls f with ranges of rows, of at most so many, that all count and are
// all of lo to hi that do.
func (e *Entropy) runs(lo, hi, most int, f func(lo, hi int)) {
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

// entropyBlock is about of how many elements exponentials are taken together.
const entropyBlock = 1 << 9

// entropyFew is of how many elements at most they are taken on the stack.
const entropyFew = 16

// backward adds the gradients of rows lo to hi.
func (e *Entropy) backward(lo, hi int) {
	d := e.Classes
	most := max(1, min(entropyBlock/max(1, d), hi-lo))
	if !e.pass.logits {
		e.backwardRows(lo, hi, most, nil)
		return
	}
	if most*d <= entropyFew {
		var buf [entropyFew]tensor.Float
		e.backwardRows(lo, hi, most, buf[:])
		return
	}
	buf := scratch.Borrow(most * d)
	e.backwardRows(lo, hi, most, *buf)
	scratch.Repay(buf)
}

// backwardRows is backward with scratch of most rows, which the gradient of LogP does not
// need.
func (e *Entropy) backwardRows(lo, hi, most int, buf []tensor.Float) {
	d, p := e.Classes, &e.pass
	e.runs(lo, hi, most, func(lo, hi int) {
		if p.logits {
			vec.Exp.Forward(buf[:(hi-lo)*d], e.LogP[lo*d:hi*d], 0)
		}
		for i := lo; i < hi; i++ {
			g, dx, l := p.factor*float64(p.dy[min(i, len(p.dy)-1)]), e.row(p.dx, i), int(e.Labels[i])
			if p.logits {
				e.logitGrad(dx, buf[(i-lo)*d:(i-lo+1)*d], l, g)
			} else {
				e.logGrad(dx, l, g)
			}
		}
	})
}

// loss returns that of one row.
func (e *Entropy) loss(logp []tensor.Float, label int) float64 {
	loss := -(1 - e.Smoothing) * e.weight(label) * float64(logp[label])
	if e.Smoothing > 0 {
		for j, v := range logp {
			loss -= e.Smoothing / float64(len(logp)) * e.weight(j) * float64(v)
		}
	}
	return loss
}

// logGrad adds g·∂ℓ/∂log p of one row.
func (e *Entropy) logGrad(dx []tensor.Float, label int, g float64) {
	for j := range dx {
		dx[j] -= tensor.Float(g * e.target(j, label, len(dx)))
	}
}

// logitGrad adds g·∂ℓ/∂x of one row: with t_c the target weight of class c, it
// is p_c·Σt − t_c.
func (e *Entropy) logitGrad(dx, p []tensor.Float, label int, g float64) {
	if e.Smoothing == 0 {
		w := tensor.Float(g * e.weight(label))
		if len(p) < 16 { // less work than a call
			for j, v := range p {
				dx[j] += w * v
			}
		} else {
			vec.Axpy(dx, w, p)
		}
		dx[label] -= w
		return
	}
	sum := 0.0
	for j := range p {
		sum += e.target(j, label, len(p))
	}
	for j, v := range p {
		dx[j] += tensor.Float(g * (float64(v)*sum - e.target(j, label, len(p))))
	}
}

// target returns t_j: what −log p_j is multiplied by in a row of that label.
func (e *Entropy) target(j, label, classes int) (t float64) {
	if e.Smoothing > 0 {
		t = e.Smoothing / float64(classes) * e.weight(j)
	}
	if j == label {
		t += (1 - e.Smoothing) * e.weight(j)
	}
	return t
}

func (e *Entropy) weight(class int) float64 {
	if e.Weights == nil {
		return 1
	}
	return e.Weights[class]
}
