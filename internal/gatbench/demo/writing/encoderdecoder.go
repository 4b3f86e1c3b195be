package writing

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// taught is an encoder–decoder, with or without attention.
type taught interface {
	Forward(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) *grad.Var
}

// attending is one whose steps look at the source.
type attending interface {
	taught
	Init(rng *rand.Rand)
	Apply(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) (*grad.Var, attention.Alignment)
	Encode(t *grad.Tape, source *graph.Graph, tokens []int32) *attention.Encoded
	Start(t *grad.Tape, e *attention.Encoded) message.State
	Step(t *grad.Tape, e *attention.Encoded, live attention.Live, before message.State) (logits *grad.Var, after message.State)
}

// taughtLoss is that of some pairs, when the decoder is fed what it should have said.
func taughtLoss(net taught, t *grad.Tape, pairs text.Pairs, rows []int32) *grad.Var {
	b := pairs.Batch(rows)
	return net.Forward(t, b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens).CrossEntropy(b.Output)
}

// forcedLoss is that of some pairs, when the decoder is fed in part what it says itself: the
// likeliest token after the truth so far.
func forcedLoss(net *sequence.EncoderDecoder, t *grad.Tape, b *text.PairBatch, forcing train.TeacherForcing) *grad.Var {
	said := net.Forward(grad.NewEval(), b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens).Value()
	fed := slices.Clone(b.Input.Tokens)
	for v := range fed {
		for _, before := range b.Input.Graph.Sources(v) {
			if !forcing.Truth(int(t.Step()), v) {
				row := said.Row(int(before))
				fed[v] = int32(slices.Index(row, slices.Max(row)))
			}
		}
	}
	return net.Forward(t, b.Source.Graph, b.Source.Tokens, b.Input.Graph, fed).CrossEntropy(b.Output)
}

// dependence returns how much less likely, in nats, each token of a target becomes when one
// of the source is hidden: a row for each token of the target.
func dependence(net taught, source, target []int32) [][]float64 {
	sources, targets := [][]int32{source}, [][]int32{target}
	for i := range source {
		hidden := slices.Clone(source)
		hidden[i] = text.Unknown
		sources, targets = append(sources, hidden), append(targets, target)
	}
	pairs := text.Pairs{Source: text.RaggedOf(sources...), Target: text.RaggedOf(targets...)}
	b := pairs.Batch(stage.Every(pairs.Len()))
	y := net.Forward(grad.NewEval(), b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens).LogSoftmax().Value()
	steps := len(target) + 1 // the end is said too
	out := make([][]float64, len(target))
	for k, w := range target {
		out[k] = make([]float64, len(source))
		for i := range source {
			out[k][i] = max(0, float64(y.Row(k)[w]-y.Row((i+1)*steps + k)[w]))
		}
	}
	return out
}

// searchOf looks for what an encoder–decoder says of sources, of at most so many tokens.
func searchOf(net taught, sources text.Ragged, longest int) *decode.Search {
	t, g := grad.NewEval(), sources.Graph()
	s := &decode.Search{Begin: slices.Repeat([]int32{text.Begin}, sources.Len()), End: text.End, Longest: []int{longest}}
	switch net := net.(type) {
	case *sequence.EncoderDecoder:
		s.State = decode.State(net.Start(t, net.Encode(t, g, sources.Tokens)).Keep())
		s.Step = func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			y, next := net.Step(t, l.Last, message.State(l.State))
			return y, decode.State(next)
		}
	case attending:
		e := net.Encode(t, g, sources.Tokens).Keep()
		s.State = decode.State(net.Start(t, e).Keep())
		s.Step = func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			y, next := net.Step(t, e, attention.Live{Step: l.Step, Last: l.Last, Sentence: l.Sentence}, message.State(l.State))
			return y, decode.State(next)
		}
	}
	return s
}

// alignments returns where a network looked as it wrote targets, End included: of each pair
// a row for each token written and a column for each one read.
func alignments(net attending, pairs text.Pairs) []*tensor.Dense {
	b := pairs.Batch(stage.Every(pairs.Len()))
	_, a := net.Apply(grad.NewEval(), b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens)
	return a.Matrices()
}

// alignmentPanel draws one.
func alignmentPanel(title string, w *tensor.Dense, read, written []string) *picture.Heat {
	h := &picture.Heat{Title: title, Across: "read", Down: "written", Columns: read, Rows: written, Top: 1}
	for i := range w.Rows() {
		row := make([]float64, w.RowLen())
		for j, v := range w.Row(i) {
			row[j] = float64(v)
		}
		h.Values = append(h.Values, row)
	}
	return h
}

// whole is the batches of data that is one batch.
func whole(int) [][]int32 { return [][]int32{nil} }
