package message

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// reduction gathers the messages of each destination into its row of out, under
// one reducer or several side by side.
type reduction struct {
	rs    []Reducer
	width int           // of a message
	last  int           // its last axis: results of several reducers alternate in these
	out   *tensor.Dense // a row is, for each run of last elements, one run a reducer
	arg   [][]int32     // Max, Min: the edge that won, or −1; nil otherwise
	mean  [][]tensor.Float
	off   []int64
}

func newReduction(op grad.Op, p *plan, out *tensor.Dense, rs []Reducer) *reduction {
	s := p.out()
	r := &reduction{rs: rs, width: s.width, last: s.shape[len(s.shape)-1], out: out, off: p.g.In().Offsets}
	r.arg, r.mean = make([][]int32, len(rs)), make([][]tensor.Float, len(rs))
	for i, red := range rs {
		switch red {
		case Max, Min:
			r.arg[i] = op.Ints(p.g.NumDst() * s.width)
			for k := range r.arg[i] {
				r.arg[i][k] = -1
			}
		case Std:
			r.mean[i] = op.Floats(p.g.NumDst() * s.width)
		case Sum, Mean:
		default:
			panic(&grad.TapeError{Op: "message.UpdateAll", Why: fmt.Sprintf("there is no reducer %d", red)})
		}
	}
	return r
}

// slot returns where element k of a message stands in a row of out, under the
// i-th reducer.
func (r *reduction) slot(i, k int) int {
	if len(r.rs) == 1 {
		return k
	}
	return k/r.last*r.last*len(r.rs) + i*r.last + k%r.last
}

// take adds the messages m of edges e0, e0+1, … into destination v.
func (r *reduction) take(v, e0 int, m []tensor.Float) {
	for i, red := range r.rs {
		out := r.out.Row(v)
		for at := 0; at < len(m); at += r.width {
			e, row := e0+at/r.width, m[at:at+r.width]
			switch red {
			case Sum, Mean:
				for k, x := range row {
					out[r.slot(i, k)] += x
				}
			case Max, Min:
				r.takeBest(i, v, e, row)
			case Std:
				r.takeStd(i, v, e, row)
			}
		}
	}
}

func (r *reduction) takeBest(i, v, e int, m []tensor.Float) {
	out, arg := r.out.Row(v), r.arg[i][v*r.width:(v+1)*r.width]
	for k, x := range m {
		best := &out[r.slot(i, k)]
		better := x > *best
		if r.rs[i] == Min {
			better = x < *best
		}
		if arg[k] < 0 || better || x != x && *best == *best {
			*best, arg[k] = x, int32(e)
		}
	}
}

// takeStd keeps the mean and the sum of squared distances from it (Welford).
func (r *reduction) takeStd(i, v, e int, m []tensor.Float) {
	out, mean := r.out.Row(v), r.mean[i][v*r.width:(v+1)*r.width]
	n := tensor.Float(e - int(r.off[v]) + 1)
	for k, x := range m {
		d := x - mean[k]
		mean[k] += d / n
		out[r.slot(i, k)] += d * (x - mean[k])
	}
}

// finish completes destination v after its last message.
func (r *reduction) finish(v int) {
	n := tensor.Float(r.off[v+1] - r.off[v])
	if n == 0 {
		return
	}
	out := r.out.Row(v)
	for i, red := range r.rs {
		for k := range r.width {
			x := &out[r.slot(i, k)]
			switch red {
			case Mean:
				*x /= n
			case Std:
				*x = tensor.Float(math.Sqrt(float64(*x / n)))
			}
		}
	}
}

// pull adds to dm the gradient of the messages m of edges e0, e0+1, … of v.
func (r *reduction) pull(v, e0 int, m, dm []tensor.Float, dOut *tensor.Dense) {
	out, g := r.out.Row(v), dOut.Row(v)
	n := tensor.Float(r.off[v+1] - r.off[v])
	for i, red := range r.rs {
		for at := range dm {
			k := at % r.width
			j := r.slot(i, k)
			switch red {
			case Sum:
				dm[at] += g[j]
			case Mean:
				dm[at] += g[j] / n
			case Max, Min:
				if int(r.arg[i][v*r.width+k]) == e0+at/r.width {
					dm[at] += g[j]
				}
			case Std:
				if out[j] > 0 {
					dm[at] += g[j] * (m[at] - r.mean[i][v*r.width+k]) / (n * out[j])
				}
			}
		}
	}
}
