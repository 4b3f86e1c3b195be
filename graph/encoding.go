package graph

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// walkedMost is the number of nodes of the largest member whose walks are followed: the work
// goes with its square.
const walkedMost = 2000

// ReturnProbabilities returns, for each node and each k from 1 to steps, how likely a random
// walk of k steps that begins at the node ends there: a row a node. A walk goes along an
// edge out of where it is, each as likely; one that cannot go on has ended elsewhere. They
// tell nodes apart that no sum over neighbours does, and are known as the random-walk
// encoding of Dwivedi and others, "Graph Neural Networks with Learnable Structural and
// Positional Representations", ICLR 2022.
//
// The error says so if steps is not positive, or a member has more than 2,000 nodes. It
// panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) ReturnProbabilities(steps int) (*tensor.Dense, error) {
	g.wantHomogeneous("graph.ReturnProbabilities")
	if steps < 1 {
		return nil, fmt.Errorf("graph: an encoding of %d columns, want at least 1", steps)
	}
	y, at := tensor.New(g.NumNodes(), steps), g.NodeOffsets()
	for m := range len(at) - 1 {
		if n := at[m+1] - at[m]; n > walkedMost {
			return nil, fmt.Errorf("graph: member %d has %d nodes, and walks are followed on at most %d", m, n, walkedMost)
		}
	}
	out, _ := g.Out()
	par.For(len(at)-1, 1, func(first, last int) {
		for m := first; m < last; m++ {
			lo, n := at[m], at[m+1]-at[m]
			p, next := make([]float64, n), make([]float64, n)
			for v := range n { // one walker, whose place is known by its probabilities
				clear(p)
				p[v] = 1
				for k := range steps {
					clear(next)
					for u, pu := range p {
						if pu == 0 {
							continue
						}
						targets := out.Cols[out.Offsets[lo+u]:out.Offsets[lo+u+1]]
						for _, w := range targets {
							next[int(w)-lo] += pu / float64(len(targets))
						}
					}
					p, next = next, p
					y.Row(lo + v)[k] = tensor.Float(p[v])
				}
			}
		}
	})
	return y, nil
}
