package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// HardAttention looks at one value, or at few:
//
//	Sampled    y_v = x_j,  j drawn with the probabilities α of [Soft]; at evaluation the likeliest
//	Argmax     y_v = x_j,  j = argmax_u α_uv, the lowest edge of several
//	Filtered   y_v = Σ_u α'_uv·x_u,  α' by Filter: what is small is dropped, the rest sums to 1
//
// Sampled is that of Xu and others, "Show, Attend and Tell", 2015. Nothing can be
// differentiated by a draw; the scores learn from how good it was (Williams, 1992,
// "REINFORCE"): an estimate of the gradient of the expected loss that is right in the mean,
// and varies less the better a [Baseline] foretells the loss:
//
//	c := hard.Apply(t, g, in)
//	each := grad.CrossEntropy{Reduction: grad.EachLoss}.Of(out.Forward(t, c.Y), labels)
//	loss := each.Mean().Add(c.LogP.Reinforce(baseline.Advantage(each)))
//	loss = loss.Sub(c.Entropy().Mean().Scale(0.01))  // keeps draws varied
//
// Argmax gives the scores no gradient: it is for scores that learnt as Soft ones. A query
// without keys gets zero, as does one whose scores are all −∞. Shapes are those of Soft.
type HardAttention struct {
	Score  Score
	Mode   Mode     `json:",omitempty"`
	Filter Weighing // of Filtered: by Threshold or TopK
}

// Mode is how [HardAttention] chooses.
type Mode string

// The modes.
const (
	Sampled  Mode = ""
	Argmax   Mode = "argmax"
	Filtered Mode = "filtered"
)

// Choice is what [HardAttention] returns. LogP, M×1, is the logarithm of the probability of
// what was drawn for each query: 0 of one without keys, nil unless it was Sampled.
type Choice struct {
	layers.Out
	LogP *grad.Var

	g      *graph.Graph
	logits message.Msg
}

// Init makes the Params of the score.
func (l *HardAttention) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
}

// Apply chooses among In.Src, as [Soft.Apply] reads it.
func (l *HardAttention) Apply(t *grad.Tape, g *graph.Graph, in layers.In) Choice {
	return l.Read(t, g, in, in.Src)
}

// Read is Apply of values that are not the keys.
func (l *HardAttention) Read(t *grad.Tape, g *graph.Graph, in layers.In, values *grad.Var) Choice {
	const op = "attention.HardAttention"
	c := Choice{g: g, logits: logitsOf(op, t, g, l.Score, in, queriesOf(op, g, in))}
	wantRows(op, "values", values, g.NumSrc(), "sources")
	switch l.Mode {
	case Sampled:
		drawn, logp := c.logits.Sample(t)
		c.Attention, c.LogP = drawn, message.UpdateAll(g, logp, message.Sum)
	case Argmax:
		c.Attention = c.logits.Hardmax()
	case Filtered:
		if by := l.Filter.By; by != Threshold && by != TopK && by != Sparsemax {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Filter is by %q: Filtered wants Threshold, TopK or Sparsemax", string(by))})
		}
		c.Attention = l.Filter.Of(c.logits)
	default:
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Mode is %q, want Sampled, Argmax or Filtered", string(l.Mode))})
	}
	c.Out = over(g, in, c.Attention, values)
	return c
}

// Entropy returns −Σ_u α_uv·log α_uv of each query, M×1: 0 where it is certain, and of one
// without keys.
func (c Choice) Entropy() *grad.Var {
	least := tensor.New(1)
	least.Data[0] = -1e9 // so that a weight of 0 adds 0
	return message.UpdateAll(c.g, c.logits.LogSoftmax().Max(message.W(grad.Const(least))).Mul(c.logits.Softmax()).Neg(), message.Sum)
}
