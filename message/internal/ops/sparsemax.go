package ops

import (
	"math"
	"sort"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sparsemax is max(x − τ, 0) with the τ for which a column sums to 1. Entries that
// are 1 or more below the largest get nothing, so that a destination is seen
// twice: once for the largest, and once for the entries near it. Those are sorted, so
// no bit depends on how edges are grouped. Kept are the largest, τ counted from it, and
// how many entries are above that.
var sparsemax = across("Sparsemax", Own, &Across{
	Sightings: 2, Edges: true,
	Observe: func(d *Into, sighting int) {
		if sighting == 0 {
			vec.TopRows(d.Top, d.A)
		} else {
			findNear(d)
		}
	},
	Settle: settleSparse,
	Apply: func(d *Into) { // NaN stays
		y, top, tau, n := d.Y, d.Top, d.Sum, len(d.Sum)
		for k, v := range d.A {
			if y[k] = below(v, top[k%n]) - tau[k%n]; y[k] < 0 {
				y[k] = 0
			}
		}
	},
	Terms: func(g, y, dy []tensor.Float) { // dy where there is a weight
		for k, v := range y {
			if g[k] = 0; !(v <= 0) {
				g[k] = dy[k]
			}
		}
	},
	Pull: func(d *Into) { // dx += dy − Σdy/count, both where there is a weight
		dx, dy, c, count, n := d.DX, d.DY, d.Sums, d.Edge, len(d.Sums)
		for k, v := range d.Y {
			if !(v <= 0) {
				dx[k] += dy[k] - c[k%n]/tensor.Float(max(count[k%n], 1)) + (v - v) // NaN stays
			}
		}
	},
})

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
func findNear(d *Into) {
	top, n, best, columns := d.Top, len(d.Top), d.best, d.edges
	for k, v := range d.A {
		if far := below(v, top[k%n]); !(far <= -1) {
			best, columns = append(best, far), append(columns, int32(k%n))
		}
	}
	d.best, d.edges = best, columns
}

// byColumn sorts the entries that findNear keeps: by column, and then the largest
// first and NaN before it.
type byColumn Room

func (r *byColumn) Len() int { return len(r.best) }

func (r *byColumn) Less(i, j int) bool {
	if r.edges[i] != r.edges[j] {
		return r.edges[i] < r.edges[j]
	}
	return before(r.best[i], 0, r.best[j], 0)
}

func (r *byColumn) Swap(i, j int) {
	r.best[i], r.best[j] = r.best[j], r.best[i]
	r.edges[i], r.edges[j] = r.edges[j], r.edges[i]
}

// settleSparse finds the thresholds.
func settleSparse(d *Into) {
	sort.Sort((*byColumn)(d.Room))
	top, tau, count, best, columns := d.Top, d.Sum, d.Edge, d.best, d.edges
	at := 0
	for j := range tau {
		end := at
		for end < len(best) && int(columns[end]) == j {
			end++
		}
		if math.IsInf(float64(top[j]), -1) && (at == end || best[at] == best[at]) {
			tau[j], count[j] = 0, 0 // nothing has a weight
		} else {
			tau[j], count[j] = threshold(best[at:end])
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
