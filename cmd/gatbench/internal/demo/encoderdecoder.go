package demo

import (
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// taughtLoss is that of some pairs, when the decoder is fed what it should have said.
func taughtLoss(net *sequence.EncoderDecoder, t *grad.Tape, pairs text.Pairs, rows []int32) *grad.Var {
	b := pairs.Batch(rows)
	return net.Forward(t, b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens).CrossEntropy(b.Output)
}

// searchOf looks for what an encoder-decoder says of sources, of at most so many tokens.
func searchOf(net *sequence.EncoderDecoder, sources text.Ragged, longest int) *decode.Search {
	t := grad.NewEval()
	start := net.Start(t, net.Encode(t, sources.Graph(), sources.Tokens))
	return &decode.Search{
		Begin: slices.Repeat([]int32{text.Begin}, sources.Len()), End: text.End, Longest: []int{longest}, State: decode.State(start.Keep()),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			y, next := net.Step(t, l.Last, message.State(l.State))
			return y, decode.State(next)
		},
	}
}
