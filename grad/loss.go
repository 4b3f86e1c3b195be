package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Reduction says what a loss makes of the losses of its rows or elements.
type Reduction uint8

// The reductions. All sums are float64.
const (
	MeanLoss  Reduction = iota // their mean, over those that count; of none zero
	SumLoss                    // their sum
	EachLoss                   // all of them; what does not count is 0
	BatchMean                  // their sum, divided by the length of the first axis
)

// factor returns what the sum of losses is multiplied by: total is what counts,
// rows the length of the first axis.
func (r Reduction) factor(total float64, rows int) float64 {
	switch {
	case r == MeanLoss && total > 0:
		return 1 / total
	case r == MeanLoss:
		return 0
	case r == BatchMean:
		return 1 / float64(max(1, rows))
	case r > BatchMean:
		panic(&TapeError{Op: "Reduction", Why: fmt.Sprintf("there is no reduction %d", r)})
	}
	return 1
}

// losses returns how many elements the result has, of n losses.
func (r Reduction) losses(n int) int {
	if r == EachLoss {
		return n
	}
	return 1
}

// each returns the elements of the result y where each loss has one, else nil.
func (r Reduction) each(y *Var) []tensor.Float {
	if r == EachLoss {
		return y.val.Data
	}
	return nil
}

// reduce sets the result y, unless it is each loss, from the sum of the losses, and
// returns what that was multiplied by: the factor of all gradients.
func (r Reduction) reduce(y *Var, sum, total float64, rows int) (factor float64) {
	if r == EachLoss {
		return 1
	}
	factor = r.factor(total, rows)
	y.val.Data[0] = tensor.Float(sum * factor)
	return factor
}

// Loss compares each element of x with that of a target of the same shape. The
// methods are the losses; the zero value takes the mean. The target gets its
// gradient too, if it wants one. A NaN in either makes the loss NaN.
type Loss struct {
	Reduction   Reduction
	SkipMissing bool // leave out elements whose target is NaN: labels that are not known
}

// MSE is the square of x − y.
func (l Loss) MSE(x, y *Var) *Var { return l.of("MSE", dense.Squared{}, x, y) }

// L1 is |x − y|, with the slope 0 at 0.
func (l Loss) L1(x, y *Var) *Var { return l.of("L1", dense.Huber{To: 0, Slope: 1}, x, y) }

// Huber is d²/2 where d = |x − y| is at most delta, and beyond delta·(d − delta/2).
func (l Loss) Huber(x, y *Var, delta float64) *Var {
	return l.of("Huber", dense.Huber{To: delta, Slope: delta}, x, y)
}

// SmoothL1 is d²/(2·beta) where d = |x − y| is at most beta, and beyond
// d − beta/2; with beta 0 it is L1.
func (l Loss) SmoothL1(x, y *Var, beta float64) *Var {
	return l.of("SmoothL1", dense.Huber{To: beta, Slope: 1}, x, y)
}

// KL is y·(log y − x), x being the logarithm of a probability and y another one:
// the Kullback-Leibler divergence of y from eˣ, for which BatchMean is the usual
// reduction. Where y is 0 it is 0, and so are its slopes.
func (l Loss) KL(x, y *Var) *Var { return l.of("KL", dense.KL{}, x, y) }

// Ranking is max(0, margin − x + y): x is to score higher than y by a margin, as
// an edge that is there over one that is not.
func (l Loss) Ranking(x, y *Var, margin float64) *Var {
	return l.of("Ranking", dense.Ranking{Margin: margin}, x, y)
}

