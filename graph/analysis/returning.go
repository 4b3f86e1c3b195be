package analysis

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// walkedMost is how many nodes and edges walks may pass in all, in one member: about a
// minute of a processor. A member of up to walkedLeast nodes is always walked on.
const (
	walkedLeast = 2000
	walkedMost  = 1 << 35
)

// walkedTogether is how many nodes of a member are one piece of work.
const walkedTogether = 256

// ReturnProbabilities returns, for each node and each k from 1 to steps, how likely a random
// walk of k steps that begins at the node ends there: a row a node. A walk goes along an
// edge out of where it is, each as likely; one that cannot go on has ended elsewhere. They
// tell nodes apart that no sum over neighbours does, and are known as the random-walk
// encoding of Dwivedi and others, "Graph Neural Networks with Learnable Structural and
// Positional Representations", ICLR 2022.
//
// The work goes with the square of a member: from each of its nodes, each step passes its
// nodes and edges. The error says so if a member of more than 2,000 nodes has more than 2³⁵ of
// that: a citation graph of 20,000 nodes and 16 steps has less. It panics with a
// [*tensor.ShapeError] if g is bipartite, or steps is not positive.
func ReturnProbabilities(g *graph.Graph, steps int) (*tensor.Dense, error) {
	mistake.Homogeneous("analysis.ReturnProbabilities", g)
	if steps < 1 {
		mistake.Panic("analysis.ReturnProbabilities", nil, "an encoding of %d columns, want at least 1", steps)
	}
	y, at := tensor.New(g.NumNodes(), steps), g.NodeOffsets()
	out, _ := g.Out()
	var pieces []walkers
	for m := range len(at) - 1 {
		lo, hi := at[m], at[m+1]
		passed := float64(hi-lo) * float64(int64(hi-lo)+out.Offsets[hi]-out.Offsets[lo]) * float64(steps)
		if hi-lo > walkedLeast && passed > walkedMost {
			return nil, fmt.Errorf("analysis: member %d has %d nodes: walks of %d steps from each would pass %.1g nodes and edges, and at most %.1g are; take fewer steps, or Laplacian vectors", m, hi-lo, steps, passed, float64(walkedMost))
		}
		for first := lo; first < hi; first += walkedTogether {
			pieces = append(pieces, walkers{lo, hi, first, min(first+walkedTogether, hi)})
		}
	}
	par.For(len(pieces), 1, func(first, last int) {
		for _, w := range pieces[first:last] {
			w.walk(out, y)
		}
	})
	return y, nil
}

// walkers begin at the nodes first to last of the member lo to hi.
type walkers struct{ lo, hi, first, last int }

// walk gives y the probabilities of these nodes.
func (w walkers) walk(out *sparse.CSR, y *tensor.Dense) {
	p, next := make([]float64, w.hi-w.lo), make([]float64, w.hi-w.lo)
	for v := w.first; v < w.last; v++ { // one walker, whose place is known by its probabilities
		clear(p)
		p[v-w.lo] = 1
		for k := range y.Row(v) {
			clear(next)
			for u, pu := range p {
				if pu == 0 {
					continue
				}
				targets := out.Cols[out.Offsets[w.lo+u]:out.Offsets[w.lo+u+1]]
				for _, t := range targets {
					next[int(t)-w.lo] += pu / float64(len(targets))
				}
			}
			p, next = next, p
			y.Row(v)[k] = tensor.Float(p[v-w.lo])
		}
	}
}
