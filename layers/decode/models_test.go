package decode_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// historic is a model whose logits are drawn anew for every sentence and history.
type historic struct {
	vocabulary int
	seed       uint64
	steps      int // that were run
}

// logits returns those of a sentence after some tokens.
func (m *historic) logits(sentence int32, tokens []int32) []tensor.Float {
	h := m.seed*31 + uint64(sentence)
	for _, k := range tokens {
		h = h*1000003 + uint64(k) + 7
	}
	rng := rand.New(rand.NewPCG(h, m.seed))
	x := make([]tensor.Float, m.vocabulary)
	for i := range x {
		x[i] = tensor.Float(2 * rng.NormFloat64())
	}
	return x
}

func (m *historic) step(_ *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
	m.steps++
	x := tensor.New(l.Len(), m.vocabulary)
	for i := range l.Len() {
		copy(x.Row(i), m.logits(l.Sentence[i], l.Tokens(i, nil)))
	}
	return grad.Const(x), nil
}

// logSoftmax is the plain formula.
func logSoftmax(x []tensor.Float) []float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, float64(v))
	}
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v) - top - math.Log(sum)
	}
	return out
}

// all returns every sequence of a sentence, the best first: those that end, then
// those that are cut off.
func (m *historic) all(sentence, end int32, longest int, score func(logProb float64, n int) float64) []decode.Sequence {
	var out []decode.Sequence
	var walk func(tokens []int32, logProb float64)
	walk = func(tokens []int32, logProb float64) {
		for k, p := range logSoftmax(m.logits(sentence, tokens)) {
			n, lp := len(tokens)+1, logProb+p
			next := append(slices.Clone(tokens), int32(k))
			switch {
			case int32(k) == end:
				out = append(out, decode.Sequence{Tokens: tokens, LogProb: lp, Score: score(lp, n), Ended: true})
			case n == longest:
				out = append(out, decode.Sequence{Tokens: next, LogProb: lp, Score: score(lp, n)})
			default:
				walk(next, lp)
			}
		}
	}
	walk(nil, 0)
	sortSequences(out)
	return out
}

func sortSequences(s []decode.Sequence) {
	slices.SortStableFunc(s, func(a, b decode.Sequence) int {
		switch {
		case a.Ended != b.Ended && a.Ended, a.Ended == b.Ended && a.Score > b.Score:
			return -1
		case a.Ended == b.Ended && a.Score == b.Score:
			return 0
		}
		return 1
	})
}

// beam is the search as plain loops, without an early stop.
func (m *historic) beam(sentence, end int32, longest, width int, score func(logProb float64, n int) float64) []decode.Sequence {
	type hyp struct {
		tokens  []int32
		logProb float64
	}
	live, over := []hyp{{}}, []decode.Sequence(nil)
	for n := 1; len(live) > 0; n++ {
		var next []hyp
		for _, h := range live {
			for k, p := range logSoftmax(m.logits(sentence, h.tokens)) {
				next = append(next, hyp{append(slices.Clone(h.tokens), int32(k)), h.logProb + p})
			}
		}
		slices.SortStableFunc(next, func(a, b hyp) int {
			if a.logProb > b.logProb {
				return -1
			}
			return 1
		})
		next = next[:min(len(next), width-len(over))]
		live = nil
		for _, h := range next {
			switch last := h.tokens[n-1]; {
			case last == end:
				over = append(over, decode.Sequence{Tokens: h.tokens[:n-1], LogProb: h.logProb, Score: score(h.logProb, n), Ended: true})
			case n == longest:
				over = append(over, decode.Sequence{Tokens: h.tokens, LogProb: h.logProb, Score: score(h.logProb, n)})
			default:
				live = append(live, h)
			}
		}
	}
	sortSequences(over)
	return over
}

// sameSequences reports whether two lists have the same tokens in order, and
// scores that agree as far as exponentials in float32 do.
func sameSequences(a, b []decode.Sequence) bool {
	return slices.EqualFunc(a, b, func(a, b decode.Sequence) bool {
		return slices.Equal(a.Tokens, b.Tokens) && a.Ended == b.Ended &&
			math.Abs(a.LogProb-b.LogProb) < 1e-5 && math.Abs(a.Score-b.Score) < 1e-5
	})
}
