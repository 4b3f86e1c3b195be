package exec

import (
	"slices"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// reduction gathers the messages of each destination into its row of out, under
// one reducer or several side by side.
type reduction struct {
	rs    []ir.Reducer
	width int            // of a message
	last  int            // its last axis: results of several reducers alternate in these
	out   *tensor.Dense  // a row is, for each run of last elements, one run a reducer
	kept  []tensor.Float // what reducers keep beside; see plan.Keeps
	won   []int32        // Max, ir.Min: the edge that won, or −1
	off   []int64
	std   bool         // one of rs is Std,
	wide  *atomic.Bool // and has columns that were computed again
}

// newReduction is that of an evaluation, in what it keeps.
func newReduction(e *evaluation, kept []tensor.Float, won []int32) reduction {
	s := e.plan.Out()
	r := reduction{
		rs: e.plan.Reducers(), width: s.Width, last: s.Shape[len(s.Shape)-1], out: e.y.Value(), kept: kept, won: won, off: e.graph.In().Offsets,
	}
	if r.std = slices.Contains(r.rs, ir.Std); r.std {
		r.wide = new(atomic.Bool)
	}
	if len(r.rs) == 1 {
		r.last = r.width
	}
	return r
}

// begin empties what is kept.
func (r *reduction) begin() {
	for k := range r.won {
		r.won[k] = -1
	}
	for i, red := range r.rs {
		if red == ir.LogSumExp {
			vec.NoTop(r.array(i, 1))
		}
	}
}

// size is the number of elements of a result.
func (r *reduction) size() int { return (len(r.off) - 1) * r.width }

// array returns the first or second array of numbers that reducer i keeps.
func (r *reduction) array(i, second int) []tensor.Float {
	at := second
	for _, red := range r.rs[:i] {
		n, _ := plan.Keeps(red)
		at += n
	}
	return r.kept[at*r.size() : (at+1)*r.size()]
}

// winners returns the edges that reducer i keeps, of the elements of v from at on.
func (r *reduction) winners(i, v, at int) []int32 {
	all := 0
	for _, red := range r.rs[:i] {
		_, n := plan.Keeps(red)
		all += n
	}
	at += v * r.width
	return r.won[all*r.size()+at : (all+1)*r.size()]
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
// array that its reducer keeps.
func (r *reduction) side(c column, v, second int) []tensor.Float {
	at := v*r.width + c.at
	return r.array(c.i, second)[at : at+c.n]
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
		case ir.Sum, ir.Mean:
			r.takeSum(c, out, m)
		case ir.Max, ir.Min:
			best := vec.Best{Least: red == ir.Min, Stride: r.width, Value: out, Row: r.winners(c.i, v, c.at)[:c.n]}
			best.Take(m[c.at:], len(m)/r.width, e0)
		case ir.Std:
			for at := c.at; at < len(m); at += r.width {
				n := e0 + at/r.width - int(r.off[v]) + 1
				vec.Welford(out, r.side(c, v, 0), r.side(c, v, 1), m[at:at+c.n], n)
			}
		case ir.LogSumExp:
			for at := c.at; at < len(m); at += r.width {
				takeExp(r.side(c, v, 0), r.side(c, v, 1), m[at:at+c.n], tmp)
			}
		}
	})
}

func (r *reduction) takeSum(c column, out, m []tensor.Float) {
	if c.n == r.width {
		vec.AddRows(out, m)
		return
	}
	for at := c.at; at < len(m); at += r.width {
		add(out, m[at:at+c.n])
	}
}

// takeExp keeps the largest message and the sum of exp(m − top). It goes row by
// row, so that no bit depends on how rows are grouped.
func takeExp(sum, top, m, tmp []tensor.Float) {
	n := len(m)
	before, now := tmp[:n], tmp[n:2*n]
	copy(before, top)
	vec.TopRows(top, m)
	vec.ExpRows(before, before, top)
	vec.ExpRows(now, m, top)
	vec.Mul.Forward(sum, sum, before, 1, 1)
	add(sum, now)
}

