package attention

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Search returns the search for the answers to sets, for [decode.Greedy], [decode.Beam] or
// [decode.Sample]: a token is a place in the set, and the token behind the places of the
// largest set is ⇒. What a step may choose, and the bits of its logits, are those of
// [Pointer.Forward]. Without End an answer has as many places as its set has points, unless
// Longest is set to less. The error names a set without points.
func (l *Pointer) Search(sets *graph.Graph, x *grad.Var) (*decode.Search, error) {
	l.check()
	if err := checkSets(sets); err != nil {
		return nil, err
	}
	t := grad.NewEval()
	e, state := l.encode(t, sets, x)
	s := &pointerSearch{
		choices: choices{Pointer: l}, ends: sets.NodeOffsets(),
		encoding: e.keep(), points: l.points(t, x).Keep(),
	}
	n := len(s.ends) - 1
	out := &decode.Search{Step: s.step, Begin: make([]int32, n), State: decode.State(state.Keep()), End: decode.NoEnd, Longest: make([]int, n)}
	for i := range n {
		size := s.ends[i+1] - s.ends[i]
		s.width, out.Longest[i] = max(s.width, size), l.longest(size)
		if l.End {
			out.Longest[i]++
		}
	}
	if l.End {
		out.End = int32(s.width)
	}
	return out, nil
}

// Decode returns the likeliest answer to each set that a beam of some width finds; 1 is
// greedy. The errors are those of [Pointer.Search], and a [*decode.StepError] if the
// network gives what is no number.
func (l *Pointer) Decode(sets *graph.Graph, x *grad.Var, width int) ([][]int32, error) {
	s, err := l.Search(sets, x)
	if err != nil {
		return nil, err
	}
	found, err := decode.Beam{Width: width}.Run(s)
	if err != nil {
		return nil, err
	}
	out := make([][]int32, len(found))
	for i, best := range found {
		out[i] = best[0].Tokens
	}
	return out, nil
}

// pointerSearch is what the steps of a search read.
type pointerSearch struct {
	choices
	encoding
	ends   []int     // of the sets
	width  int       // points of the largest set
	points *grad.Var // what the decoder may be fed

	answer, src, dst, rows []int32
}

// step takes every live answer a place further.
func (s *pointerSearch) step(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
	s.src, s.dst, s.rows = s.src[:0], s.dst[:0], s.rows[:0]
	all := s.ends[len(s.ends)-1]
	for i, set := range live.Sentence {
		from, fed := s.ends[set], all // Start
		s.begin(s.ends[set+1] - from)
		s.answer = live.Tokens(i, s.answer[:0])
		for _, j := range s.answer {
			s.take(j)
			fed = from + int(j)
		}
		s.rows = append(s.rows, int32(fed))
		s.src = s.edges(s.src, from, all)
		for len(s.dst) < len(s.src) {
			s.dst = append(s.dst, int32(i))
		}
	}
	var before message.State
	if len(live.State) > 0 {
		before = message.State(live.State)
	}
	after := s.Decoder.Step(t, s.points.Rows(s.rows), before)
	pairs := graph.Must(graph.NewBipartite(s.sources(all), live.Len(), s.src, s.dst))
	logits := message.ApplyEdges(pairs, s.point(t, pairs, s.encoding, after[0])).Value()
	return t.Input(s.table(live, logits)), decode.State(after)
}

// table returns logits of edges as rows of tokens, −Inf where there is no edge.
func (s *pointerSearch) table(live *decode.Live, logits *tensor.Dense) *tensor.Dense {
	out := tensor.New(live.Len(), s.sources(s.width))
	out.Fill(tensor.Float(math.Inf(-1)))
	all := s.ends[len(s.ends)-1]
	for e, u := range s.src {
		token := s.width
		if i := s.dst[e]; int(u) < all {
			token = int(u) - s.ends[live.Sentence[i]]
		}
		out.Row(int(s.dst[e]))[token] = logits.Data[e]
	}
	return out
}
