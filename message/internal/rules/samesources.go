package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// sameSources is Σ U(x) where each destination has the source of its own number and no
// other, as in a sweep over chains: x itself.
type sameSources struct{ x int }

func matchSameSources(p *plan.Plan) Way {
	if x, ok := reducesSources(p, ops.Sum); ok {
		return sameSources{x}
	}
	return nil
}

// Takes takes such a graph.
func (sameSources) Takes(c *exec.Call) bool { return oneToOne(c.Graph) }

// Forward returns x.
func (k sameSources) Forward(c *exec.Call) *grad.Var { return c.Vars[k.x] }

type oneToOneKey struct{}

// oneToOne reports whether each destination has the source of its own number and
// no other.
func oneToOne(g *graph.Graph) bool {
	if g.NumSrc() != g.NumDst() || g.NumEdges() != g.NumDst() {
		return false
	}
	return graph.Derive(g, oneToOneKey{}, func() bool {
		for v, u := range g.In().Cols {
			if int(u) != v || g.In().Offsets[v] != int64(v) {
				return false
			}
		}
		return true
	})
}
