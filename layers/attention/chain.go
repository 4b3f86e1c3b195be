package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// ChainAttention chooses any number of the nodes of a chain, where what is chosen depends on
// what its neighbours are: whole phrases, and not single words.
//
//	z_i ∈ {0, 1},   p(z) ∝ exp(Σ_i θ_i,zi + Σ_i Trans_zi−1,zi)      y = Σ_i p(z_i = 1)·x_i
//
// of Kim, Denton, Hoang and Rush, "Structured Attention Networks", ICLR 2017. The marginals
// p(z_i = 1) are found by forward–backward in log space, and differentiated through; a
// chain's do not sum to 1. Without scores of transitions each is σ(θ_i,1 − θ_i,0).
//
// θ is N×2, such as a linear layer makes of states, values are N×F, and the result has F
// columns and a row for each chain; of an empty one it is zero.
type ChainAttention struct {
	CRF sequence.CRF // of two tags: not chosen, chosen
}

// Init makes the scores of transitions, and of a chain's first and last state.
func (l *ChainAttention) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.CRF.Tags = 2
	l.CRF.Init(rng)
}

// Forward returns the sum of what is chosen of each chain of g. The weights are those of
// the edges of [graph.Membership]: p(z_i = 1) of each node, in order.
func (l *ChainAttention) Forward(t *grad.Tape, g *graph.Graph, theta, values *grad.Var) layers.Out {
	const op = "attention.ChainAttention"
	compose.WantNodes(op, g, theta)
	compose.WantParam(op, l.CRF.Trans, true)
	compose.WantWidth(op, "theta", theta, 2, "the number of states")
	wantRows(op, "values", values, g.NumNodes(), "nodes")
	compose.WantDense(op, "values", values, "a sum of sparse rows is dense: multiply by a matrix first")
	p := message.U(l.CRF.Marginals(t, g, theta).Columns(1, 2))
	return layers.Out{Y: message.UpdateAll(graph.Membership(g), message.U(values).Mul(p), message.Sum), Attention: p}
}
