package sequence

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Marginals returns the probability of each tag of each node, N×Tags: the gradient of
// log Z by x. Its rows sum to 1, or are zeros where all taggings are forbidden. Its own
// gradient is that of log Z once more:
//
//	dx = ∂/∂ε marginals(x + ε·dy),   and so for the scores of transitions
func (l *CRF) Marginals(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	p := l.check(g, x)
	scores := [...]*grad.Var{x, t.Use(l.Trans), t.Use(l.Begin), t.Use(l.End)}
	op := grad.Begin("sequence.CRF.Marginals", scores[:]...)
	y := op.New(x.Shape()...)
	m := tape.Note(op, crfMarginals{potentials: l.potentials(), paths: p, scores: scores, x: x.Value(), y: y.Value()})
	if !tape.Dry(op, 0) {
		par.Run(len(p.parts)-1, m)
	}
	return tape.RecordBy(op, y, m)
}

// crfMarginals is one run of Marginals, forwards or backwards.
type crfMarginals struct {
	*potentials
	*paths
	scores [4]*grad.Var
	x, y   *tensor.Dense

	back   bool
	dy, dx *tensor.Dense
	sums   pairSums
}

// Pull adds to the gradients of all scores.
func (m *crfMarginals) Pull(dy *tensor.Dense) {
	parts := len(m.parts) - 1
	m.back, m.dy, m.dx, m.sums = true, dy, m.scores[0].Grad(), newPairSums(m.scores, parts, m.k)
	par.Run(parts, m)
	m.sums.addTo(m.scores, parts, m.k)
}

// Chunk does the chains of a part.
func (m *crfMarginals) Chunk(i int) {
	w := newWalk(m.potentials, m.x, m.longest)
	defer w.free()
	for n := m.parts[i]; n < m.parts[i+1]; n++ {
		w.forward(m.chain(n))
		switch {
		case !w.possible():
		case m.back:
			m.pull(w, i)
		default:
			w.backward(func(i int) {
				y := m.y.Row(int(w.nodes[i]))
				for z := range y {
					y[z] = tensor.Float(w.marginal(i, z))
				}
			}, nil)
		}
	}
}

// turn is how fast alpha and beta of a chain change when x goes along dy: each is a mean
// of what it comes from, by the share that this has in it.
type turn struct {
	*walk
	dy *tensor.Dense
	da []float64 // of alpha, a row a node
	dz float64   // of log Z
}

// along returns the row of dy of the i-th node.
func (t *turn) along(i int) []tensor.Float { return t.dy.Row(int(t.nodes[i])) }

// forward sets da and dz.
func (t *turn) forward() {
	k := t.k
	for i := range t.nodes {
		da, d, x := t.at(t.da, i), t.along(i), t.x.Row(int(t.nodes[i]))
		for j := range da {
			da[j] = float64(d[j])
			if i == 0 {
				continue
			}
			a, from := t.alpha[i*k+j]-float64(x[j]), t.at(t.da, i-1)
			for z, before := range t.at(t.alpha, i-1) {
				da[j] += share(before+t.next[z*k+j], a) * from[z]
			}
		}
	}
	t.dz = 0
	last := len(t.nodes) - 1
	for z, a := range t.at(t.alpha, last) {
		t.dz += share(a+t.end[z], t.logZ) * t.da[last*k+z]
	}
}

// share is exp(s − all), the share of a part in a sum; 0 of what is impossible.
func share(s, all float64) float64 {
	if math.IsInf(s, -1) {
		return 0
	}
	return math.Exp(s - all)
}

// pull adds the gradients of a chain.
func (m *crfMarginals) pull(w *walk, part int) {
	t := &turn{walk: w, dy: m.dy, da: w.rest}
	t.forward()
	k, last := m.k, len(w.nodes)-1
	next, begin, end := m.sums.of(part, k)
	db, old := w.u, w.v // of beta
	clear(db)
	w.backward(func(i int) {
		for z := range k {
			v := w.marginal(i, z) * (t.da[i*k+z] + db[z] - t.dz)
			if m.dx != nil {
				m.dx.Row(int(w.nodes[i]))[z] += tensor.Float(v)
			}
			if next != nil && i == 0 {
				begin[z] += v
			}
			if next != nil && i == last {
				end[z] += v
			}
		}
	}, func(i int, _ float64) {
		copy(old, db)
		d, from, da := t.along(i), w.at(w.alpha, i-1), t.at(t.da, i-1)
		for z := range k {
			db[z] = 0
			b := logSum(w.to, m.next[z*k:], 1)
			for j, to := range w.to {
				s, by := m.next[z*k+j]+to, float64(d[j])+old[j]
				db[z] += share(s, b) * by
				if next != nil {
					next[z*k+j] += share(from[z]+s, w.logZ) * (da[z] + by - t.dz)
				}
			}
		}
	})
}
