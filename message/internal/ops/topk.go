package ops

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// topK is the K largest, and −∞ elsewhere; with Mark 1 and 0. Kept are the last entry that is
// chosen and its edge.
var topK = topKOp()

func topKOp() Op {
	o := across("TopK", First, &Across{Sightings: 1, Edges: true, Observe: choose, Settle: settleChosen, Apply: keepChosen, Pull: pullKept})
	o.Reads = func(s *Step, _ int) Reads {
		if s.Mark {
			return None
		}
		return First
	}
	return o
}

// choose keeps the K best of each column, the best first.
func choose(d *Into, _ int) {
	n, best, edges := d.Width, d.best, d.edges
	for at := 0; at < len(d.A); at += n {
		if len(best) < d.K*n {
			for range n {
				best, edges = append(best, tensor.Float(math.Inf(-1))), append(edges, math.MaxInt32)
			}
		}
		for j, v := range d.A[at : at+n] {
			e := int32(d.Lo + at/n)
			for k := j; k < len(best); k += n {
				if before(v, e, best[k], edges[k]) {
					v, e, best[k], edges[k] = best[k], edges[k], v, e
				}
			}
		}
	}
	d.best, d.edges = best, edges
}

func settleChosen(d *Into) {
	kept := len(d.best) / max(d.Width, 1)
	for j := range d.Top {
		switch {
		case d.K == 0:
			d.Top[j], d.Edge[j] = tensor.Float(math.NaN()), -1
		case kept < d.K: // all
			d.Top[j], d.Edge[j] = tensor.Float(math.Inf(-1)), math.MaxInt32
		default:
			d.Top[j], d.Edge[j] = d.best[(kept-1)*d.Width+j], d.edges[(kept-1)*d.Width+j]
		}
	}
}

func keepChosen(d *Into) {
	n, y, last, edge, lo, mark := d.Width, d.Y, d.Top, d.Edge, d.Lo, d.Mark
	for k, a := range d.A {
		j, e := k%n, int32(lo+k/n)
		kept := edge[j] >= 0 && !before(last[j], edge[j], a, e)
		switch {
		case mark && kept && !(math.IsInf(float64(a), -1)):
			y[k] = 1
		case mark:
			y[k] = 0
		case kept:
			y[k] = a
		default:
			y[k] = tensor.Float(math.Inf(-1))
		}
	}
}

// pullKept gives the gradient of what was kept.
func pullKept(d *Into) {
	n, dx, dy, last, edge, lo := d.Width, d.DX, d.DY, d.Top, d.Edge, d.Lo
	for k, a := range d.A {
		j, e := k%n, int32(lo+k/n)
		if edge[j] >= 0 && !before(last[j], edge[j], a, e) {
			dx[k] += dy[k]
		}
	}
}
