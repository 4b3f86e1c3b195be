package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Coattention is the dynamic coattention network: text and question are read in the light of each other, and a
// pointer that goes back and forth between the beginning and the end of the answer corrects itself.
//
//	D = [Read(text); d_∅]     Q = [tanh(Read(question)·W + b); q_∅]         a sentinel each, which is nothing
//	c_j = Σ_t softmax_t(d_t·q_j)·d_t                                        the question's words look at the text
//	a_t = Σ_j softmax_j(d_t·q_j)·[q_j ‖ c_j]                                the text's words at the question, so seen
//	u = Fuse([d_t ‖ a_t])
//	h_i = Point([u_s ‖ u_e], h_i−1)     s = argmax_t Start(u_t, h_i, u_s, u_e)     e = argmax_t End(u_t, h_i, u_s, u_e)
//
// of Xiong, Zhong and Socher, "Dynamic Coattention Networks for Question Answering", ICLR 2017. The products are
// messages on one complete bipartite graph, with a node for each sentinel, and on its reverse. End sees the new s. At first s and
// e are the first and the last word, of which the paper says nothing. A text whose s and e stay as they were is
// answered; the others go on for up to Rounds. The loss is the sum over all rounds, also those after the answer.
//
// Read is one LSTM, Fuse an LSTM each way, and Start and End are networks of [HighwayMaxout]. Words are rows of In numbers.
type Coattention struct {
	In, Hidden     int
	Pieces, Rounds int     `json:",omitempty"` // 0: 16 and 4
	Dropout        float64 `json:",omitempty"` // of words, and of what Fuse reads and returns

	Read, Point *sequence.LSTM
	Fuse        *sequence.Stack
	Start, End  *HighwayMaxout
	W, B        *grad.Param `json:"-"` // Hidden×Hidden, Hidden
	NoText      *grad.Param `json:"-"` // 1×Hidden, d_∅
	NoQuestion  *grad.Param `json:"-"` // 1×Hidden, q_∅
}

const coattentionOp = "attention.Coattention"

// Init makes the Params of all parts, the weights uniform up to the root of one over the rows that they read.
func (l *Coattention) Init(rng *rand.Rand) {
	compose.WantOptions(l, "In", "Hidden")
	n := l.Hidden
	l.Read, l.Point = &sequence.LSTM{In: l.In, Hidden: n}, &sequence.LSTM{In: 4 * n, Hidden: n}
	l.Fuse = bothWays(3*n, n, 1)
	l.Start = &HighwayMaxout{Word: 2 * n, Hidden: n, Pieces: l.Pieces}
	l.End = &HighwayMaxout{Word: 2 * n, Hidden: n, Pieces: l.Pieces}
	for _, part := range []interface{ Init(*rand.Rand) }{l.Read, l.Point, l.Fuse, l.Start, l.End} {
		part.Init(rng)
	}
	l.W, l.B = compose.Uniform(rng, n, n, n), grad.NewParam(n)
	l.NoText, l.NoQuestion = compose.Uniform(rng, 1, n, n), compose.Uniform(rng, 1, n, n)
}

// Forward returns where each answer begins and ends, by the round in which its text was done. x has a row for each
// word of r.Texts, q one for each of r.Questions. In both alignments the last row and the last column of a text and
// its question are those of the sentinels.
func (l *Coattention) Forward(t *grad.Tape, r *Reading, x, q *grad.Var) Pointed {
	u, out := l.encode(t, r, x, q)
	p := l.point(t, r, u)
	out.Start, out.End = p.answer(r)
	return out
}

// Loss is the sum over the rounds of [Pointed.Loss].
func (l *Coattention) Loss(t *grad.Tape, r *Reading, x, q *grad.Var) *grad.Var {
	u, _ := l.encode(t, r, x, q)
	var sum *grad.Var
	for i, p := range l.point(t, r, u).rounds {
		if loss := p.Loss(r); i == 0 {
			sum = loss
		} else {
			sum = sum.Add(loss)
		}
	}
	return sum
}