// of applies a loss to every element.
func (l Loss) of(name string, loss dense.PairLoss, x, y *Var) *Var {
	op := Begin(name, x, y)
	if !slices.Equal(x.Value().Shape(), y.Value().Shape()) {
		panic(tensor.Mismatch("grad."+name, x, y))
	}
	shape := oneElement
	if l.Reduction == EachLoss {
		shape = x.Shape()
	}
	z := op.New(shape...)
	n := note(op, lossNotes{x: x, y: y, factor: 1, dense: dense.Pairs{
		Of: loss, X: x.val.Data, Y: y.val.Data, SkipMissing: l.SkipMissing, Each: l.Reduction == EachLoss,
	}})
	if !op.dry(0) {
		sum, count := n.dense.Forward(z.val.Data)
		n.factor = l.Reduction.reduce(z, sum, count, x.Dim(0))
	}
	return op.recordBy(z, n)
}

var oneElement = []int{1}

// lossNotes is the pullback of a loss of pairs of elements.
type lossNotes struct {
	x, y   *Var
	dense  dense.Pairs
	factor float64 // of all gradients
}

// Pull adds to the gradients of x and y.
func (n *lossNotes) Pull(dz *tensor.Dense) {
	to := dense.PairGrads{X: gradOf(n.x), Y: gradOf(n.y), Shared: !distinct(n.x, n.y)}
	n.dense.Backward(to, dz.Data, n.factor)
}

// MSE returns the mean of the squares of x − y.
func (x *Var) MSE(y *Var) *Var { return Loss{}.MSE(x, y) }

// L1 returns the mean of |x − y|.
func (x *Var) L1(y *Var) *Var { return Loss{}.L1(x, y) }

// Reinforce returns −mean(advantage·x), x being the logarithms of the
// probabilities of actions that were drawn, and advantage the reward of each over
// what was expected. Its gradient is the score-function estimate of that of the
// expected reward, negated; its value means nothing. Williams 1992, "Simple
// Statistical Gradient-Following Algorithms for Connectionist Reinforcement
// Learning".
func (x *Var) Reinforce(advantage []float64) *Var {
	op := Begin("Reinforce", x)
	if len(advantage) != len(x.Value().Data) {
		panic(&tensor.ShapeError{Op: "grad.Reinforce", Shapes: [][]int{slices.Clone(x.Shape()), {len(advantage)}}, Why: "each element needs an advantage"})
	}
	y := op.New(1)
	c := -1 / float64(max(1, len(advantage)))
	s := 0.0
	for i, a := range advantage {
		s += c * a * float64(x.val.Data[i])
	}
	y.val.Data[0] = tensor.Float(s)
	return op.Record(y, func(dy *tensor.Dense) {
		dx, g := x.Grad().Data, c*float64(dy.Data[0])
		for i, a := range advantage {
			dx[i] += tensor.Float(g * a)
		}
	})
}

// BCE is the binary cross-entropy of logits x against targets t from 0 to 1, for
// each element,
//
//	ℓ = −w·(p·t·log σ(x) + (1 − t)·log(1 − σ(x))),   σ(x) = 1/(1 + e⁻ˣ)
//
// as accurate for large logits. The target gets no gradient.
type BCE struct {
	Loss
	PosWeight []float64     // p of each column; nil: all 1
	Weights   *tensor.Dense // w, broadcast to x; nil: all 1
}

// BCE returns the mean binary cross-entropy of logits x against targets from 0 to
// 1.
func (x *Var) BCE(target *Var) *Var { return BCE{}.Of(x, target) }

// Of returns the loss of logits x against a target of the same shape.
func (b BCE) Of(x, target *Var) *Var {
	d := x.Value().Dim(-1)
	if b.PosWeight != nil && len(b.PosWeight) != d {
		panic(&tensor.ShapeError{Op: "grad.BCE", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("%d weights of positives for %d columns", len(b.PosWeight), d)})
	}
	e := notes[dense.BCE](Op{tape: x.tape})
	e.Width, e.Pos = d, b.PosWeight
	if b.Weights != nil {
		if shape, ok := tensor.Broadcast(x.Shape(), b.Weights.Shape()); !ok || !slices.Equal(shape, x.Shape()) {
			panic(tensor.Mismatch("grad.BCE", x, b.Weights))
		}
		e.Weights = Const(b.Weights).fit(x.Shape()).val.Data
	}
	if target.needs {
		target = target.Detach()
	}
	return b.of("BCE", e, x, target)
}

