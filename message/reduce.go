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
	kept  []tensor.Float
	won   []int32 // Max, Min: the edge that won, or −1
	off   []int64
}

// keeps returns how many numbers, and how many edges, a reducer keeps beside an
// element of the result. Std keeps the mean; LogSumExp the sum of exp(m − top),
// and top; Max and Min the edge that won.
func (r Reducer) keeps() (floats, edges int) {
	switch r {
	case Max, Min:
		return 0, 1
	case Std, LogSumExp:
		return 2, 0
	case Sum, Mean:
		return 0, 0
	}
	panic(&grad.TapeError{Op: "message.UpdateAll", Why: fmt.Sprintf("there is no reducer %d", r)})
}

// countKept counts what the reducers of a plan keep.
func (p *plan) countKept() {
	for _, red := range p.rs {
		floats, edges := red.keeps()
		p.kept, p.won = p.kept+floats, p.won+edges
	}
}

func newReduction(e *evaluation, kept []tensor.Float, won []int32) reduction {
	s := e.out()
	r := reduction{rs: e.rs, width: s.width, last: s.shape[len(s.shape)-1], out: e.y.Value(), kept: kept, won: won, off: e.g.In().Offsets}
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
		if red == LogSumExp {
			simd.NoTop(r.array(i, 1))
		}
	}
}

// size is the number of elements of a result.
func (r *reduction) size() int { return (len(r.off) - 1) * r.width }

// array returns the first or second array of numbers that reducer i keeps.
func (r *reduction) array(i, second int) []tensor.Float {
	at := second
	for _, red := range r.rs[:i] {
		n, _ := red.keeps()
		at += n
	}
	return r.kept[at*r.size() : (at+1)*r.size()]
}