// encode returns a row for each word of the texts, and how texts and questions look at each other.
func (l *Coattention) encode(t *grad.Tape, r *Reading, x, q *grad.Var) (u *grad.Var, out Pointed) {
	compose.WantParam(coattentionOp, l.NoQuestion, true)
	r.check(coattentionOp, x, q, l.In)
	texts, asks := guarded(r.Texts), guarded(r.Questions)
	both := sentinels(texts, asks) // from the words of each text to those of its question

	read := func(g *graph.Graph, x *grad.Var) *grad.Var { return l.Read.Forward(t, g, t.Dropout(x, l.Dropout)) }
	asked := compose.Affine(t, read(r.Questions, q), l.W, l.B).Tanh()
	d := grad.ConcatAxis(0, read(r.Texts, x), t.Use(l.NoText)).Rows(texts.rows)
	k := grad.ConcatAxis(0, asked, t.Use(l.NoQuestion)).Rows(asks.rows)

	toQuestion := message.UDotV(d, k).Softmax()
	c := message.UpdateAll(both, message.U(d).Mul(toQuestion), message.Sum)
	toText := message.UDotV(k, d).Softmax()
	back := graph.Reverse(both)
	a := message.UpdateAll(back, message.U(grad.Concat(k, c)).Mul(toText), message.Sum)

	in := grad.Concat(d, a).Rows(texts.words)
	u = t.Dropout(l.Fuse.Forward(t, r.Texts, t.Dropout(in, l.Dropout)), l.Dropout)
	return u, Pointed{ToText: Alignment{Graph: back, Weights: toText}, ToQuestion: Alignment{Graph: both, Weights: toQuestion}}
}

// guardedWords are the words of a batch with a sentinel behind those of each member.
type guardedWords struct {
	sizes       []int   // of each member, with its sentinel
	rows, words []int32 // rows: of each of them, its word, or behind all words the sentinel; words: where the words are
}

func guarded(g *graph.Graph) guardedWords {
	var out guardedWords
	ends := g.NodeOffsets()
	for i, from := range ends[:len(ends)-1] {
		for v := from; v < ends[i+1]; v++ {
			out.words, out.rows = append(out.words, int32(len(out.rows))), append(out.rows, int32(v))
		}
		out.rows = append(out.rows, int32(g.NumNodes()))
		out.sizes = append(out.sizes, ends[i+1]-from+1)
	}
	return out
}

// sentinels returns the graph from every word of a text to every one of its question, sentinels too.
func sentinels(texts, asks guardedWords) *graph.Graph {
	parts := make([]*graph.Graph, len(texts.sizes))
	for i, n := range texts.sizes {
		parts[i] = graph.CompleteBipartite(n, asks.sizes[i])
	}
	return join(parts)
}

// rounds are what the pointer said each time, and when each text was done.
type rounds struct {
	rounds []Pointed
	done   []int
}

// point goes back and forth.
func (l *Coattention) point(t *grad.Tape, r *Reading, u *grad.Var) rounds {
	ends := r.Texts.NodeOffsets()
	start, end := make([]int32, len(ends)-1), make([]int32, len(ends)-1)
	for i := range start {
		start[i], end[i] = int32(ends[i]), int32(ends[i+1]-1)
	}
	most := int(grad.Preset(float64(l.Rounds), 4))
	out := rounds{done: make([]int, len(start))}
	settled := make([]bool, len(start))
	var state message.State
	for round := range most {
		state = l.Point.Step(t, grad.Concat(u.Rows(start), u.Rows(end)), state)
		known := func(start, end []int32) *grad.Var { return grad.Concat(state[0], u.Rows(start), u.Rows(end)) }
		p := Pointed{Start: l.Start.Forward(t, u, known(start, end), r.of)}
		first := largest(p.Start.Value(), ends)
		p.End = l.End.Forward(t, u, known(first, end), r.of)
		last := largest(p.End.Value(), ends)
		for i := range start {
			if !settled[i] {
				out.done[i] = round
			}
			settled[i] = settled[i] || round > 0 && first[i] == start[i] && last[i] == end[i]
		}
		out.rounds, start, end = append(out.rounds, p), first, last
	}
	return out
}

// largest returns the row of the largest number of each member, the first if there are several.
func largest(x *tensor.Dense, ends []int) []int32 {
	out := make([]int32, len(ends)-1)
	for i := range out {
		out[i] = int32(ends[i])
		for v := ends[i]; v < ends[i+1]; v++ {
			if x.Data[v] > x.Data[out[i]] {
				out[i] = int32(v)
			}
		}
	}
	return out
}

// answer returns the logits of each text in the round in which it was done.
func (o rounds) answer(r *Reading) (start, end *grad.Var) {
	n := r.Texts.NumNodes()
	rows := make([]int32, n)
	for v, i := range r.of {
		rows[v] = int32(o.done[i]*n + v)
	}
	var starts, ends []*grad.Var
	for _, p := range o.rounds {
		starts, ends = append(starts, p.Start), append(ends, p.End)
	}
	return grad.ConcatAxis(0, starts...).Rows(rows), grad.ConcatAxis(0, ends...).Rows(rows)
}
