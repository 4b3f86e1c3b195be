package message

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
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
	aux   [][]tensor.Float
	off   []int64
}

func newReduction(op grad.Op, p *plan, out *tensor.Dense, rs []Reducer) *reduction {
	s := p.out()
	r := &reduction{rs: rs, width: s.width, last: s.shape[len(s.shape)-1], out: out, off: p.g.In().Offsets}
	r.arg, r.aux = make([][]int32, len(rs)), make([][]tensor.Float, len(rs))
	if len(rs) == 1 {
		r.last = r.width
	}
	size := p.g.NumDst() * s.width
	for i, red := range rs {
		switch red {
		case Max, Min:
			r.arg[i] = op.Ints(size)
			for k := range r.arg[i] {
				r.arg[i][k] = -1
			}
		case Std: // the mean
			r.aux[i] = op.Floats(size)
		case LogSumExp: // the sum of exp(m − top), and top
			r.aux[i] = op.Floats(2 * size)
			simd.NoTop(r.aux[i][size:])
		case Sum, Mean:
		default:
			panic(&grad.TapeError{Op: "message.UpdateAll", Why: fmt.Sprintf("there is no reducer %d", red)})
		}
	}
	return r
}

// column is a run of a message's elements under one of the reducers: where it
// stands in the message and in a row of out.
type column struct{ i, at, out, n int }

// each calls f with every column.
func (r *reduction) each(f func(c column)) {
	for i := range r.rs {
		for at := 0; at < r.width; at += r.last {
			f(column{i, at, at*len(r.rs) + i*r.last, r.last})
		}
	}
}

// side returns what is kept beside out of a column at v: the first or second
// array of aux.
func (r *reduction) side(c column, v, second int) []tensor.Float {
	at := second*(len(r.off)-1)*r.width + v*r.width + c.at
	return r.aux[c.i][at : at+c.n]
}

// take adds the messages m of edges e0, e0+1, … into destination v. It works in
// tmp, of three messages.
func (r *reduction) take(v, e0 int, m, tmp []tensor.Float) {
	if r.width == 0 {
		return
	}
	row := r.out.Row(v)
	r.each(func(c column) {
		out := row[c.out : c.out+c.n]
		switch red := r.rs[c.i]; red {
		case Sum, Mean:
			r.takeSum(c, out, m)
		case Max, Min:
			arg := r.arg[c.i][v*r.width+c.at:]
			best := simd.Best{Least: red == Min, Stride: r.width, Value: out, Row: arg[:c.n]}
			best.Take(m[c.at:], len(m)/r.width, e0)
		case Std:
			for at := c.at; at < len(m); at += r.width {
				n := e0 + at/r.width - int(r.off[v]) + 1
				takeStd(out, r.side(c, v, 0), m[at:at+c.n], n, tmp)
			}
		case LogSumExp:
			for at := c.at; at < len(m); at += r.width {
				takeExp(r.side(c, v, 0), r.side(c, v, 1), m[at:at+c.n], tmp)
			}
		}
	})
}

func (r *reduction) takeSum(c column, out, m []tensor.Float) {
	if c.n == r.width {
		simd.AddRows(out, m)
		return
	}
	for at := c.at; at < len(m); at += r.width {
		add(out, m[at:at+c.n])
	}
}

// takeStd keeps the mean and the sum of squared distances from it (Welford),
// now of n messages.
func takeStd(out, mean, m []tensor.Float, n int, tmp []tensor.Float) {
	d, e := tmp[:len(m)], tmp[len(m):2*len(m)]
	simd.Sub.Forward(d, m, mean, 1, 1)
	simd.Div.Forward(e, d, []tensor.Float{tensor.Float(n)}, 1, 0)
	add(mean, e)
	simd.Sub.Forward(e, m, mean, 1, 1)
	simd.Mul.BackwardX(out, d, out, e, 1, 1)
}

// takeExp keeps the largest message and the sum of exp(m − top). It goes row by
// row, so that no bit depends on how rows are grouped.
func takeExp(sum, top, m, tmp []tensor.Float) {
	n := len(m)
	before, now := tmp[:n], tmp[n:2*n]
	copy(before, top)
	simd.TopRows(top, m)
	simd.ExpRows(before, before, top)
	simd.ExpRows(now, m, top)
	simd.Mul.Forward(sum, sum, before, 1, 1)
	add(sum, now)
}

