package sequence

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// cost returns log Z − s(tags) of each sequence; with nil tags log Z.
func (l *CRF) cost(t *grad.Tape, p *paths, x *grad.Var, tags []int32) *grad.Var {
	scores := [...]*grad.Var{x, t.Use(l.Trans), t.Use(l.Begin), t.Use(l.End)}
	op := grad.Begin("sequence.CRF", scores[:]...)
	y := op.New(p.sequences)
	c := tape.Note(op, crfCost{potentials: l.potentials(), paths: p, scores: scores, x: x.Value(), tags: tags})
	if !tape.Dry(op, 0) {
		c.each = make([]float64, p.len())
		par.Run(len(p.parts)-1, c)
		for i, v := range c.each {
			y.Value().Data[p.member[i]] += tensor.Float(v)
		}
	}
	return tape.RecordBy(op, y, c)
}

// crfCost is one run of a CRF's cost, forwards or backwards.
type crfCost struct {
	*potentials
	*paths
	scores [4]*grad.Var // x, Trans, Begin, End
	x      *tensor.Dense
	tags   []int32
	each   []float64 // the cost of each chain

	back   bool
	dy, dx *tensor.Dense
	sums   pairSums // of each part
}

// pairSums are gradients by Trans, Begin and End: k·k, k and k numbers of each part, or none.
type pairSums []float64

// of returns the sums of part i.
func (s pairSums) of(i, k int) (next, begin, end []float64) {
	n := k*k + 2*k
	if s == nil {
		return nil, nil, nil
	}
	s = s[i*n : (i+1)*n]
	return s[:k*k], s[k*k : k*k+k], s[k*k+k:]
}

// newPairSums returns sums of zero, or nil where nobody wants them.
func newPairSums(scores [4]*grad.Var, parts, k int) pairSums {
	for _, v := range scores[1:] {
		if v.Needs() {
			return make(pairSums, parts*(k*k+2*k))
		}
	}
	return nil
}

// addTo adds the sums of all parts, in order, to the gradients of the scores.
func (s pairSums) addTo(scores [4]*grad.Var, parts, k int) {
	for i := range parts {
		next, begin, end := s.of(i, k)
		for n, sum := range [][]float64{next, begin, end} {
			d := scores[n+1].Grad()
			if d == nil {
				continue
			}
			for j, v := range sum {
				d.Data[j] += tensor.Float(v)
			}
		}
	}
}

// Pull adds to the gradients of all scores.
func (c *crfCost) Pull(dy *tensor.Dense) {
	parts := len(c.parts) - 1
	c.back, c.dy, c.dx, c.sums = true, dy, c.scores[0].Grad(), newPairSums(c.scores, parts, c.k)
	par.Run(parts, c)
	c.sums.addTo(c.scores, parts, c.k)
}

// Chunk does the chains of a part.
func (c *crfCost) Chunk(i int) {
	w := newWalk(c.potentials, c.x, c.longest)
	defer w.free()
	for n := c.parts[i]; n < c.parts[i+1]; n++ {
		w.forward(c.chain(n))
		switch {
		case c.back:
			c.pull(w, float64(c.dy.Data[c.member[n]]), i)
		case c.tags == nil:
			c.each[n] = w.logZ
		default:
			c.each[n] = w.logZ - w.score(c.tags)
		}
	}
}

// pull adds g times the gradient of a chain's cost: of log Z what is expected, of the
// score what is there.
func (c *crfCost) pull(w *walk, g float64, part int) {
	next, begin, end := c.sums.of(part, c.k)
	if w.possible() {
		c.expect(w, g, next, begin, end)
	}
	if c.tags == nil {
		return
	}
	k, before := c.k, -1
	for _, v := range w.nodes {
		y := int(c.tags[v])
		if c.dx != nil {
			c.dx.Row(int(v))[y] -= tensor.Float(g)
		}
		switch {
		case next == nil:
		case before < 0:
			begin[y] -= g
		default:
			next[before*k+y] -= g
		}
		before = y
	}
	if end != nil {
		end[before] -= g
	}
}

// expect adds g times the marginals of nodes and of pairs.
func (c *crfCost) expect(w *walk, g float64, next, begin, end []float64) {
	last := len(w.nodes) - 1
	w.backward(func(i int) {
		for z := range c.k {
			p := g * w.marginal(i, z)
			if c.dx != nil {
				c.dx.Row(int(w.nodes[i]))[z] += tensor.Float(p)
			}
			if next == nil {
				continue
			}
			if i == 0 {
				begin[z] += p
			}
			if i == last {
				end[z] += p
			}
		}
	}, func(i int, top float64) {
		if next != nil {
			c.pairs(w, i, top, g, next)
		}
	})
}

// pairs adds g times the probability of each pair of tags of node i−1 and node i.
func (c *crfCost) pairs(w *walk, i int, top, g float64, next []float64) {
	k, from := c.k, w.at(w.alpha, i-1)
	shift := exps(w.u, from) + top + c.top - w.logZ
	if !(math.Abs(shift) < mostShift) {
		for z, a := range from {
			for j, b := range w.to {
				next[z*k+j] += g * math.Exp(a+c.next[z*k+j]+b-w.logZ)
			}
		}
		return
	}
	g *= math.Exp(shift)
	for z, a := range w.u {
		if a *= g; a == 0 {
			continue
		}
		odds, sums := c.odds[z*k:z*k+k], next[z*k:z*k+k]
		for j, b := range w.w {
			sums[j] += a * odds[j] * b
		}
	}
}
