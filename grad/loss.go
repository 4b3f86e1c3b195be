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
	n := notes[lossNotes](op)
	*n = lossNotes{x: x, y: y, factor: 1, kernel: dense.Pairs{
		Of: loss, X: x.val.Data, Y: y.val.Data, SkipMissing: l.SkipMissing, Each: l.Reduction == EachLoss,
	}}
	if !op.dry(0) {
		sum, count := n.kernel.Forward(z.val.Data)
		n.factor = l.Reduction.reduce(z, sum, count, x.Dim(0))
	}
	return op.recordBy(z, n)
}

var oneElement = []int{1}

// lossNotes is the pullback of a loss of pairs of elements.
type lossNotes struct {
	x, y   *Var
	kernel dense.Pairs
	factor float64 // of all gradients
}

// Pull adds to the gradients of x and y.
func (n *lossNotes) Pull(dz *tensor.Dense) {
	to := dense.PairGrads{X: gradOf(n.x), Y: gradOf(n.y), Shared: !distinct(n.x, n.y)}
	n.kernel.Backward(to, dz.Data, n.factor)
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