// finish completes destination v after its last message.
func (r *reduction) finish(v int) {
	n := r.off[v+1] - r.off[v]
	if n == 0 || r.width == 0 {
		return
	}
	count := []tensor.Float{tensor.Float(n)}
	r.each(func(c column) {
		out := r.out.Row(v)[c.out : c.out+c.n]
		switch r.rs[c.i] {
		case Mean:
			simd.Div.Forward(out, out, count, 1, 0)
		case Std:
			simd.Div.Forward(out, out, count, 1, 0)
			simd.Sqrt.Forward(out, out, 0)
		case LogSumExp:
			simd.Log.Forward(out, r.side(c, v, 0), 0)
			add(out, r.side(c, v, 1))
		}
	})
}

// pull sets dm to the gradient of the messages m of edges e0, e0+1, … of v.
func (r *reduction) pull(v, e0 int, m, dm []tensor.Float, b *pullBuffers) {
	clear(dm)
	if r.width == 0 {
		return
	}
	row := b.dOut.Row(v)
	r.each(func(c column) {
		g := row[c.out : c.out+c.n]
		tmp := b.tmp[:c.n]
		switch r.rs[c.i] {
		case Sum:
			r.pullEven(c, dm, g)
		case Mean:
			simd.Div.Forward(tmp, g, []tensor.Float{tensor.Float(r.off[v+1] - r.off[v])}, 1, 0)
			r.pullEven(c, dm, tmp)
		case Max, Min:
			for j, e := range r.arg[c.i][v*r.width+c.at : v*r.width+c.at+c.n] {
				if at := int(e) - e0; at >= 0 && at < len(dm)/r.width {
					dm[at*r.width+c.at+j] += g[j]
				}
			}
		case Std:
			r.pullStd(c, v, m, dm, b)
		case LogSumExp:
			for at := c.at; at < len(m); at += r.width {
				simd.ExpRows(tmp, m[at:at+c.n], r.side(c, v, 1))
				simd.DivideRows(tmp, r.side(c, v, 0))
				simd.Mul.BackwardX(dm[at:at+c.n], g, tmp, tmp, 1, 1)
			}
		}
	})
}

// pullBuffers are the gradient of a reduction's result, and room for two
// messages.
type pullBuffers struct {
	dOut *tensor.Dense
	tmp  []tensor.Float
}

// pullEven adds g to the gradient of every message.
func (r *reduction) pullEven(c column, dm, g []tensor.Float) {
	for at := c.at; at < len(dm); at += r.width {
		add(dm[at:at+c.n], g)
	}
}

// pullStd adds g·(m − mean)/(n·std), where std is not zero.
func (r *reduction) pullStd(c column, v int, m, dm []tensor.Float, b *pullBuffers) {
	std, g := r.out.Row(v)[c.out:c.out+c.n], b.dOut.Row(v)[c.out:c.out+c.n]
	n := tensor.Float(r.off[v+1] - r.off[v])
	factor, d := b.tmp[:c.n], b.tmp[c.n:2*c.n]
	for j, s := range std {
		if factor[j] = 0; s > 0 {
			factor[j] = g[j] / (n * s)
		}
	}
	for at := c.at; at < len(m); at += r.width {
		simd.Sub.Forward(d, m[at:at+c.n], r.side(c, v, 0), 1, 1)
		simd.Mul.BackwardX(dm[at:at+c.n], factor, d, d, 1, 1)
	}
}

// plain reports whether the reducer is Sum or Mean alone, whose gradient is the
// same row for every message.
func (r *reduction) plain() bool { return len(r.rs) == 1 && (r.rs[0] == Sum || r.rs[0] == Mean) }

// pullPlain sets dm to the gradient of a tile's messages under a plain reducer.
func (r *reduction) pullPlain(w *worker, t tile, dm []tensor.Float, dOut *tensor.Dense) {
	if r.rs[0] == Sum {
		simd.Rows(r.width).Gather(dm, dOut.Data, w.destinations(t))
		return
	}
	w.eachRow(t, func(v, lo, hi int) {
		n := r.width
		first := dm[lo*n : lo*n+n]
		simd.Div.Forward(first, dOut.Row(v), []tensor.Float{tensor.Float(r.off[v+1] - r.off[v])}, 1, 0)
		for done := 1; done < hi-lo; done *= 2 {
			copy(dm[(lo+done)*n:hi*n], dm[lo*n:(lo+done)*n])
		}
	})
}
