package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Soft is attention: the mean of values, weighted by how well their keys answer a query.
//
//	α_uv = softmax over the in-edges of v of score(k_u, q_v)      y_v = Σ_u α_uv·x_u
//
// of Bahdanau, Cho and Bengio, 2015. Who may look at whom is the graph, from keys to
// queries: all of a sentence, what lies near, what came before, or any list of pairs. A
// query without keys gets zero. Weigh makes other weights of the scores.
//
// Keys are N×Key, queries M×Query and values N×F; the result is M×F.
type Soft struct {
	Score Score
	Weigh Weighing
	Drop  float64 `json:",omitempty"` // the fraction of weights that are dropped
}

// Init makes the Params of the score.
func (l *Soft) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
}

// Apply looks at In.Src, which are keys and values, for In.Dst, which are the queries; nil
// means that the sources ask too, as in self-attention. In.Edge, a number an edge, is added
// to the scores; In.Weight multiplies the weights.
func (l *Soft) Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out {
	return l.Read(t, g, in, in.Src)
}

// Read is Apply of values that are not the keys: key–value attention. They have a row for
// each source.
func (l *Soft) Read(t *grad.Tape, g *graph.Graph, in layers.In, values *grad.Var) layers.Out {
	const op = "attention.Soft"
	logits := logitsOf(op, t, g, l.Score, in, queriesOf(op, g, in))
	return l.mean(op, t, g, in, logits, values)
}

// mean returns the mean of values, weighted by what the logits become.
func (l *Soft) mean(op string, t *grad.Tape, g *graph.Graph, in layers.In, logits message.Msg, values *grad.Var) layers.Out {
	wantRows(op, "values", values, g.NumSrc(), "sources")
	alpha := l.Weigh.Of(logits)
	if l.Drop > 0 {
		alpha = alpha.Dropout(t, l.Drop)
	}
	return over(g, in, alpha, values)
}

// over returns the sum of values by the weights alpha, and by In.Weight.
func over(g *graph.Graph, in layers.In, alpha message.Msg, values *grad.Var) layers.Out {
	if in.Weight != nil {
		alpha = alpha.Mul(message.E(in.Weight))
	}
	return layers.Out{Y: message.UpdateAll(g, message.U(values).Mul(alpha), message.Sum), Attention: alpha}
}

// queriesOf returns the rows of the queries, and panics unless they are there.
func queriesOf(op string, g *graph.Graph, in layers.In) *grad.Var {
	compose.WantGraph(op, g)
	switch {
	case in.Dst != nil:
		wantRows(op, "In.Dst", in.Dst, g.NumDst(), "destinations")
	case in.Src != nil && g.DstRows() == nil:
		compose.BadShape(op, in.Src, fmt.Sprintf("the %d destinations of the graph are none of its sources, so In.Dst is needed", g.NumDst()))
	case in.Src != nil:
		wantRows(op, "In.Src", in.Src, g.NumSrc(), "sources")
		return message.OnDst(g, in.Src)
	}
	return in.Dst
}

// logitsOf returns the scores of the edges of g, In.Edge added. It panics unless the inputs
// are there, with a row for each node or edge.
func logitsOf(op string, t *grad.Tape, g *graph.Graph, s Score, in layers.In, query *grad.Var) message.Msg {
	if s == nil {
		panic(&grad.TapeError{Op: op, Why: "Score is nil: choose one, such as &attention.Additive{…}"})
	}
	wantRows(op, "In.Src", in.Src, g.NumSrc(), "sources")
	compose.WantMatrix(op, "In.Src", in.Src)
	compose.WantDense(op, "In.Src", in.Src, "a mean of sparse rows is dense: multiply by a matrix first")
	logits := s.Of(t, s.Keys(t, in.Src), query)
	if in.Edge != nil {
		wantRows(op, "In.Edge", in.Edge, g.NumEdges(), "edges")
		logits = logits.Add(message.E(in.Edge))
	}
	return logits
}

// wantRows panics unless x has a row for each of n.
func wantRows(op, name string, x *grad.Var, n int, of string) {
	compose.WantVar(op, name, x)
	if x.Dim(0) != n {
		compose.BadShape(op, x, fmt.Sprintf("%s has %d rows, the graph has %d %s", name, x.Dim(0), n, of))
	}
}
