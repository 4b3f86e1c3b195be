package reading

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The probabilities of sentences are those of all ways to choose some, listed, and a story is the
// sum of its sentences by them.
func TestChainReaderByEnumeration(t *testing.T) {
	const width, n = 3, 4
	r := &chainReader{Body: &sequence.GRU{In: width, Hidden: width}, Theta: layers.Linear{In: width, Out: 2}}
	rng := rand.New(rand.NewPCG(1, 1))
	r.Body.Init(rng)
	r.Theta.Init(rng)
	r.Choose.Init(rng)
	crf := &r.Choose.CRF
	for _, p := range []*grad.Param{crf.Trans, crf.Begin, crf.End, r.Theta.W} {
		p.Value.Normal(rng, 0, 1)
	}
	x := tensor.New(n+1, width)
	x.Normal(rng, 0, 1)
	g := graph.Chains(1, n) // the story before is none of this one's
	h := r.Body.Forward(grad.NewEval(), g, grad.Const(x))
	theta := r.Theta.Forward(nil, h.Keep()).Value()
	total, p := 0.0, make([]float64, n)
	for z := range 1 << n {
		score, before := 0.0, 0
		for i := range n {
			tag := z >> i & 1
			score += float64(theta.Row(1 + i)[tag])
			if i == 0 {
				score += float64(crf.Begin.Value.Data[tag])
			} else {
				score += float64(crf.Trans.Value.Row(before)[tag])
			}
			before = tag
		}
		score = math.Exp(score + float64(crf.End.Value.Data[before]))
		total += score
		for i := range n {
			p[i] += score * float64(z>>i&1)
		}
	}
	out := r.forward(grad.NewEval(), g, grad.Const(x))
	got := message.ApplyEdges(graph.Membership(g), out.Attention).Value().Data
	for i := range n {
		compare.Number(t, "the probability of a sentence", got[1+i], p[i]/total, compare.Off(1e-5, 0))
	}
	for j := range width {
		want := 0.0
		for i := range n {
			want += p[i] / total * float64(h.Value().Row(1 + i)[j])
		}
		compare.Number(t, "the story", out.Y.Value().Row(1)[j], want, compare.Off(1e-5, 0))
	}
}
