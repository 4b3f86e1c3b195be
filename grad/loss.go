package grad

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/par"
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
func (l Loss) MSE(x, y *Var) *Var { return l.of("MSE", squared{}, x, y) }

// L1 is |x − y|, with the slope 0 at 0.
func (l Loss) L1(x, y *Var) *Var { return l.of("L1", huber{0, 1}, x, y) }

// Huber is d²/2 where d = |x − y| is at most delta, and beyond delta·(d − delta/2).
func (l Loss) Huber(x, y *Var, delta float64) *Var {
	return l.of("Huber", huber{delta, delta}, x, y)
}

// SmoothL1 is d²/(2·beta) where d = |x − y| is at most beta, and beyond
// d − beta/2; with beta 0 it is L1.
func (l Loss) SmoothL1(x, y *Var, beta float64) *Var {
	return l.of("SmoothL1", huber{beta, 1}, x, y)
}

// KL is y·(log y − x), x being the logarithm of a probability and y another one:
// the Kullback-Leibler divergence of y from eˣ, for which BatchMean is the usual
// reduction. Where y is 0 it is 0, and so are its slopes.
func (l Loss) KL(x, y *Var) *Var { return l.of("KL", kl{}, x, y) }

// Ranking is max(0, margin − x + y): x is to score higher than y by a margin, as
// an edge that is there over one that is not.
func (l Loss) Ranking(x, y *Var, margin float64) *Var {
	return l.of("Ranking", ranking{margin}, x, y)
}

// element is a loss of element i, with its slopes by x and y.
type element interface {
	at(i int, x, y float64) (loss, dx, dy float64)
}

type squared struct{}

func (squared) at(_ int, x, y float64) (loss, dx, dy float64) {
	d := x - y
	return d * d, 2 * d, -2 * d
}

// huber is quadratic up to to, with slope there and beyond.
type huber struct{ to, slope float64 }

func (h huber) at(_ int, x, y float64) (loss, dx, dy float64) {
	d := x - y
	switch {
	case d > h.to:
		return h.slope * (d - h.to/2), h.slope, -h.slope
	case d < -h.to:
		return h.slope * (-d - h.to/2), -h.slope, h.slope
	case h.to == 0:
		return d, 0, 0 // 0, or NaN
	}
	s := h.slope / h.to
	return s * d * d / 2, s * d, -s * d
}

type kl struct{}

func (kl) at(_ int, x, y float64) (loss, dx, dy float64) {
	if y == 0 {
		return 0, 0, 0
	}
	l := math.Log(y)
	return y * (l - x), -y, l + 1 - x
}

type ranking struct{ margin float64 }

func (r ranking) at(_ int, x, y float64) (loss, dx, dy float64) {
	if d := r.margin - x + y; !(d <= 0) {
		return d, -1, 1
	}
	return 0, 0, 0
}

// lossPart is how many elements are summed at a time: parts may be taken by other
// threads, and their sums are added in order.
const lossPart = 1 << 13

// of applies a loss to every element.
func (l Loss) of(name string, e element, x, y *Var) *Var {
	op := Begin(name, x, y)
	if !slices.Equal(x.Value().Shape(), y.Value().Shape()) {
		panic(tensor.Mismatch("grad."+name, x, y))
	}
	shape := oneElement
	if l.Reduction == EachLoss {
		shape = x.Shape()
	}
	z := op.New(shape...)
	p := Notes[pairs](op)
	*p = pairs{l: l, e: e, x: x, y: y, factor: 1}
	if !op.Dry(0) {
		p.forward(z.val.Data)
	}
	return op.RecordBy(z, p)
}

// Pull adds to the gradients of x and y.
func (p *pairs) Pull(dz *tensor.Dense) {
	n := len(p.x.val.Data)
	dx, dy := p.x.Grad(), p.y.Grad()
	if n <= lossPart || !distinct(p.x, p.y) { // without the memory of a closure, or in order
		p.pull(dx, dy, dz.Data, part{0, n})
		return
	}
	par.For(n, lossPart, func(lo, hi int) { p.pull(dx, dy, dz.Data, part{lo, hi}) })
}

var oneElement = []int{1}

// pairs is a loss of pairs of elements.
type pairs struct {
	l      Loss
	e      element
	x, y   *Var
	factor float64 // of all gradients
}

// part is elements lo to hi.
type part struct{ lo, hi int }

// total is the sum of losses of a part, and how many elements counted.
type total struct{ loss, count float64 }

func (p *pairs) missing(i int) bool {
	v := p.y.val.Data[i]
	return p.l.SkipMissing && v != v
}

// forward works out the loss z and the factor.
func (p *pairs) forward(z []tensor.Float) {
	var all total
	if n := len(p.x.val.Data); n <= lossPart {
		all = p.sum(z, part{0, n})
	} else {
		sums := make([]total, (n-1)/lossPart+1)
		par.For(n, lossPart, func(lo, hi int) { sums[lo/lossPart] = p.sum(z, part{lo, hi}) })
		for _, s := range sums {
			all.loss += s.loss
			all.count += s.count
		}
	}
	if p.l.Reduction != EachLoss {
		p.factor = p.l.Reduction.factor(all.count, p.x.Dim(0))
		z[0] = tensor.Float(all.loss * p.factor)
	}
}

// plain reports whether the loss is the square of every difference, which is
// common enough for a loop of its own.
func (p *pairs) plain() bool {
	_, ok := p.e.(squared)
	return ok && !p.l.SkipMissing && p.l.Reduction != EachLoss
}

func (p *pairs) sum(z []tensor.Float, r part) (s total) {
	if p.plain() {
		return total{dense.Distance64(p.x.val.Data[r.lo:r.hi], p.y.val.Data[r.lo:r.hi]), float64(r.hi - r.lo)}
	}
	for i := r.lo; i < r.hi; i++ {
		if p.missing(i) {
			continue
		}
		loss, _, _ := p.e.at(i, float64(p.x.val.Data[i]), float64(p.y.val.Data[i]))
		if p.l.Reduction == EachLoss {
			z[i] = tensor.Float(loss)
		}
		s.loss += loss
		s.count++
	}
	return s
}

func (p *pairs) pull(dx, dy *tensor.Dense, dz []tensor.Float, r part) {
	if p.plain() {
		g := tensor.Float(2 * p.factor * float64(dz[0]))
		addDifference(dx, p.x.val.Data, p.y.val.Data, difference{g, r})
		addDifference(dy, p.y.val.Data, p.x.val.Data, difference{g, r})
		return
	}
	for i := r.lo; i < r.hi; i++ {
		if p.missing(i) {
			continue
		}
		g := p.factor * float64(dz[min(i, len(dz)-1)])
		_, sx, sy := p.e.at(i, float64(p.x.val.Data[i]), float64(p.y.val.Data[i]))
		if dx != nil {
			dx.Data[i] += tensor.Float(g * sx)
		}
		if dy != nil {
			dy.Data[i] += tensor.Float(g * sy)
		}
	}
}

// difference is c times a difference, of part of the elements.
type difference struct {
	c tensor.Float
	part
}

// addDifference adds c·(x − y) to d, unless d is nil.
func addDifference(d *tensor.Dense, x, y []tensor.Float, by difference) {
	if d == nil {
		return
	}
	to, x, y := d.Data[by.lo:by.hi], x[by.lo:by.hi], y[by.lo:by.hi]
	for i := range to {
		to[i] += by.c * (x[i] - y[i])
	}
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
