package dense

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// PairLoss is a loss of an element x against a target y.
type PairLoss interface {
	// At returns the loss of pair i with its slopes by x and y.
	At(i int, x, y float64) (loss, dx, dy float64)
}

// slopingLoss is a PairLoss whose slopes alone take less time; they are those of At, to the bit.
type slopingLoss interface {
	Slope(i int, x, y float64) (dx, dy float64)
}

// Pairs is a loss of all elements of X against those of Y:
//
//	for i := range X {
//		loss += Of.At(i, x[i], y[i])
//		count++
//	}
//
// in float64.
type Pairs struct {
	Of          PairLoss
	X, Y        []tensor.Float
	SkipMissing bool // leave out pairs whose y is NaN
	Each        bool // a loss a pair is wanted
}

// PairGrads are the gradients of X and Y that a loss adds to, nil where not wanted.
type PairGrads struct {
	X, Y   []tensor.Float
	Shared bool // they have elements in common
}

// pairPart is how many elements are summed at a time: parts may be taken by other
// threads, and their sums are added in order.
const pairPart = 1 << 13

// pairSum is the sum of losses of a part, and how many elements counted.
type pairSum struct{ loss, count float64 }

// Forward returns the sum of all losses and how many counted. It sets each, where Each
// says that it is wanted, to the losses that count.
func (p *Pairs) Forward(each []tensor.Float) (loss, count float64) {
	n := len(p.X)
	if n <= pairPart {
		s := p.sum(each, part{0, n})
		return s.loss, s.count
	}
	sums := make([]pairSum, (n-1)/pairPart+1)
	par.For(n, pairPart, func(lo, hi int) { sums[lo/pairPart] = p.sum(each, part{lo, hi}) })
	for _, s := range sums {
		loss += s.loss
		count += s.count
	}
	return loss, count
}

// Backward adds factor·dz times the slopes of each loss to the gradients. dz has an
// element a pair, or one for all.
func (p *Pairs) Backward(to PairGrads, dz []tensor.Float, factor float64) {
	n := len(p.X)
	if n <= pairPart || to.Shared { // without the memory of a closure, or in order
		p.backward(to, dz, factor, part{0, n})
		return
	}
	par.For(n, pairPart, func(lo, hi int) { p.backward(to, dz, factor, part{lo, hi}) })
}

func (p *Pairs) missing(i int) bool {
	v := p.Y[i]
	return p.SkipMissing && v != v
}

// plain reports whether the loss is the square of every difference, which is
// common enough for a loop of its own.
func (p *Pairs) plain() bool {
	_, ok := p.Of.(Squared)
	return ok && !p.SkipMissing && !p.Each
}

func (p *Pairs) sum(each []tensor.Float, r part) (s pairSum) {
	if p.plain() {
		return pairSum{distance64(p.X[r.lo:r.hi], p.Y[r.lo:r.hi]), float64(r.hi - r.lo)}
	}
	if p.tiled() {
		return p.tiledSum(r)
	}
	for i := r.lo; i < r.hi; i++ {
		if p.missing(i) {
			continue
		}
		loss, _, _ := p.Of.At(i, float64(p.X[i]), float64(p.Y[i]))
		if p.Each {
			each[i] = tensor.Float(loss)
		}
		s.loss += loss
		s.count++
	}
	return s
}

func (p *Pairs) backward(to PairGrads, dz []tensor.Float, factor float64, r part) {
	if p.plain() {
		g := tensor.Float(2 * factor * float64(dz[0]))
		addDifference(to.X, p.X, p.Y, difference{g, r})
		addDifference(to.Y, p.Y, p.X, difference{g, r})
		return
	}
	if p.tiled() { // Y's slopes are 0
		if to.X != nil {
			p.tiledBackward(to.X, factor*float64(dz[0]), r)
		}
		return
	}
	sloping, alone := p.Of.(slopingLoss)
	for i := r.lo; i < r.hi; i++ {
		if p.missing(i) {
			continue
		}
		g := factor * float64(dz[min(i, len(dz)-1)])
		var sx, sy float64
		if x, y := float64(p.X[i]), float64(p.Y[i]); alone {
			sx, sy = sloping.Slope(i, x, y)
		} else {
			_, sx, sy = p.Of.At(i, x, y)
		}
		add(to.X, i, g*sx)
		add(to.Y, i, g*sy)
	}
}

// difference is c times a difference, of part of the elements.
type difference struct {
	c tensor.Float
	part
}

// addDifference adds c·(x − y) to d, unless d is nil.
func addDifference(d, x, y []tensor.Float, by difference) {
	if d == nil {
		return
	}
	to, x, y := d[by.lo:by.hi], x[by.lo:by.hi], y[by.lo:by.hi]
	for i := range to {
		to[i] += by.c * (x[i] - y[i])
	}
}
