package message

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// denseBias is what is added to the logits of attention on blocks: a row of x for
// each edge or, of a table, that of the edge's kind. A row has an element for
// each head, or one for all.
type denseBias struct {
	x     *grad.Var // nil: none
	kinds []int32   // of a table
	width int       // of a row
}

// read reports whether e is a bias, which it takes.
func (d *denseBias) read(e *expr) bool {
	switch {
	case e.plainLeaf(leafE):
		d.x, d.kinds = e.x, nil
	case e.kind == pick && e.a.plainLeaf(leafW):
		d.x, d.kinds = e.a.x, e.rows
		if d.kinds == nil { // of no edges
			d.kinds = []int32{}
		}
	default:
		return false
	}
	return true
}

// fits reports whether there is a row for each edge of g, of elements for the
// heads.
func (d *denseBias) fits(g *graph.Graph, heads []int) bool {
	row := d.x.Shape()[1:]
	d.width = tensor.Size(append([]int{1}, row...)...)
	if d.width != 1 && (len(row) != len(heads)+1 || !slices.Equal(row[:len(heads)], heads) || row[len(heads)] != 1) || len(row) > len(heads)+1 {
		return false
	}
	if d.kinds == nil {
		return d.x.Dim(0) == g.NumEdges()
	}
	n := uint(d.x.Dim(0))
	return len(d.kinds) == g.NumEdges() && !slices.ContainsFunc(d.kinds, func(k int32) bool { return uint(k) >= n })
}

// bounded reports whether no element is NaN or +∞. A −∞ says that there is no
// edge.
func (d *denseBias) bounded() bool {
	if d.x == nil {
		return true
	}
	top := float64(simd.MaxOf(d.x.Value().Data))
	return !math.IsNaN(top) && !math.IsInf(top, 1)
}

// at is the place of edge e's element for a head.
func (d *denseBias) at(e, h int) int {
	if d.kinds != nil {
		e = int(d.kinds[e])
	}
	if d.width == 1 {
		return e
	}
	return e*d.width + h
}

// inRow reports whether the elements of successive edges stand side by side.
func (d *denseBias) inRow() bool { return d.kinds == nil && d.width == 1 }

// edgeRun is edges of one destination: from number e on, n of them, which stand from
// element at on in a block.
type edgeRun struct{ e, at, n int }

// runs returns the edges of row i of a block: two runs around a pair that is
// none.
func (j *job) runs(r rect, i int) (out [2]edgeRun) {
	v := r.v + i - j.Dst
	lo, hi, skip := j.Sources(v)
	from, to := max(lo, r.u), min(hi, r.u+r.nu)
	e, at := j.first+j.EdgesBefore(v)-lo, i*denseSrc-r.u
	if skip < 0 || from >= to {
		out[0] = edgeRun{e + from, at + from, max(to-from, 0)}
		return out
	}
	cut := min(max(skip, from), to)
	out[0] = edgeRun{e + from, at + from, cut - from}
	from = max(skip+1, from)
	out[1] = edgeRun{e + from - 1, at + from, max(to-from, 0)}
	return out
}

// addBias adds the bias to the logits.
func (b *block) addBias(m *dense, j job, r rect) {
	x := m.bias.x.Value().Data
	for i := range r.nv {
		for _, run := range j.runs(r, i) {
			if run.n == 0 {
				continue
			}
			p := b.p[run.at : run.at+run.n]
			if m.bias.inRow() {
				simd.Add.Forward(p, p, x[run.e:run.e+run.n], 1, 1)
				continue
			}
			for k := range p {
				p[k] += x[m.bias.at(run.e+k, j.h)]
			}
		}
	}
}

// keep sets kept to what dropout makes of ones: the element of an edge and a head
// is that of the same message in tiles.
func (b *block) keep(m *dense, j job, r rect) {
	clear(b.kept[:r.nv*denseSrc])
	scale := tensor.Float(m.drop.Scale)
	for i := range r.nv {
		for _, run := range j.runs(r, i) {
			for k := range run.n {
				if m.drop.Keep(m.drop.Row(run.e+k), j.h) {
					b.kept[run.at+k] = scale
				}
			}
		}
	}
}

// biasParts is into how many parts the gradient of a table is summed at most.
const biasParts = 16

// room is how many elements the gradient of a table needs beside it.
func (d *denseBias) room() int {
	if d.x == nil || !d.x.Needs() || d.kinds == nil {
		return 0
	}
	return biasParts * len(d.x.Value().Data)
}

// pullBias adds to the gradient of the bias. An edge's row is that of one job;
// tables are summed in parts that follow from the blocks, each in a table of its
// own in room, which are added in order.
func (m *dense) pullBias(g denseGrads, room []tensor.Float) {
	list := jobLists.Get().(*[]job)
	all, db := m.jobs((*list)[:0], destinationsOf, 1), m.bias.x.Grad().Data
	parts := min(biasParts, len(all))
	if m.bias.kinds == nil {
		parts = len(all)
	}
	eachChunk(parts, func(i int) {
		to := db
		if m.bias.kinds != nil {
			to = room[i*len(db) : (i+1)*len(db)]
		}
		b := blocks.Get().(*block)
		b.spoil()
		for _, j := range all[i*len(all)/parts : (i+1)*len(all)/parts] {
			for j.h = range m.heads {
				b.pullBias(m, j, g, to)
			}
		}
		blocks.Put(b)
	})
	for i := range parts {
		if m.bias.kinds != nil {
			add(db, room[i*len(db):(i+1)*len(db)])
		}
	}
	*list = all
	jobLists.Put(list)
}

// pullBias adds the logits' gradients of some destinations to a bias's.
func (b *block) pullBias(m *dense, j job, g denseGrads, to []tensor.Float) {
	from, end := reach(j.Span, j.lo, j.hi)
	for u := from; u < end; u += denseSrc {
		r := rect{j.Dst + j.lo, j.hi - j.lo, u, min(denseSrc, end-u)}
		b.weights(m, j, r, g)
		for i := range r.nv {
			for _, run := range j.runs(r, i) {
				for k := range run.n {
					to[m.bias.at(run.e+k, j.h)] += b.dp[run.at+k]
				}
			}
		}
	}
}
