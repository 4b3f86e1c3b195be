package writing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// rnnOracle are the states of a simple RNN over one-hot tokens, from one on, in loops.
func rnnOracle(l *sequence.RNN, tokens []int32, h []float64) [][]float64 {
	var out [][]float64
	for _, w := range tokens {
		next := make([]float64, l.Hidden)
		for j := range next {
			z := float64(l.W.Value.Row(int(w))[j]) + float64(l.B.Value.Data[j])
			for i, v := range h {
				z += v * float64(l.U.Value.Row(i)[j])
			}
			next[j] = math.Tanh(z)
		}
		h = next
		out = append(out, h)
	}
	return out
}

// Two sentences at once are each the formula in loops: the decoder begins where the encoder of its
// own sentence ends, and looks at that sentence alone.
func TestPlainPairIsItsFormula(t *testing.T) {
	const tokens = 7
	sources, fed := [][]int32{{3, 4, 5, 6}, {5, 3}}, [][]int32{{1, 4, 6}, {1, 5}}
	for _, attends := range []bool{false, true} {
		n := newPlainPair(rand.New(rand.NewPCG(1, 1)), tokens, attends)
		got, weights := n.look(grad.NewEval(), graph.Chains(4, 2), slices.Concat(sources...), graph.Chains(3, 2), slices.Concat(fed...))
		row := 0
		for i, source := range sources {
			h := rnnOracle(&n.Encoder, source, make([]float64, plainHidden))
			for _, d := range rnnOracle(&n.Decoder, fed[i], h[len(h)-1]) {
				read := d
				if attends {
					alpha, sum, c := make([]float64, len(h)), 0.0, make([]float64, plainHidden)
					for j := range h {
						s := 0.0
						for a, x := range h[j] {
							for b, y := range d {
								s += x * float64(n.Score.W.Value.Row(a)[b]) * y
							}
						}
						alpha[j] = math.Exp(s)
						sum += alpha[j]
					}
					for j := range h {
						if math.Abs(weights[row][j]-alpha[j]/sum) > 1e-3 {
							t.Errorf("sentence %d: step %d looks at %d with %v, want %v", i, row, j, weights[row][j], alpha[j]/sum)
						}
						for a := range c {
							c[a] += alpha[j] / sum * h[j][a]
						}
					}
					read = slices.Concat(d, c)
				}
				for k := range tokens {
					want := 0.0
					if n.Out.B != nil {
						want = float64(n.Out.B.Value.Data[k])
					}
					for a, x := range read {
						want += x * float64(n.Out.W.Value.Row(a)[k])
					}
					compare.Number(t, "a logit", got.Value().Row(row)[k], want, compare.Off(2e-3, 0))
				}
				row++
			}
		}
	}
}

// What is written greedily is the likeliest after itself; what is written blindly is so after the
// token that is fed, and does not depend on what was written.
func TestPlainPairWrites(t *testing.T) {
	const tokens, steps = 7, 4
	n := newPlainPair(rand.New(rand.NewPCG(5, 1)), tokens, true)
	n.Out.W.Value.Normal(rand.New(rand.NewPCG(6, 1)), 0, 1)
	for i := range n.Out.W.Value.Rows() { // so that no End is written
		n.Out.W.Value.Row(i)[text.End] = 0
	}
	sources := text.RaggedOf([]int32{3, 4, 5}, []int32{6, 3})
	for _, blind := range []int32{blindNot, 4} {
		got := n.write(sources, steps, blind)
		var fed [][]int32
		for _, said := range got {
			line := []int32{text.Begin}
			line = append(line, said[:len(said)-1]...)
			if blind >= 0 {
				line = slices.Repeat([]int32{blind}, steps)
			}
			fed = append(fed, line)
		}
		all := text.RaggedOf(fed...)
		y := n.Forward(grad.NewEval(), sources.Graph(), sources.Tokens, all.Graph(), all.Tokens).Value()
		for v, w := range slices.Concat(got...) {
			if best := int32(slices.Index(y.Row(v), slices.Max(y.Row(v)))); best != w {
				t.Errorf("fed %d (−1: what it wrote), token %d is %d, the likeliest %d", blind, v, w, best)
			}
		}
	}
}