// winners returns the edges that reducer i keeps, of the elements of v from at on.
func (r *reduction) winners(i, v, at int) []int32 {
	all := 0
	for _, red := range r.rs[:i] {
		_, n := red.keeps()
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
		case Sum, Mean:
			r.takeSum(c, out, m)
		case Max, Min:
			best := simd.Best{Least: red == Min, Stride: r.width, Value: out, Row: r.winners(c.i, v, c.at)[:c.n]}
			best.Take(m[c.at:], len(m)/r.width, e0)
		case Std:
			for at := c.at; at < len(m); at += r.width {
				n := e0 + at/r.width - int(r.off[v]) + 1
				simd.Welford(out, r.side(c, v, 0), r.side(c, v, 1), m[at:at+c.n], n)
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

// finish completes destinations from r0 to r1 after their last messages.
func (r *reduction) finish(r0, r1 int) {
	switch {
	case len(r.rs) == 1 && r.rs[0] == Sum:
	case len(r.rs) == 1 && r.rs[0] == Mean:
		y := r.out.Data[r0*r.width : r1*r.width]
		simd.Rows(r.width).DivideRanges(y, y, r.off[r0:r1+1])
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
		case Sum:
			r.pullEven(c, dm, g)
		case Mean:
			simd.Div.Forward(tmp, g, []tensor.Float{tensor.Float(r.off[v+1] - r.off[v])}, 1, 0)
			r.pullEven(c, dm, tmp)
		case Max, Min:
			for j, e := range r.winners(c.i, v, c.at)[:c.n] {
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
type pullBuffers struct{ dOut, tmp []tensor.Float }

// rowOf returns the row of v in an array as out.
func (r *reduction) rowOf(x []tensor.Float, v int) []tensor.Float {
	n := r.width * len(r.rs)
	return x[v*n : v*n+n]
}

// pullEven adds g to the gradient of every message.
func (r *reduction) pullEven(c column, dm, g []tensor.Float) {
	for at := c.at; at < len(dm); at += r.width {
		add(dm[at:at+c.n], g)
	}
}

// pullStd adds g·(m − mean)/(n·std), where std is not zero.
func (r *reduction) pullStd(c column, v int, m, dm []tensor.Float, b pullBuffers) {
	std, g := r.out.Row(v)[c.out:c.out+c.n], r.rowOf(b.dOut, v)[c.out:c.out+c.n]
	n := tensor.Float(r.off[v+1] - r.off[v])
	factor, d := b.tmp[:c.n], b.tmp[c.n:2*c.n]
	for j, s := range std {
		if factor[j] = 0; s > 0 {
			factor[j] = g[j] / (n * s)
		}
	}
	for at := c.at; at < len(m); at += r.width {
		simd.Sub.Forward(d, m[at:at+c.n], r.side(c, v, 0), 1, 1)
		simd.Sub.Forward(d, d, r.side(c, v, 1), 1, 1)
		simd.Mul.BackwardX(dm[at:at+c.n], factor, d, d, 1, 1)
	}
}

// resultRows returns, under a plain reducer, the gradient that every message of each
// destination of a tile has.
func (w *worker) resultRows(t tile) []tensor.Float {
	n := w.out().width
	dy := w.dOut[t.r0*n : t.r1*n]
	if w.rs[0] == Sum {
		return dy
	}
	w.even = resize(w.even, max(len(dy), cap(w.even)))
	simd.Rows(n).DivideRanges(w.even, dy, w.g.In().Offsets[t.r0:t.r1+1])
	return w.even[:len(dy)]
}

// spans returns where the edges of a tile's destinations begin and end.
func (w *worker) spans(t tile) []int64 {
	if !t.part {
		return w.g.In().Offsets[t.r0 : t.r1+1]
	}
	w.span = [2]int64{int64(t.lo), int64(t.hi)}
	return w.span[:]
}

// pullPlain sets dm to the gradient of a tile's messages under a plain reducer.
func (w *worker) pullPlain(t tile, dm []tensor.Float) {
	simd.Rows(w.out().width).SpreadRanges(dm, w.resultRows(t), w.spans(t))
}

// evens reports whether the last step multiplies with what is the same on every
// edge, and a plain reducer follows.
func (p *plan) evens() bool {
	s := p.out()
	if !p.plain() || s.kind != binary || s.bin != simd.Mul || s.a == s.b {
		return false
	}
	x, f := &p.steps[s.a], &p.steps[s.b]
	if x.fixed {
		x, f = f, x
	}
	return !x.fixed && f.fixed && (!f.needs || f.kind == leafW)
}

// evenly returns the operands of the last step of an even plan: what edges differ in,
// and what is the same on all.
func (p *plan) evenly() (x, f int) {
	s := p.out()
	if p.steps[s.a].fixed {
		return s.b, s.a
	}
	return s.a, s.b
}

// pullEven is the gradient of a last step that evens names: as long as it is the
// same on all edges of a destination, it is computed once for them.
func (w *worker) pullEven(t tile) {
	x, f := w.evenly()
	n, rows := w.out().width, w.resultRows(t)
	if w.steps[f].needs && w.pass != nil {
		simd.Rows(n).DotRanges(w.toSum(f), rows, w.vals[x][:(t.hi-t.lo)*n], w.spans(t))
	}
	if w.steps[x].needs {
		w.scaled = resize(w.scaled, max(len(rows), cap(w.scaled)))
		w.multiplyRows(w.scaled, rows, f)
		dx, _ := w.into(x)
		simd.Rows(n).SpreadRanges(dx[:(t.hi-t.lo)*n], w.scaled[:len(rows)], w.spans(t))
	}
}

// multiplyRows sets to to the products of rows with the value of a step that is the
// same on all edges. That is there for as many edges as a tile may have, so that many
// rows are done at once.
func (w *worker) multiplyRows(to, from []tensor.Float, f int) {
	for len(from) > 0 {
		k := min(len(from), len(w.vals[f]))
		simd.Mul.Forward(to[:k], from[:k], w.vals[f], 1, 1)
		from, to = from[k:], to[k:]
	}
}
