package exec

import (
	"math"
	"sort"

	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Sparsemax is max(x − τ, 0) with the τ for which a column sums to 1. Entries that
// are 1 or more below the largest get nothing, so that a destination in parts is seen
// twice: once for the largest, and once for the entries near it. Those are sorted, so
// no bit depends on how edges are grouped.

// below is how far x is below the largest entry, which may be infinite: −∞ where it is
// infinitely far.
func below(x, top tensor.Float) tensor.Float {
	if x == top {
		return 0
	}
	return x - top
}

// findNear keeps the entries that are less than 1 below the largest of their column,
// and NaN.
func (w *worker) findNear(top, x []tensor.Float) {
	n := len(top)
	for k, v := range x {
		if d := below(v, top[k%n]); !(d <= -1) {
			w.best, w.bestEdges = append(w.best, d), append(w.bestEdges, int32(k%n))
		}
	}
}

// byColumn sorts the entries that findNear keeps: by column, and then the largest
// first and NaN before it.
type byColumn worker

func (w *byColumn) Len() int { return len(w.best) }

func (w *byColumn) Less(i, j int) bool {
	if w.bestEdges[i] != w.bestEdges[j] {
		return w.bestEdges[i] < w.bestEdges[j]
	}
	return before(w.best[i], 0, w.best[j], 0)
}

func (w *byColumn) Swap(i, j int) {
	w.best[i], w.best[j] = w.best[j], w.best[i]
	w.bestEdges[i], w.bestEdges[j] = w.bestEdges[j], w.bestEdges[i]
}

// settleSparse finds the thresholds at v.
func (w *worker) settleSparse(s *plan.Step, v int) {
	sort.Sort((*byColumn)(w))
	top, tau, count := w.pass.stats.of(w.pass.stats.top, s, v), w.pass.stats.of(w.pass.stats.sum, s, v), w.statEdges(s, v)
	at := 0
	for j := range tau {
		end := at
		for end < len(w.best) && int(w.bestEdges[end]) == j {
			end++
		}
		if math.IsInf(float64(top[j]), -1) && (at == end || w.best[at] == w.best[at]) {
			tau[j], count[j] = 0, 0 // nothing has a weight
		} else {
			tau[j], count[j] = threshold(w.best[at:end])
		}
		at = end
	}
}

// threshold returns τ of entries that descend, and how many are above it.
func threshold(x []tensor.Float) (tau tensor.Float, above int32) {
	t, sum := math.NaN(), 0.0
	for k, v := range x {
		sum += float64(v)
		if next := (sum - 1) / float64(k+1); k == 0 || float64(v) > next {
			t = next
			continue
		}
		break
	}
	tau = tensor.Float(t)
	for _, v := range x {
		if v-tau > 0 {
			above++
		}
	}
	return tau, above
}

// sparseWeights is max(x − τ, 0), with x and τ counted from the largest entry. NaN
// stays.
func sparseWeights(y, x, top, tau []tensor.Float) {
	n := len(tau)
	for k, v := range x {
		if y[k] = below(v, top[k%n]) - tau[k%n]; y[k] < 0 {
			y[k] = 0
		}
	}
}

// ofSupport sets g to dy where there is a weight, else to zero.
func ofSupport(g, y, dy []tensor.Float) {
	for k, v := range y {
		if g[k] = 0; !(v <= 0) {
			g[k] = dy[k]
		}
	}
}

// pullSparse is the gradient of a Sparsemax: dx += dy − c/count where there is a
// weight.
func pullSparse(r inEdgeGrads, c []tensor.Float, count []int32) {
	n := len(c)
	for k, v := range r.y {
		if !(v <= 0) {
			r.dx[k] += r.dy[k] - c[k%n]/tensor.Float(max(count[k%n], 1)) + (v - v) // NaN stays
		}
	}
}
