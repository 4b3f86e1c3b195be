package pool

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// Set2Set asks each graph several times, each time by what it was answered before:
//
//	q_t = LSTM([q_{t−1}, r_{t−1}])   α_v = softmax over the nodes of a graph of x_v·q_t   r_t = Σ_v α_v·x_v
//
// of Vinyals, Bengio and Kudlur, "Order Matters: Sequence to Sequence for Sets", ICLR 2016.
// x is N×In; the result has a row [q, r] of 2·In for each graph, after the last step. A
// graph without nodes is answered with zeros. What runs is a step of an LSTM and a message on
// the edges of Membership, as often as it asks.
type Set2Set struct {
	In     int
	Steps  int `json:",omitempty"` // 0: 3
	Layers int `json:",omitempty"` // of the LSTM; 0: 1

	LSTMs []*sequence.LSTM `json:"-"`
}

// Init makes the Params of the LSTM.
func (l *Set2Set) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.LSTMs = nil
	for i := range cmp.Or(l.Layers, 1) {
		in := l.In
		if i == 0 {
			in = 2 * l.In
		}
		l.LSTMs = append(l.LSTMs, &sequence.LSTM{In: in, Hidden: l.In})
		l.LSTMs[i].Init(rng)
	}
}

// Forward returns a row for each member of g.
func (l *Set2Set) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	const op = "pool.Set2Set"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "rows are taken, and a pool stands behind a layer")
	compose.WantRows(op, x, l.In, "In")
	compose.WantMade(op, "Params", len(l.LSTMs) > 0)
	of := graph.Membership(g)
	asked := zeros(of.NumDst(), 2*l.In)
	states := make([]message.State, len(l.LSTMs))
	for range cmp.Or(l.Steps, 3) {
		q := asked
		for i, lstm := range l.LSTMs {
			states[i] = lstm.Step(t, q, states[i])
			q = states[i][0]
		}
		answer := message.UpdateAll(of, message.U(x).Mul(message.UDotV(x, q).Softmax()), message.Sum)
		asked = grad.Concat(q, answer)
	}
	return asked
}
