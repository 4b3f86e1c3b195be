package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Pointer is the pointer network: it answers a set of points with some of them, in an
// order. The weights of its attention are the answer.
//
//	e_1 … e_n = Encoder(x_1 … x_n)         d_0 = the encoder's last state
//	d_i = Decoder(x_{c_{i−1}}, d_{i−1})    the point chosen last; Start before the first choice
//	p(c_i = j) = softmax_j(Score(e_j, d_i))
//
// of Vinyals, Fortunato and Jaitly, "Pointer Networks", NIPS 2015. A batch is sets of any
// sizes: each is a chain of one graph, in the order in which the encoder reads it. The
// softmax is over the in-edges of a step, in the graph of a [Pointing]: a point that may not
// be chosen has no edge.
//
// With a Glimpse the decoder looks before it points (Bello et al., "Neural Combinatorial
// Optimization with Reinforcement Learning", 2017): what Score is asked is
//
//	q_i = Σ_j softmax_j(Glimpse(e_j, d_i))·e_j
//
// in the place of d_i. Both cells carry states of the same sizes. Without an Encoder e_j is the point itself, and
// d_0 is zero: then the answer does not depend on the order of the points.
type Pointer struct {
	In               int           // numbers of a point
	Hidden           int           // of the encoder; without one, In
	Encoder, Decoder sequence.Cell // Decoder reads points
	Score            Score         // of the keys e against the queries d, or q
	Glimpse          Score         `json:",omitempty"` // of the keys e against d; nil: none

	NoRepeat bool // a point is chosen once
	End      bool // an answer ends with ⇒, a key of its own, and may be shorter than its set
	Close    bool // with NoRepeat and End: the first point may be chosen once more, and then only ⇒

	Start *grad.Param `json:"-"` // 1×In, what the decoder reads first
	Stop  *grad.Param `json:"-"` // 1×Hidden, the key of ⇒; nil without End
}

// Init makes the Params of all parts; Start and Stop are uniform up to the root of one over
// their length.
func (l *Pointer) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.check()
	if l.Encoder != nil {
		l.Encoder.Init(rng)
	}
	l.Decoder.Init(rng)
	l.Score.Init(rng)
	if l.Glimpse != nil {
		l.Glimpse.Init(rng)
	}
	l.Start, l.Stop = compose.Uniform(rng, 1, l.In, l.In), nil
	if l.End {
		l.Stop = compose.Uniform(rng, 1, l.Hidden, l.Hidden)
	}
}

const pointerOp = "attention.Pointer"

// check panics unless the fields make a network.
func (l *Pointer) check() {
	switch {
	case l.Decoder == nil || l.Score == nil:
		panic(&grad.TapeError{Op: pointerOp, Why: "it needs a Decoder and a Score"})
	case l.Encoder == nil && l.Hidden != l.In:
		panic(&tensor.ShapeError{Op: pointerOp, Shapes: [][]int{{l.In}, {l.Hidden}}, Why: "without an Encoder the keys are the points, so Hidden must be In"})
	case l.Close && !(l.NoRepeat && l.End):
		panic(&grad.TapeError{Op: pointerOp, Why: "Close wants NoRepeat and End"})
	}
}

// Forward returns the logit of every edge of p.Pairs, E×1: of each step, whose decoder is
// fed what p says that the step before chose. x has a row for each node of p.Sets.
func (l *Pointer) Forward(t *grad.Tape, p *Pointing, x *grad.Var) *grad.Var {
	return message.ApplyEdges(p.Pairs, l.logits(t, p, x))
}

// Loss is the mean of −log p(c_i) over the steps: the cross-entropy of the chosen edges
// among those into their step.
func (l *Pointer) Loss(t *grad.Tape, p *Pointing, x *grad.Var) *grad.Var {
	logP := message.ApplyEdges(p.Pairs, l.logits(t, p, x).LogSoftmax())
	return logP.Rows(p.Chosen).Mean().Neg()
}

// logits is Forward that has not run.
func (l *Pointer) logits(t *grad.Tape, p *Pointing, x *grad.Var) message.Msg {
	e, state := l.encode(t, p.Sets, x)
	d := l.Decoder.ForwardFrom(t, p.Steps, l.points(t, x).Rows(p.fed), state)
	return l.point(t, p.Pairs, e, d[0])
}

// point is the logit of every edge of pairs, for queries d.
func (l *Pointer) point(t *grad.Tape, pairs *graph.Graph, e encoding, d *grad.Var) message.Msg {
	if l.Glimpse != nil {
		look := l.Glimpse.Of(t, e.seen, d).Softmax()
		d = message.UpdateAll(pairs, message.U(e.values).Mul(look), message.Sum)
	}
	return l.Score.Of(t, e.keys, d)
}

// encoding is what queries read of the points; the last row is that of ⇒.
type encoding struct {
	keys         *grad.Var // by Score
	seen, values *grad.Var // by Glimpse, and what it takes the mean of; nil without one
}

// encode returns what queries read, and the state before the first step, a row for each set.
func (l *Pointer) encode(t *grad.Tape, sets *graph.Graph, x *grad.Var) (e encoding, state message.State) {
	l.check()
	compose.WantParam(pointerOp, l.Start, true)
	compose.WantParam(pointerOp, l.Stop, l.End)
	compose.WantNodes(pointerOp, sets, x)
	compose.WantWidth(pointerOp, "x", x, l.In, "In")
	compose.WantDense(pointerOp, "x", x, "its rows are points")
	keys := x
	if l.Encoder != nil {
		h := l.Encoder.ForwardFrom(t, sets, x, nil)
		keys, state = h[0], h.Rows(sets.Sinks())
	}
	if l.End {
		keys = grad.ConcatAxis(0, keys, t.Use(l.Stop))
	}
	e.keys = l.Score.Keys(t, keys)
	if l.Glimpse != nil {
		e.seen, e.values = l.Glimpse.Keys(t, keys), keys
	}
	return e, state
}

// keep returns the encoding as constants.
func (e encoding) keep() encoding {
	for _, x := range []**grad.Var{&e.keys, &e.seen, &e.values} {
		if *x != nil {
			*x = (*x).Keep()
		}
	}
	return e
}

// points are what the decoder may be fed: x, and Start behind it.
func (l *Pointer) points(t *grad.Tape, x *grad.Var) *grad.Var {
	return grad.ConcatAxis(0, x, t.Use(l.Start))
}

// checkSets reports whether all sets have points, and are chains.
func checkSets(sets *graph.Graph) error {
	compose.WantGraph(pointerOp, sets)
	if sets.Bipartite() {
		compose.BadGraph(pointerOp, sets, "the graph is bipartite; sets are chains, see graph.Chains")
	}
	ends := sets.NodeOffsets()
	for i, from := range ends[:len(ends)-1] {
		if ends[i+1] == from {
			return fmt.Errorf("attention: set %d has no points, so there is nothing to point at: leave it out", i)
		}
	}
	if n := len(sets.Sinks()); n != len(ends)-1 {
		panic(&tensor.ShapeError{Op: pointerOp, Shapes: [][]int{{len(ends) - 1}, {n}}, Why: "each set must be a chain: see graph.Chains"})
	}
	return nil
}