// Hinge is the margin loss of rows of scores against one label each,
//
//	ℓ_i = 1/C·Σ_{c≠y} max(0, margin − x_iy + x_ic)
//
// Rows labelled NoLabel do not count.
type Hinge struct {
	Margin    float64 // 0 means 1
	Reduction Reduction
}

// Of returns the loss of scores x, a matrix of a row for each label. It panics
// with a [*tensor.ShapeError] on a label that is neither a column nor NoLabel.
func (h Hinge) Of(x *Var, labels []int32) *Var {
	op := Begin("Hinge", x)
	checkLabels("Hinge", x, labels)
	n := note(op, hingeNotes{x: x, dense: dense.Hinge{X: x.val.Data, Classes: x.Dim(1), Labels: labels, Margin: Preset(h.Margin, 1)}})
	y := op.New(h.Reduction.losses(len(labels)))
	loss, count := n.dense.Forward(h.Reduction.each(y))
	n.factor = h.Reduction.reduce(y, loss, count, len(labels))
	return op.recordBy(y, n)
}

// hingeNotes is the pullback of a margin loss.
type hingeNotes struct {
	x      *Var
	dense  dense.Hinge
	factor float64 // of all gradients
}

// Pull adds to x's gradient.
func (n *hingeNotes) Pull(dy *tensor.Dense) { n.dense.Backward(n.x.Grad().Data, dy.Data, n.factor) }

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
	e := c.begin(op, x, labels)
	e.dense.LogP = op.freshFloats(len(x.val.Data))
	if !op.dry(0) {
		e.dense.SetLogP(x.val.Data)
	}
	return e.record(op)
}

// OfLog is Of where x holds log p already: the negative log-likelihood.
func (c CrossEntropy) OfLog(x *Var, labels []int32) *Var {
	op := Begin("NLL", x)
	c.check(op.name, x, labels)
	e := c.begin(op, x, labels)
	e.dense.LogP, e.given = x.val.Data, true
	return e.record(op)
}

// entropyNotes is the pullback of a cross-entropy.
type entropyNotes struct {
	x         *Var
	dense     dense.Entropy
	reduction Reduction
	given     bool    // x is log p
	factor    float64 // of all gradients
}

func (c CrossEntropy) begin(op Op, x *Var, labels []int32) *entropyNotes {
	e := note(op, entropyNotes{x: x, reduction: c.Reduction, dense: dense.Entropy{
		Classes: x.Dim(1), Labels: labels, Weights: c.Weights, Smoothing: c.Smoothing, Mask: c.Mask,
	}})
	return e
}

func (e *entropyNotes) record(op Op) *Var {
	y := op.New(e.reduction.losses(len(e.dense.Labels)))
	if !op.dry(0) {
		loss, weight := e.dense.Forward(e.reduction.each(y))
		e.factor = e.reduction.reduce(y, loss, weight, len(e.dense.Labels))
	}
	return op.recordBy(y, e)
}

// Pull adds to x's gradient.
func (e *entropyNotes) Pull(dy *tensor.Dense) {
	if e.given {
		e.dense.Backward(e.x.Grad().Data, dy.Data, e.factor)
	} else {
		e.dense.BackwardLogits(e.x.Grad().Data, dy.Data, e.factor)
	}
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

// checkLabels panics unless x is a matrix and labels has a column of it, or
// NoLabel, for each row.
func checkLabels(op string, x *Var, labels []int32) {
	if len(x.Value().Shape()) != 2 || x.Dim(0) != len(labels) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape()), {len(labels)}}, Why: "a matrix needs a label for each row"})
	}
	for i, l := range labels {
		if l != NoLabel && uint(l) >= uint(x.Dim(1)) {
			panic(badLabel(op, x, i, l))
		}
	}
}

func badLabel(op string, x *Var, row int, label int32) error {
	return &tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("label %d of row %d is no class", label, row)}
}
