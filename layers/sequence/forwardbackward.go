package sequence

import (
	"math"
	"sync"

	"github.com/edgewise-ml/edgewise/tensor"
)

// potentials are the scores of a CRF's transitions. Forbidden ones are −Inf.
type potentials struct {
	k          int
	next       []float64 // k×k, from the row's tag to the column's
	odds       []float64 // exp(next − top)
	top        float64   // the largest of next
	begin, end []float64
}

// potentials returns the scores of l.
func (l *CRF) potentials() *potentials {
	k := l.Tags
	room := make([]float64, 2*k*k+2*k)
	p := &potentials{k: k, next: room[:k*k], odds: room[k*k : 2*k*k], begin: room[2*k*k : 2*k*k+k], end: room[2*k*k+k:]}
	widen(p.next, l.Trans.Value.Data)
	widen(p.begin, l.Begin.Value.Data)
	widen(p.end, l.End.Value.Data)
	for _, f := range l.Forbid {
		switch {
		case f.From == ChainEnd:
			p.begin[f.To] = math.Inf(-1)
		case f.To == ChainEnd:
			p.end[f.From] = math.Inf(-1)
		default:
			p.next[int(f.From)*k+int(f.To)] = math.Inf(-1)
		}
	}
	p.top = exps(p.odds, p.next)
	return p
}

func widen(dst []float64, src []tensor.Float) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// exps sets dst to exp(x − top) and returns top, the largest of x; 0 if that is −Inf.
func exps(dst, x []float64) (top float64) {
	if top = largest(x); math.IsInf(top, -1) {
		top = 0
	}
	for i, v := range x {
		dst[i] = math.Exp(v - top)
	}
	return top
}

func largest(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		if v > top || v != v {
			top = v
		}
	}
	return top
}

// logSum returns log Σ exp(x_i + y_i·stride).
func logSum(x, y []float64, stride int) float64 {
	top := math.Inf(-1)
	for i, v := range x {
		if s := v + y[i*stride]; s > top || s != s {
			top = s
		}
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for i, v := range x {
		sum += math.Exp(v + y[i*stride] - top)
	}
	return top + math.Log(sum)
}

// A sum of products of exponentials, each scaled to 1 at most, is taken as it is if it is
// more than leastSum: what is lost to underflow is nothing beside it. Else, as where a
// transition that is all but impossible is the only one, logSum finds it. Likewise a
// common factor of exp(mostShift) at most keeps products in range.
const (
	leastSum  = 1e-200
	mostShift = 300
)

// after sets a(j) = log Σ_i exp(from(i) + next(i,j)). u is room for a row.
func (p *potentials) after(a, from, u []float64) {
	k, top := p.k, exps(u, from)
	clear(a)
	for i, w := range u {
		if w == 0 {
			continue
		}
		for j, e := range p.odds[i*k : i*k+k] {
			a[j] += w * e
		}
	}
	for j, s := range a {
		if s > leastSum {
			a[j] = top + p.top + math.Log(s)
		} else {
			a[j] = logSum(from, p.next[j:], k)
		}
	}
}

// before sets b(i) = log Σ_j exp(next(i,j) + to(j)), of which w is exp(to − top).
func (p *potentials) before(b, to, w []float64, top float64) {
	k := p.k
	for i := range b {
		s := 0.0
		for j, e := range p.odds[i*k : i*k+k] {
			s += e * w[j]
		}
		if s > leastSum {
			b[i] = top + p.top + math.Log(s)
		} else {
			b[i] = logSum(to, p.next[i*k:], 1)
		}
	}
}

// walk is forward–backward over a chain at a time.
type walk struct {
	*potentials
	x     *tensor.Dense
	nodes []int32
	alpha []float64 // of each node: log Σ exp(s) of the taggings up to it, by its tag
	logZ  float64

	beta, to, u, v, w []float64 // rows
	rest              []float64 // of whoever walks: as many rows as the chain has nodes
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// newWalk returns a walk over chains of that many nodes at most, which is to be freed.
func newWalk(p *potentials, x *tensor.Dense, longest int) *walk {
	w := walks.Get().(*walk)
	w.potentials, w.x = p, x
	k, n := p.k, max(1, longest)*p.k
	if len(w.alpha) < n {
		w.alpha, w.rest = make([]float64, n), make([]float64, n)
	}
	if cap(w.beta) < k {
		for _, row := range w.rows() {
			*row = make([]float64, k)
		}
	}
	for _, row := range w.rows() {
		*row = (*row)[:k]
	}
	return w
}

// rows are those that have a number a tag.
func (w *walk) rows() [5]*[]float64 { return [...]*[]float64{&w.beta, &w.to, &w.u, &w.v, &w.w} }

// free keeps the rows for another walk.
func (w *walk) free() {
	w.potentials, w.x, w.nodes = nil, nil, nil
	walks.Put(w)
}

// at returns the row of the i-th node.
func (w *walk) at(rows []float64, i int) []float64 { return rows[i*w.k : (i+1)*w.k] }

// add adds the scores of the i-th node's tags.
func (w *walk) add(row []float64, i int) {
	for z, s := range w.x.Row(int(w.nodes[i])) {
		row[z] += float64(s)
	}
}

// forward sets alpha and logZ of a chain.
func (w *walk) forward(nodes []int32) {
	w.nodes = nodes
	for i := range nodes {
		a := w.at(w.alpha, i)
		if i == 0 {
			copy(a, w.begin)
		} else {
			w.after(a, w.at(w.alpha, i-1), w.u)
		}
		w.add(a, i)
	}
	w.logZ = logSum(w.at(w.alpha, len(nodes)-1), w.end, 1)
}

// score is that of a tagging.
func (w *walk) score(tags []int32) float64 {
	s, before := 0.0, int32(0)
	for i, v := range w.nodes {
		y := tags[v]
		if i == 0 {
			s += w.begin[y]
		} else {
			s += w.next[int(before)*w.k+int(y)]
		}
		s += float64(w.x.Row(int(v))[y])
		before = y
	}
	return s + w.end[before]
}

// backward calls f with each node from the last to the first: beta, in w.beta, is log Σ
// exp(s) of what follows it, by its tag. Before, but for the last node, it calls pair
// with to = x + beta of the node after, in w.to, of which w.w is exp(to − top).
func (w *walk) backward(f func(i int), pair func(i int, top float64)) {
	copy(w.beta, w.end)
	for i := len(w.nodes) - 1; i >= 0; i-- {
		f(i)
		if i == 0 {
			return
		}
		copy(w.to, w.beta)
		w.add(w.to, i)
		top := exps(w.w, w.to)
		if pair != nil {
			pair(i, top)
		}
		w.before(w.beta, w.to, w.w, top)
	}
}

// marginal is the probability of tag z of the i-th node.
func (w *walk) marginal(i, z int) float64 {
	return math.Exp(w.alpha[i*w.k+z] + w.beta[z] - w.logZ)
}

// possible reports whether the chain has a tagging that is not forbidden.
func (w *walk) possible() bool { return !math.IsInf(w.logZ, -1) }
