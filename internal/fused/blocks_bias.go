package fused

import "github.com/edgewise-ml/edgewise/tensor"

// BlockBias is what is added to the logits of attention on blocks: a row of X for
// each edge or, of a table, that of the edge's kind or offset. A row has an element for
// each head, or one for all. No element is NaN or +∞; a −∞ says that there is no edge.
type BlockBias struct {
	X       []tensor.Float // nil: none
	Kinds   []int32        // of a table by kinds
	Offsets *OffsetTable   // of a table by offsets
	Width   int            // of a row: 1 or Blocks.Heads
}

// OffsetTable says which row an edge takes by its offset: that of its source's place
// from its destination's, clamped to Lo and Hi and counted from Lo.
type OffsetTable struct {
	Src, Dst []int32 // the places; a nil Src means that sources stand at their numbers
	Lo, Hi   int
}

// table reports whether edges share rows.
func (d *BlockBias) table() bool { return d.Kinds != nil || d.Offsets != nil }

// at is the place of an element for a head: that of a run's edge number k.
func (d *BlockBias) at(run *edgeRun, k, h int) int {
	row := run.e + k
	switch o := d.Offsets; {
	case o != nil:
		place := run.u + k
		if o.Src != nil {
			place = int(o.Src[place])
		}
		row = min(max(int(o.Dst[run.v])-place, o.Lo), o.Hi) - o.Lo
	case d.Kinds != nil:
		row = int(d.Kinds[row])
	}
	if d.Width == 1 {
		return row
	}
	return row*d.Width + h
}

// inRow reports whether the elements of successive edges stand side by side.
func (d *BlockBias) inRow() bool { return !d.table() && d.Width == 1 }

// edgeRun is edges into destination v: from number e on and source u, n of them.
type edgeRun struct{ e, n, v, u int }

// runs returns the edges of row i of a block: two runs around a pair that is
// none.
func (j *job) runs(r *rect, i int) (out [2]edgeRun) {
	v := r.v + i
	lo, hi, skip := j.Sources(v - j.Dst)
	from, to := max(lo, r.u), min(hi, r.u+r.nu)
	e := j.first + j.EdgesBefore(v-j.Dst) - lo
	if skip < 0 || from >= to {
		out[0] = edgeRun{e + from, max(to-from, 0), v, from}
		return out
	}
	cut := min(max(skip, from), to)
	out[0] = edgeRun{e + from, cut - from, v, from}
	from = max(skip+1, from)
	out[1] = edgeRun{e + from - 1, max(to-from, 0), v, from}
	return out
}

// addBias adds the bias to the logits.
func (b *block) addBias(m *Blocks, j *job, r *rect) {
	x := m.Bias.X
	for i := range r.nv {
		for _, run := range j.runs(r, i) {
			if run.n == 0 {
				continue
			}
			at := b.at(r, i, run.u)
			p := b.p[at : at+run.n]
			if m.Bias.inRow() {
				add(p, x[run.e:run.e+run.n])
				continue
			}
			for k := range p {
				p[k] += x[m.Bias.at(&run, k, j.h)]
			}
		}
	}
}

// biasParts is into how many parts the gradient of a table is summed at most.
const biasParts = 16

// room is how many elements the gradient of a table needs beside it.
func (d *BlockBias) room() int {
	if !d.table() {
		return 0
	}
	return biasParts * len(d.X)
}

// biasGrad adds to the gradient of the bias. An edge's row is that of one job;
// tables are summed in parts that follow from the blocks, each in a table of its
// own in room, which are added in order.
func (m *Blocks) biasGrad(g *BlockGrads, room []tensor.Float) {
	list := jobLists.Get().(*[]job)
	all, db := m.jobs((*list)[:0], m.Spans, 0, tiles), g.Bias
	parts := min(biasParts, len(all))
	if !m.Bias.table() {
		parts = len(all)
	}
	eachPart(parts, func(i int) {
		to := db
		if m.Bias.table() {
			to = room[i*len(db) : (i+1)*len(db)]
		}
		b := blocks.Get().(*block)
		for _, j := range all[i*len(all)/parts : (i+1)*len(all)/parts] {
			for j.h = range m.Heads {
				b.begin()
				b.biasGrad(m, &j, g, to)
			}
		}
		blocks.Put(b)
	})
	for i := range parts {
		if m.Bias.table() {
			add(db, room[i*len(db):(i+1)*len(db)])
		}
	}
	*list = all
	jobLists.Put(list)
}

// biasPart is how many sources a bias's gradient takes at a time; of more, all is computed twice.
const biasPart = 1024

// biasGrad adds the logits' gradients of some destinations to a bias's, and sets Σ p·dp.
func (b *block) biasGrad(m *Blocks, j *job, g *BlockGrads, to []tensor.Float) {
	from, end := j.reach(j.lo, j.hi)
	v, nv := j.Dst+j.lo, j.hi-j.lo
	b.take(m, j, v, nv, g)
	b.reserve(j, biasPart, biasPart)
	for u := from; u < end; u += biasPart {
		r := b.tile(j, v, nv, u, min(biasPart, end-u))
		b.weightsAndGrads(m, j, &r)
		soft := b.softGrads(m, j, &r, g)
		soft.Dots()
	}
	for u := from; u < end; u += biasPart {
		r := b.tile(j, v, nv, u, min(biasPart, end-u))
		if end-from > biasPart {
			b.weightsAndGrads(m, j, &r)
			b.dropOf(m, &r, b.dp)
		}
		soft := b.softGrads(m, j, &r, g)
		soft.Scale = 1
		soft.Slopes()
		for part := r; part.u < u+r.nu; part.u += blockSrc {
			part.nu = min(blockSrc, u+r.nu-part.u)
			b.addBiasGrad(m, j, &r, &part, to)
		}
	}
}

// addBiasGrad adds the logits' gradients of a part of the sources of a tile.
func (b *block) addBiasGrad(m *Blocks, j *job, r, part *rect, to []tensor.Float) {
	for i := range r.nv {
		for _, run := range j.runs(part, i) {
			at := b.at(r, i, run.u)
			for k := range run.n {
				to[m.Bias.at(&run, k, j.h)] += b.dp[at+k]
			}
		}
	}
}
