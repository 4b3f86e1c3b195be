package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// BiDAF points at the answer to a question in a text: attention flows from the question to the text and back, and
// is never summed up into one vector before the text is read again.
//
//	H, U = Read(text), Read(question)                   s_tj = h_t·w₁ + u_j·w₂ + (h_t⊙w₃)·u_j
//	ũ_t = Σ_j softmax_j(s_tj)·u_j                       each word of the text looks at the question
//	h̃ = Σ_t softmax_t(max_j s_tj)·h_t                   the question looks at the text, the same for all t
//	g_t = [h_t ‖ ũ_t ‖ h_t⊙ũ_t ‖ h_t⊙h̃]
//	M = Model(G)     start = [G ‖ M]·p₁     end = [G ‖ Tail(M)]·p₂
//
// of Seo, Kembhavi, Farhadi and Hajishirzi, "Bidirectional Attention Flow for Machine Comprehension", ICLR 2017.
// The scores are one message on the edges of [Reading.ToText], of which softmax and maximum are two reducers.
// Read is an LSTM each way, Model two of them one on the other, Tail one, all with Hidden units a way. Words are
// rows of In numbers; the paper's are embeddings and convolutions over letters behind a [sequence.Highway] layer of two, which is
// up to the caller.
type BiDAF struct {
	In, Hidden int
	Dropout    float64 `json:",omitempty"` // of what each LSTM reads, and of what points

	Read, Model, Tail *sequence.Stack
	W1, W2            *grad.Param `json:"-"` // 2·Hidden×1
	W3                *grad.Param `json:"-"` // 2·Hidden
	P1, P2            *grad.Param `json:"-"` // 10·Hidden×1
}

// Init makes the Params of all parts, the weights uniform up to the root of one over the rows that they read.
func (l *BiDAF) Init(rng *rand.Rand) {
	compose.WantOptions(l, "In", "Hidden")
	n := 2 * l.Hidden
	l.Read, l.Model, l.Tail = bothWays(l.In, l.Hidden, 1), bothWays(4*n, l.Hidden, 2), bothWays(n, l.Hidden, 1)
	for _, s := range []*sequence.Stack{l.Read, l.Model, l.Tail} {
		s.Init(rng)
	}
	l.W1, l.W2, l.W3 = compose.Uniform(rng, n, 1, n), compose.Uniform(rng, n, 1, n), vector(rng, n)
	l.P1, l.P2 = compose.Uniform(rng, 5*n, 1, 5*n), compose.Uniform(rng, 5*n, 1, 5*n)
}

// bothWays returns layers of an LSTM each way.
func bothWays(in, hidden, layers int) *sequence.Stack {
	s := &sequence.Stack{}
	for range layers {
		s.Layers = append(s.Layers, &sequence.LSTM{In: in, Hidden: hidden})
		s.Back = append(s.Back, &sequence.LSTM{In: in, Hidden: hidden})
		in = 2 * hidden
	}
	return s
}

// Forward returns where each answer begins and ends. x has a row for each word of r.Texts, q one for each of
// r.Questions. The alignment ToQuestion has one row for each text, how much the question makes of each of its words.
func (l *BiDAF) Forward(t *grad.Tape, r *Reading, x, q *grad.Var) Pointed {
	const op = "attention.BiDAF"
	compose.WantParam(op, l.P2, true)
	r.check(op, x, q, l.In)
	h := l.Read.Forward(t, r.Texts, t.Dropout(x, l.Dropout))
	u := l.Read.Forward(t, r.Questions, t.Dropout(q, l.Dropout))

	score := message.UAddV(u.MatMul(t.Use(l.W2)), h.MatMul(t.Use(l.W1))).Add(message.UDotV(u, h.Mul(t.Use(l.W3))))
	alpha := score.Softmax()
	asked := message.UpdateAll(r.ToText, message.U(u).Mul(alpha), message.Sum)
	beta := message.CopyU(message.UpdateAll(r.ToText, score, message.Max)).Softmax()
	found := message.UpdateAll(r.whole, message.U(h).Mul(beta), message.Sum).Rows(r.of)

	g := grad.Concat(h, asked, h.Mul(asked), h.Mul(found))
	m := l.Model.Forward(t, r.Texts, t.Dropout(g, l.Dropout))
	tail := l.Tail.Forward(t, r.Texts, t.Dropout(m, l.Dropout))
	return Pointed{
		Start:  t.Dropout(grad.Concat(g, m), l.Dropout).MatMul(t.Use(l.P1)),
		End:    t.Dropout(grad.Concat(g, tail), l.Dropout).MatMul(t.Use(l.P2)),
		ToText: Alignment{Graph: r.ToText, Weights: alpha}, ToQuestion: Alignment{Graph: r.whole, Weights: beta},
	}
}