// finish completes destinations from r0 to r1 after their last messages.
func (r *reduction) finish(r0, r1 int) {
	switch {
	case len(r.rs) == 1 && r.rs[0] == ir.Sum:
	case len(r.rs) == 1 && r.rs[0] == ir.Mean:
		y := r.out.Data[r0*r.width : r1*r.width]
		spmm.Rows(r.width).DivideRanges(y, y, r.off[r0:r1+1])
	case len(r.rs) > 0:
		for v := r0; v < r1; v++ {
			r.finishRow(v)
		}
	}
}

// finishRow completes destination v.
func (r *reduction) finishRow(v int) {
	n := r.off[v+1] - r.off[v]
	if n == 0 || r.width == 0 {
		return
	}
	count := []tensor.Float{tensor.Float(n)}
	r.each(func(c column) {
		out := r.out.Row(v)[c.out : c.out+c.n]
		switch r.rs[c.i] {
		case ir.Mean:
			vec.Div.Forward(out, out, count, 1, 0)
		case ir.Std:
			r.finishStd(out, count)
		case ir.LogSumExp:
			vec.Log.Forward(out, r.side(c, v, 0), 0)
			add(out, r.side(c, v, 1))
		}
	})
}

// pull sets dm to the gradient of the messages m of edges e0, e0+1, … of v.
func (r *reduction) pull(v, e0 int, m, dm []tensor.Float, b pullBuffers) {
	clear(dm)
	if r.width == 0 {
		return
	}
	row := r.rowOf(b.dOut, v)
	r.each(func(c column) {
		g := row[c.out : c.out+c.n]
		tmp := b.tmp[:c.n]
		switch r.rs[c.i] {
		case ir.Sum:
			r.pullEach(c, dm, g)
		case ir.Mean:
			vec.Div.Forward(tmp, g, []tensor.Float{tensor.Float(r.off[v+1] - r.off[v])}, 1, 0)
			r.pullEach(c, dm, tmp)
		case ir.Max, ir.Min:
			for j, e := range r.winners(c.i, v, c.at)[:c.n] {
				if at := int(e) - e0; at >= 0 && at < len(dm)/r.width {
					dm[at*r.width+c.at+j] += g[j]
				}
			}
		case ir.Std:
			r.pullStd(c, v, m, dm, b)
		case ir.LogSumExp:
			for at := c.at; at < len(m); at += r.width {
				vec.ExpRows(tmp, m[at:at+c.n], r.side(c, v, 1))
				vec.DivideRows(tmp, r.side(c, v, 0))
				vec.Mul.BackwardX(dm[at:at+c.n], g, tmp, tmp, 1, 1)
			}
		}
	})
}

// pullBuffers are the gradient of a reduction's result, and room for two
// messages.
type pullBuffers struct{ dOut, tmp []tensor.Float }

// rowOf returns the row of v in an array as out.
func (r *reduction) rowOf(x []tensor.Float, v int) []tensor.Float {
	n := r.width * len(r.rs)
	return x[v*n : v*n+n]
}

// pullEach adds g to the gradient of every message.
func (r *reduction) pullEach(c column, dm, g []tensor.Float) {
	for at := c.at; at < len(dm); at += r.width {
		add(dm[at:at+c.n], g)
	}
}

// pullStd adds g·(m − mean)/(n·std), where std is not zero.
func (r *reduction) pullStd(c column, v int, m, dm []tensor.Float, b pullBuffers) {
	std, g := r.out.Row(v)[c.out:c.out+c.n], r.rowOf(b.dOut, v)[c.out:c.out+c.n]
	n := tensor.Float(r.off[v+1] - r.off[v])
	wide, to := r.pullWide(c, v, m, dm, g)
	factor, d := b.tmp[:c.n], b.tmp[c.n:2*c.n]
	for j, s := range std {
		if factor[j] = 0; s > 0 {
			factor[j] = g[j] / (n * s)
		}
	}
	for at := c.at; at < len(m); at += r.width {
		vec.Sub.Forward(d, m[at:at+c.n], r.side(c, v, 0), 1, 1)
		vec.Sub.Forward(d, d, r.side(c, v, 1), 1, 1)
		vec.Mul.BackwardX(dm[at:at+c.n], factor, d, d, 1, 1)
	}
	for k, at := range wide {
		dm[at] = to[k]
	}
}
