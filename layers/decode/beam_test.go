package decode_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// score is the norm of a beam by its formula.
func score(b decode.Beam) func(logProb float64, n int) float64 {
	return func(logProb float64, n int) float64 {
		length := float64(n)
		if b.Norm == decode.GNMT {
			length = (5 + length) / 6
		}
		return logProb / math.Pow(length, b.Alpha)
	}
}

var norms = []decode.Beam{
	{}, {Alpha: 1}, {Alpha: 0.6, Norm: decode.GNMT}, {Alpha: 3}, {Alpha: -0.5}, {Alpha: -1, Norm: decode.GNMT},
}

// A beam that holds everything finds the best of all sequences, in spite of its
// early stop.
func TestBeamExhaustive(t *testing.T) {
	for seed := range uint64(12) {
		for _, b := range norms {
			m := &historic{vocabulary: 4, seed: seed}
			b.Width, b.Best = 4*4*4*4, 1+int(seed)%6
			s := &decode.Search{Step: m.step, Begin: []int32{0, 0, 0}, End: int32(seed % 4), Longest: []int{4, 1, 3}}
			got, err := b.Run(s)
			if err != nil {
				t.Fatal(err)
			}
			for i, longest := range s.Longest {
				want := m.all(int32(i), s.End, longest, score(b))
				if want = want[:min(len(want), b.Best)]; !sameSequences(got[i], want) {
					t.Fatalf("seed %d, %+v, sentence %d: got %v, want %v", seed, b, i, got[i], want)
				}
			}
		}
	}
}

// A narrow beam is that of plain loops which stop when nothing is live: the early
// stop changes none of the Best.
func TestBeamPlainLoops(t *testing.T) {
	for seed := range uint64(30) {
		for _, b := range norms {
			m := &historic{vocabulary: 9, seed: seed}
			b.Width = 1 + int(seed)%5
			b.Best = 1 + int(seed)%b.Width
			s := &decode.Search{Step: m.step, Begin: []int32{0, 0}, End: 3, Longest: []int{7}}
			got, err := b.Run(s)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				want := m.beam(int32(i), 3, 7, b.Width, score(b))
				if want = want[:min(len(want), b.Best)]; !sameSequences(got[i], want) {
					t.Fatalf("seed %d, %+v, sentence %d: got %v, want %v", seed, b, i, got[i], want)
				}
			}
		}
	}
}

// Once nothing can come to a better score there are no more steps.
func TestBeamStops(t *testing.T) {
	steps := func(b decode.Beam) int {
		m := &historic{vocabulary: 6, seed: 5}
		if _, err := b.Run(&decode.Search{Step: m.step, Begin: []int32{0}, End: 2, Longest: []int{500}}); err != nil {
			t.Fatal(err)
		}
		return m.steps
	}
	one, all := steps(decode.Beam{Width: 8}), steps(decode.Beam{Width: 8, Best: 8})
	if one >= all || all > 400 {
		t.Errorf("the best one took %d steps, all eight %d", one, all)
	}
}

// Greedy takes the largest logit, the lowest token of equal ones, and is a beam of
// one under every norm.
func TestGreedy(t *testing.T) {
	for seed := range uint64(20) {
		m := &historic{vocabulary: 7, seed: seed}
		s := &decode.Search{Step: m.step, Begin: []int32{0, 0, 0}, End: 1, Longest: []int{9}}
		got, err := decode.Greedy{}.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			var tokens []int32
			sum, ended := 0.0, false
			for len(tokens) < 9 && !ended {
				x := logSoftmax(m.logits(int32(i), tokens))
				best := 0
				for k, v := range x {
					if v > x[best] {
						best = k
					}
				}
				sum += x[best]
				if ended = best == 1; !ended {
					tokens = append(tokens, int32(best))
				}
			}
			want := []decode.Sequence{{Tokens: tokens, LogProb: sum, Score: sum, Ended: ended}}
			if !sameSequences([]decode.Sequence{g}, want) {
				t.Errorf("seed %d: got %v, want %v", seed, g, want)
			}
		}
		for _, b := range norms {
			b.Width = 1
			beams, err := b.Run(s)
			if err != nil {
				t.Fatal(err)
			}
			for i := range beams {
				if len(beams[i]) != 1 || !sameTokens(beams[i][0], got[i]) || beams[i][0].LogProb != got[i].LogProb {
					t.Errorf("seed %d, %+v: a beam of 1 found %v, greedy %v", seed, b, beams[i], got[i])
				}
			}
		}
	}
}

// A live hypothesis that is behind may still win by its length: with an Alpha of 1
// forty tokens of ln 0.1 in all beat one of ln 0.9.
func TestBeamWaits(t *testing.T) {
	step := func(_ *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		x := tensor.New(l.Len(), 2)
		for i := range l.Len() {
			row := []tensor.Float{-60, 0} // 0 ends
			switch l.Step {
			case 0:
				row = []tensor.Float{tensor.Float(math.Log(0.9)), tensor.Float(math.Log(0.1))}
			case 39:
				row = []tensor.Float{0, -60}
			}
			copy(x.Row(i), row)
		}
		return grad.Const(x), nil
	}
	for alpha, want := range map[float64]int{0: 0, 1: 39} {
		got, err := decode.Beam{Width: 2, Alpha: alpha}.Run(&decode.Search{Step: step, Begin: []int32{0}, End: 0, Longest: []int{50}})
		if err != nil || len(got[0][0].Tokens) != want || !got[0][0].Ended {
			t.Errorf("Alpha %v: got %v, %v; want %d tokens", alpha, got, err, want)
		}
	}
}
