package writing

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plainPair is two simple RNNs, of which one begins where the other has ended:
//
//	h_j = RNN(x_j, h_j−1)    d_t = RNN(y_t−1, d_t−1), d_0 = h_n    logits_t = drop(d_t)·Out
//
// x and y are one-hot: a column a token. With Score each d_t looks back, c_t = Σ_j softmax_j(h_j·W·d_t)·h_j,
// and the logits are drop([d_t ‖ c_t])·Out.
type plainPair struct {
	Tokens  int // on both sides
	Encoder sequence.RNN
	Decoder sequence.RNN
	Score   *attention.Bilinear `json:",omitempty"`
	Out     layers.Linear
}

// The measures of the programs that plainPair is.
const (
	plainHidden = 128
	plainDrop   = 0.5
)

// newPlainPair makes one; W is normal, of deviation 1, so that it looks almost hard from the start.
func newPlainPair(rng *rand.Rand, tokens int, attends bool) *plainPair {
	rnn := sequence.RNN{In: tokens, Hidden: plainHidden}
	n := &plainPair{Tokens: tokens, Encoder: rnn, Decoder: rnn, Out: layers.Linear{In: plainHidden, Out: tokens}}
	n.Encoder.Init(rng)
	n.Decoder.Init(rng)
	if attends {
		n.Score = &attention.Bilinear{Key: plainHidden, Query: plainHidden}
		n.Score.Init(rng)
		n.Score.W.Value.Normal(rng, 0, 1)
		n.Out = layers.Linear{In: 2 * plainHidden, Out: tokens, NoBias: true}
	}
	n.Out.Init(rng)
	return n
}

// oneHot is a row a token.
func (n *plainPair) oneHot(tokens []int32) *grad.Var {
	x := tensor.New(len(tokens), n.Tokens)
	for i, w := range tokens {
		x.Row(i)[w] = 1
	}
	return grad.Const(x)
}

// Forward returns the logits at each node of target, whose tokens are what the decoder is fed.
func (n *plainPair) Forward(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) *grad.Var {
	y, _ := n.look(t, source, tokens, target, fed)
	return y
}

// look is Forward, with where each node of target looks among those of source.
func (n *plainPair) look(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) (*grad.Var, [][]float64) {
	h := n.Encoder.Forward(t, source, n.oneHot(tokens))
	d := n.Decoder.ForwardFrom(t, target, n.oneHot(fed), message.State{h.Rows(source.Sinks())})[0]
	if n.Score == nil {
		return n.Out.Forward(t, t.Dropout(d, plainDrop)), nil
	}
	from, to := source.NodeOffsets(), target.NodeOffsets()
	parts := make([]*graph.Graph, len(from)-1)
	for i := range parts {
		parts[i] = graph.CompleteBipartite(from[i+1]-from[i], to[i+1]-to[i])
	}
	g := graph.Batch(parts...)
	out := (&attention.Soft{Score: n.Score}).Apply(t, g, layers.In{Src: h, Dst: d})
	alpha := message.ApplyEdges(g, out.Attention).Value().Data
	weights := make([][]float64, g.NumDst())
	for v := range weights {
		for e := range g.Sources(v) {
			weights[v] = append(weights[v], float64(alpha[e]))
		}
	}
	return n.Out.Forward(t, t.Dropout(grad.Concat(d, out.Y), plainDrop)), weights
}

// write returns what is written of sources in so many steps, up to the End, each token the likeliest.
// The decoder is fed what it has written, or if blind is a token that every time.
func (n *plainPair) write(sources text.Ragged, steps int, blind int32) [][]int32 {
	count := sources.Len()
	fed, out := make([][]int32, count), make([][]int32, count)
	for k := range steps {
		for i := range fed {
			next := int32(text.Begin)
			switch {
			case blind >= 0:
				next = blind
			case k > 0:
				next = out[i][k-1]
			}
			fed[i] = append(fed[i], next)
		}
		all := text.RaggedOf(fed...)
		y := n.Forward(grad.NewEval(), sources.Graph(), sources.Tokens, all.Graph(), all.Tokens).Value()
		for i := range out {
			row := y.Row((i+1)*(k+1) - 1)
			out[i] = append(out[i], int32(slices.Index(row, slices.Max(row))))
		}
	}
	for i, tokens := range out {
		if end := slices.Index(tokens, text.End); end >= 0 {
			out[i] = tokens[:end]
		}
	}
	return out
}

// blindNot is no token: the decoder is fed what it has written.
const blindNot = -1
