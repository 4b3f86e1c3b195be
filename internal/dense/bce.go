package dense

import (
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Many losses of a BCE without weights are taken by tiles: what needs an exponential is
// float32, each of it to a few units in its last place, the rest float64.

// bceTile is how many elements are taken at a time.
const bceTile = 1 << 9

// tiled reports whether the losses are taken so.
func (p *Pairs) tiled() bool {
	b, ok := p.Of.(*BCE)
	return ok && b.Pos == nil && b.Weights == nil && !p.SkipMissing && !p.Each && len(p.X) > pairPart
}

// tiles calls f with tiles of r, and what u makes of −|x| in each.
func (p *Pairs) tiles(r part, u vec.Unary, f func(x, y, small []tensor.Float, at int)) {
	buf := scratch.Borrow(bceTile)
	for lo := r.lo; lo < r.hi; lo += bceTile {
		hi := min(lo+bceTile, r.hi)
		x, small := p.X[lo:hi], (*buf)[:hi-lo]
		vec.Abs.Forward(small, x, 0)
		vec.Neg.Forward(small, small, 0)
		u.Forward(small, small, 0)
		f(x, p.Y[lo:hi], small, lo)
	}
	scratch.Repay(buf)
}

// tiledSum is the sum of BCE's losses, max(x, 0) − t·x + log(1 + e^−|x|): where a loss is
// small, the first two are equal and the last is all of it.
func (p *Pairs) tiledSum(r part) (s pairSum) {
	p.tiles(r, vec.Softplus, func(x, t, soft []tensor.Float, _ int) {
		t, soft = t[:len(x)], soft[:len(x)]
		for i, v := range x {
			s.loss += max(float64(v), 0) - float64(t[i])*float64(v) + float64(soft[i])
		}
	})
	s.count = float64(r.hi - r.lo)
	return s
}

// tiledBackward adds g times BCE's slopes, (1 − t)·σ(x) − t·σ(−x), to dx.
func (p *Pairs) tiledBackward(dx []tensor.Float, g float64, r part) {
	p.tiles(r, vec.Exp, func(x, t, small []tensor.Float, at int) {
		to := dx[at : at+len(x)]
		t, small = t[:len(x)], small[:len(x)]
		for i, v := range x {
			e := float64(small[i])
			up := 1 / (1 + e) // σ(x)
			down := e * up
			if v < 0 {
				up, down = down, up
			}
			y := float64(t[i])
			to[i] += tensor.Float(g * ((1-y)*up - y*down))
		}
	})
}
