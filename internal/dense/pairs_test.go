package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pairLosses are the losses of pairs, and the formula of each. A pair is of numbers from 0
// to 1, or near that.
func pairLosses(weights []tensor.Float) map[string]struct {
	of   dense.PairLoss
	want func(i int, x, y float64) float64
} {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	pos := []float64{1, 2, 0.5}
	return map[string]struct {
		of   dense.PairLoss
		want func(i int, x, y float64) float64
	}{
		"squared":  {dense.Squared{}, func(_ int, x, y float64) float64 { return (x - y) * (x - y) }},
		"absolute": {dense.Huber{To: 0, Slope: 1}, func(_ int, x, y float64) float64 { return math.Abs(x - y) }},
		"huber": {dense.Huber{To: 0.5, Slope: 2}, func(_ int, x, y float64) float64 {
			d := math.Abs(x - y)
			if d <= 0.5 {
				return 2 * d * d / (2 * 0.5)
			}
			return 2 * (d - 0.25)
		}},
		"kl":      {dense.KL{}, func(_ int, x, y float64) float64 { return y * (math.Log(y) - x) }},
		"ranking": {dense.Ranking{Margin: 0.3}, func(_ int, x, y float64) float64 { return max(0, 0.3-x+y) }},
		"bce": {&dense.BCE{Width: 3, Pos: pos, Weights: weights}, func(i int, x, t float64) float64 {
			return -float64(weights[i]) * (pos[i%3]*t*math.Log(sigmoid(x)) + (1-t)*math.Log(1-sigmoid(x)))
		}},
		"bce, plain": {&dense.BCE{Width: 3}, func(_ int, x, t float64) float64 {
			return -t*math.Log(sigmoid(x)) - (1-t)*math.Log(1-sigmoid(x))
		}},
	}
}

// TestPairLosses compares each loss with its formula and its slopes with differences of
// that.
func TestPairLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 60))
	const n = 30
	weights := make([]tensor.Float, n)
	for i := range weights {
		weights[i] = tensor.Float(rng.Float64())
	}
	for name, c := range pairLosses(weights) {
		for i := range n {
			x, y := 2*rng.Float64()-0.5, 0.1+0.8*rng.Float64()
			loss, dx, dy := c.of.At(i, x, y)
			const h = 1e-6
			wantX := (c.want(i, x+h, y) - c.want(i, x-h, y)) / (2 * h)
			wantY := (c.want(i, x, y+h) - c.want(i, x, y-h)) / (2 * h)
			if _, ok := c.of.(*dense.BCE); ok {
				wantY = 0 // a target gets no gradient
			}
			for k, d := range []float64{loss - c.want(i, x, y), dx - wantX, dy - wantY} {
				if !(math.Abs(d) < 1e-7) {
					t.Errorf("%s of %v and %v: loss, dx and dy are %v, %v and %v; number %d is off by %v", name, x, y, loss, dx, dy, k, d)
				}
			}
		}
	}
}

// TestPairs compares the sums of losses and their gradients with a plain loop, with and
// without targets that are missing, and their bits on several threads.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 61))
	for _, n := range []int{0, 1, 7, 1 << 13, 16_500} {
		x, y, dx, dy, weights := random(rng, n), random(rng, n), random(rng, n), random(rng, n), random(rng, n)
		for i, v := range y {
			y[i] = tensor.Float(0.5 + 0.4*math.Tanh(float64(v)))
		}
		holes := slices.Clone(y)
		for i := 0; i < n; i += 3 {
			holes[i] = tensor.Float(math.NaN())
		}
		for name, c := range pairLosses(weights) {
			for _, skip := range []bool{false, true} {
				for _, each := range []bool{false, true} {
					if n > 7 && skip == each && !sparing.Full() {
						continue // which are no matter of parts
					}
					p := dense.Pairs{Of: c.of, X: x, Y: y, SkipMissing: skip, Each: each}
					if skip {
						p.Y = holes
					}
					dz := []tensor.Float{0.7}
					if each {
						dz = random(rng, max(1, n))
					}
					comparePairs(t, fmt.Sprintf("%s of %d, %v, %v", name, n, skip, each), p, [][]tensor.Float{dx, dy, dz})
				}
			}
		}
	}
}

// comparePairs compares p with a plain loop; of are what gradients are added to, and
// those of the losses.
func comparePairs(t *testing.T, what string, p dense.Pairs, of [][]tensor.Float) {
	t.Helper()
	const factor = 0.3
	dz := of[2]
	got := threaded(t, what, func() []tensor.Float {
		each, to, alone := make([]tensor.Float, len(p.X)), copied(of...), copied(of...)
		loss, count := p.Forward(each)
		p.Backward(dense.PairGrads{X: to[0], Y: to[1]}, dz, factor)
		p.Backward(dense.PairGrads{X: alone[0]}, dz, factor)
		p.Backward(dense.PairGrads{Y: alone[1], Shared: true}, dz, factor)
		compare.Near(t, what+": gradients of X, one at a time", alone[0], to[0], same)
		compare.Near(t, what+": gradients of Y, one at a time", alone[1], to[1], same)
		return slices.Concat(each, to[0], to[1], []tensor.Float{tensor.Float(loss), tensor.Float(count)})
	})
	each, to, total, count := make([]tensor.Float, len(p.X)), copied(of...), 0.0, 0.0
	for i, v := range p.X {
		if p.SkipMissing && p.Y[i] != p.Y[i] {
			continue
		}
		loss, sx, sy := p.Of.At(i, float64(v), float64(p.Y[i]))
		if p.Each {
			each[i] = tensor.Float(loss)
		}
		total += loss
		count++
		g := factor * float64(dz[min(i, len(dz)-1)])
		to[0][i] += tensor.Float(g * sx)
		to[1][i] += tensor.Float(g * sy)
	}
	compare.Near(t, what, got, slices.Concat(each, to[0], to[1], []tensor.Float{tensor.Float(total), tensor.Float(count)}), rounded)
}
