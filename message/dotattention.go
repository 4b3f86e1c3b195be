package message

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention is scaled dot-product attention over the in-edges of each
// destination:
//
//	α_e = softmax over the in-edges of v of (K_u·Q_v·Scale + Bias_e),   y_v = Σ_e drop(α_e)·V_u
//
// Who attends to whom is the graph. A destination without in-edges gets zero.
type Attention struct {
	Q     *grad.Var // a row for each destination, N×H×D or N×D
	K     *grad.Var // a row for each source, of the same shape
	V     *grad.Var // a row for each source, N×H×F or N×F
	Bias  Msg       // added to the logits, such as E(x) or W(table).Pick(kinds), with x E×1 or, for each head, E×H×1; the zero Msg adds nothing
	Scale float64   // of the logits; 0 means 1/√D
	Drop  float64   // the fraction of weights that are dropped
}

// Weights is what every edge is weighted with, dropout included. Evaluated with
// [ApplyEdges] it has the mask that a result built from the same Msg has.
func (a *Attention) Weights(t *grad.Tape) Msg {
	a.want("message.Attention.Weights")
	scale := grad.Preset(a.Scale, 1/math.Sqrt(float64(max(a.Q.Dim(-1), 1))))
	score := U(a.K).Dot(V(a.Q)).Scale(scale)
	if !a.Bias.empty() {
		score = score.Add(a.Bias)
	}
	return score.Softmax().Dropout(t, a.Drop)
}

// Apply returns the attention's result on g, and its weights as a Msg: it costs
// nothing until ApplyEdges.
func (a *Attention) Apply(t *grad.Tape, g *graph.Graph) (y *grad.Var, weights Msg) {
	given("message.Attention", g)
	a.want("message.Attention")
	if a.V == nil {
		panic(&grad.TapeError{Op: "message.Attention", Why: "V is nil"})
	}
	a.checkBias(g)
	weights = a.Weights(t)
	return updateAll("message.Attention", g, U(a.V).Mul(weights), sums), weights
}

// want panics unless there are queries and keys of one width, and Scale and Drop are in their ranges.
func (a *Attention) want(op string) {
	switch {
	case a.Q == nil || a.K == nil:
		panic(&grad.TapeError{Op: op, Why: "Q or K is nil"})
	case a.Q.Dim(-1) != a.K.Dim(-1):
		panic(tensor.Mismatch(op, a.Q, a.K))
	case math.IsNaN(a.Scale) || !(a.Drop >= 0 && a.Drop <= 1):
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Scale is %v and Drop %v; want a number, and a fraction from 0 to 1", a.Scale, a.Drop)})
	}
}

// checkBias panics if the bias has more for an edge than the logits, which are one
// element or H×1: H elements without the axis behind them would be added to each
// head's logit, and give H×H.
func (a *Attention) checkBias(g *graph.Graph) {
	if a.Bias.empty() || a.Bias.narrow() {
		return
	}
	const op = "message.Attention"
	steps := planned(op, g, &a.Bias, nil).Plan.Steps
	if shape := steps[len(steps)-1].Shape; shape[len(shape)-1] != 1 {
		panic(misfit(op, shape, "the bias has several elements for a logit; one for each head is E×H×1"))
	}
}

// narrow reports whether all that m reads has a last axis of one element.
func (m *Msg) narrow() bool {
	for _, n := range m.nodes() {
		if n.Kind.IsLeaf() {
			if shape := shapeOf(n.Kind, m.operands()[n.K]); shape[len(shape)-1] != 1 {
				return false
			}
		}
	}
	return true
}
