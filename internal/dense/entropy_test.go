package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plainEntropy is the loss of each row in plain loops of float64, with its gradients by
// log p and, through the softmax, by logits.
func plainEntropy(e dense.Entropy, i int) (loss float64, logp, logits []float64) {
	d, label := e.Classes, int(e.Labels[i])
	row := e.LogP[i*d : i*d+d]
	logp, logits = make([]float64, d), make([]float64, d)
	sum := 0.0
	for c := range row {
		w, t := 1.0, e.Smoothing/float64(d)
		if e.Weights != nil {
			w = e.Weights[c]
		}
		if c == label {
			t += 1 - e.Smoothing
		}
		logp[c] = -w * t
		sum += w * t
		if w*t != 0 {
			loss -= w * t * float64(row[c])
		}
	}
	for c, v := range row {
		logits[c] = math.Exp(float64(v))*sum + logp[c]
	}
	return loss, logp, logits
}

// TestEntropy compares losses of rows against labels, and their gradients, with plain
// loops: with and without weights, smoothing and rows that do not count, on several
// threads.
func TestEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(58, 58))
	for _, s := range [][2]int{{0, 3}, {1, 1}, {5, 2}, {3, 7}, {4, 16}, {9, 33}, {250, 40}, {1800, 5}, {6, 1500}} {
		n, d := s[0], s[1]
		x, dx := random(rng, n*d), random(rng, n*d)
		labels, mask, weights := make([]int32, n), make([]bool, n), make([]float64, d)
		for i := range labels {
			labels[i], mask[i] = int32(rng.IntN(d+1))-1, rng.IntN(5) > 0
		}
		for c := range weights {
			weights[c] = rng.Float64()
		}
		for kind := range 8 {
			e := dense.Entropy{Classes: d, Labels: labels}
			if kind&1 > 0 {
				e.Weights = weights
			}
			if kind&2 > 0 {
				e.Smoothing = 0.2
			}
			if kind&4 > 0 {
				e.Mask = mask
			}
			for _, dy := range [][]tensor.Float{{0.7}, random(rng, max(1, n))} {
				compareEntropy(t, fmt.Sprintf("%d×%d, kind %d, %d gradients", n, d, kind, len(dy)), e, [][]tensor.Float{x, dx, dy})
			}
		}
	}
}

// compareEntropy compares e of logits with plain loops; of are the logits, what gradients
// are added to, and those of the losses.
func compareEntropy(t *testing.T, what string, e dense.Entropy, of [][]tensor.Float) {
	t.Helper()
	const factor = 0.3
	x, dx, dy := of[0], of[1], of[2]
	n, d := len(e.Labels), e.Classes
	e.LogP = make([]tensor.Float, n*d)
	got := threaded(t, what, func() []tensor.Float {
		e := e
		e.LogP = slices.Clone(e.LogP)
		each, to := make([]tensor.Float, n), copied(dx, dx)
		e.SetLogP(x)
		loss, weight := e.Forward(each)
		if again, _ := e.Forward(nil); again != loss {
			t.Errorf("%s: a loss of %v with each, %v without", what, loss, again)
		}
		e.BackwardLogits(to[0], dy, factor)
		e.Backward(to[1], dy, factor)
		return slices.Concat(e.LogP, each, to[0], to[1], []tensor.Float{tensor.Float(loss), tensor.Float(weight)})
	})
	each, to := make([]tensor.Float, n), copied(dx, dx)
	total, weight := 0.0, 0.0
	for i, l := range e.Labels {
		if l < 0 || e.Mask != nil && !e.Mask[i] {
			continue
		}
		sum := 0.0
		for _, v := range x[i*d : i*d+d] {
			sum += math.Exp(float64(v))
		}
		for c, v := range x[i*d : i*d+d] {
			e.LogP[i*d+c] = tensor.Float(float64(v) - math.Log(sum))
		}
		loss, logp, logits := plainEntropy(e, i)
		each[i] = tensor.Float(loss)
		total += loss
		if e.Weights != nil {
			weight += e.Weights[l]
		} else {
			weight++
		}
		g := factor * float64(dy[min(i, len(dy)-1)])
		for c := range d {
			to[0][i*d+c] += tensor.Float(g * logits[c])
			to[1][i*d+c] += tensor.Float(g * logp[c])
		}
	}
	compare.Near(t, what, got, slices.Concat(e.LogP, each, to[0], to[1], []tensor.Float{tensor.Float(total), tensor.Float(weight)}), rounded)
}

// TestHinge compares margin losses and their gradients with a plain loop.
func TestHinge(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 59))
	for _, s := range [][2]int{{0, 3}, {1, 1}, {5, 4}, {30, 9}} {
		n, d := s[0], s[1]
		h := dense.Hinge{X: random(rng, n*d), Classes: d, Labels: make([]int32, n), Margin: 0.8}
		if n > 9 {
			h.X[5*d+2] = tensor.Float(math.NaN())
		}
		dx, dy := random(rng, n*d), random(rng, max(1, n))
		want, wantEach, total, count := slices.Clone(dx), make([]tensor.Float, n), 0.0, 0.0
		for i := range n {
			y := (i+d)%(d+1) - 1
			h.Labels[i] = int32(y)
			if y < 0 {
				continue
			}
			count++
			loss := 0.0
			for c, v := range h.X[i*d : i*d+d] {
				if m := h.Margin - float64(h.X[i*d+y]) + float64(v); c != y && !(m <= 0) {
					loss += m / float64(d)
					want[i*d+c] += tensor.Float(0.5 * float64(dy[i]) / float64(d))
					want[i*d+y] -= tensor.Float(0.5 * float64(dy[i]) / float64(d))
				}
			}
			wantEach[i] = tensor.Float(loss)
			total += loss
		}
		each := make([]tensor.Float, n)
		loss, rows := h.Forward(each)
		h.Backward(dx, dy, 0.5)
		what := fmt.Sprintf("%d×%d", n, d)
		compare.Near(t, what, slices.Concat(each, dx, []tensor.Float{tensor.Float(loss), tensor.Float(rows)}), slices.Concat(wantEach, want, []tensor.Float{tensor.Float(total), tensor.Float(count)}), rounded)
	}
}
