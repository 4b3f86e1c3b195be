package message

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// forward evaluates the plan over all edges, and reduces or stores what comes of
// it.
func (r *run) forward() {
	r.red.begin()
	r.list = r.chunks(false)
	eachChunk(len(r.list.all), r.task)
}

func (r *run) forwardChunk(i int) {
	c := r.list.all[i]
	w := r.hire(c.hi - c.lo)
	if r.scored {
		w.attend(c)
	} else {
		w.inTiles(c)
	}
	w.dismiss()
}

// inTiles does a chunk tile by tile.
func (w *worker) inTiles(c chunk) {
	w.tiles(c, w.measure, w.result)
	w.red.finish(c.r0, c.r1)
	w.multiplyEven(c.r0, c.r1)
	w.shift(c.r0, c.r1)
}

// multiplyEven does the last step of an even plan, for all messages of a destination at
// once.
func (w *worker) multiplyEven(r0, r1 int) {
	if w.plan.even {
		_, f := w.evenly()
		rows := w.rowsOfResult(r0, r1)
		w.multiplyRows(rows, rows, f)
	}
}

// shift adds the bias to the rows of the destinations from r0 to r1, while they are
// near.
func (r *run) shift(r0, r1 int) {
	if r.bias == nil {
		return
	}
	b, y := r.bias.Value().Data, r.y.Value().Data
	rows := y[r0*len(b) : r1*len(b)]
	simd.Add.ForwardRows(rows, rows, b)
}

// rowsOfResult are those of the destinations from r0 to r1, under reducers.
func (r *run) rowsOfResult(r0, r1 int) []tensor.Float {
	n := r.out().width * len(r.rs)
	return r.y.Value().Data[r0*n : r1*n]
}

// result evaluates a tile and takes its messages.
func (w *worker) result(t tile) {
	rows := w.rowsOfResult(t.r0, t.r1)
	simd.Fetch(rows)
	w.evaluate(t, w.made())
	if w.begins(t) {
		clear(rows)
	}
	n, y := w.out().width, w.y.Value().Data
	last := len(w.steps) - 1
	if w.plan.even {
		last, _ = w.evenly()
	}
	m := w.vals[last]
	switch {
	case len(w.rs) == 0:
		copy(y[t.lo*n:t.hi*n], m)
	case w.lazy:
		w.sumNear(y, t)
	case w.plain():
		w.sumRows(y, m, t, n)
	default:
		w.eachRow(t, func(v, lo, hi int) { w.red.take(v, t.lo+lo, m[lo*n:hi*n], w.mix) })
	}
}

// chunkTask is a loop over chunks.
type chunkTask func(i int)

// Chunk runs one chunk.
func (f chunkTask) Chunk(i int) { f(i) }

// eachChunk calls f with 0 to n−1, on several threads.
func eachChunk(n int, f chunkTask) {
	if n == 1 {
		f(0)
		return
	}
	par.Run(n, f)
}

// measure computes the statistics of a destination whose edges do not fit one
// tile: for each step across its edges a pass or two.
func (w *worker) measure(v int) {
	lo, hi := int(w.g.In().Offsets[v]), int(w.g.In().Offsets[v+1])
	for i := range w.steps {
		s := &w.steps[i]
		if !s.across() {
			continue
		}
		w.begin(s, v)
		for pass := range s.passes() {
			parts(w.fit, lo, hi, v, func(t tile) {
				w.evaluate(t, i)
				n := (t.hi - t.lo) * s.width
				w.observe(s, pass, v, t.lo, w.vals[s.a][:n])
			})
		}
		w.settle(s, v)
	}
}

// evaluate computes the values of the first n steps on a tile.
func (w *worker) evaluate(t tile, n int) {
	for i := range w.steps[:n] {
		if s := &w.steps[i]; !s.fixed && !s.there && !(w.back && s.dead) {
			w.compute(i, t)
		}
	}
}

// compute computes the values of step i on a tile.
func (w *worker) compute(i int, t tile) {
	s := &w.steps[i]
	if s.kind <= leafW {
		w.gather(i, t)
		return
	}
	y := w.vals[i][:(t.hi-t.lo)*s.width]
	switch s.kind {
	case unary:
		s.un.Forward(y, w.vals[s.a][:len(y)], s.c)
	case binary:
		s.bin.Forward(y, w.vals[s.a], w.vals[s.b], 1, 1)
	case scaleBy:
		simd.Runs(s.run).Scale(y, w.vals[s.b][:len(y)/s.run], w.vals[s.a])
	case score:
		w.score(i, t)
	case affine:
		w.affine(i, t)
	case matMul:
		w.multiply(s, y)
	case softmax, logSoftmax, normalise, topK:
		w.combine(i, t)
	default:
		w.perEdge(s, t, y)
	}
}

// perEdge computes the operations that work within each edge's message.
func (w *worker) perEdge(s *step, t tile, y []tensor.Float) {
	a := &w.steps[s.a]
	x := w.vals[s.a][:(t.hi-t.lo)*a.width]
	d := a.width / max(s.width, 1) // what is reduced to one element
	switch s.kind {
	case expand:
		w.stretch(s, x, y)
	case dotLast:
		clear(y)
		simd.Runs(d).Dot(y, x, w.vals[s.b])
	case sumLast:
		clear(y)
		simd.Runs(d).Sum(y, x)
	case maxLast:
		for k := range y {
			y[k] = simd.MaxOf(x[k*d : k*d+d])
		}
	case logSumExpLast:
		for k := range y {
			y[k] = simd.LogSumExp(x[k*d : k*d+d])
		}
	case pick:
		for e, k := range w.kinds(s)[t.lo:t.hi] {
			at := (e*d + int(k)) * s.width
			copy(y[e*s.width:(e+1)*s.width], x[at:at+s.width])
		}
	case dropout:
		clear(y)
		w.aside(s).drop.Add(y, x, t.lo, s.width)
	case gumbel:
		copy(y, x)
		w.perturb(s, t, y)
	}
}

// stretch copies each edge's elements to a larger shape.
func (w *worker) stretch(s *step, x, y []tensor.Float) {
	if s.run > 0 {
		simd.Runs(s.run).Spread(y, x)
		return
	}
	n := w.steps[s.a].width
	for ; len(y) > 0; x, y = x[n:], y[s.width:] {
		for k, i := range s.idx {
			y[k] = x[i]
		}
	}
}

// perturb adds to each logit a number whose distribution makes the largest sum a
// draw by the logits' softmax: −log(−log u), u even between 0 and 1.
func (w *worker) perturb(s *step, t tile, y []tensor.Float) {
	d := w.aside(s).drop
	for e := range t.hi - t.lo {
		key := d.Row(t.lo + e)
		for j := range s.width {
			y[e*s.width+j] -= tensor.Float(math.Log(-math.Log(d.Uniform(key, j))))
		}
	}
}
