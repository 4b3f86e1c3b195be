package writing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Each name of --score is the formula that the demo says.
func TestScoresOfLuong(t *testing.T) {
	k, q := tensor.New(3, luongKey), tensor.New(1, luongQuery)
	rng := rand.New(rand.NewPCG(1, 1))
	k.Normal(rng, 0, 1)
	q.Normal(rng, 0, 1)
	dot := func(x []tensor.Float, w *grad.Param, first, j int) (sum float64) {
		for i, v := range x {
			sum += float64(v) * float64(w.Value.Row(first + i)[j])
		}
		return sum
	}
	for _, name := range []string{"concat", "additive", "normed", "general", "scaled"} {
		score, _ := luong{name}.score()
		score.Init(rng)
		of := func(u int) (s float64) {
			switch l := score.(type) {
			case *attention.Concat:
				for j := range l.Hidden {
					s += math.Tanh(dot(k.Row(u), l.W, 0, j)+dot(q.Row(0), l.W, luongKey, j)) * float64(l.V.Value.Data[j])
				}
			case *attention.Additive:
				by := 1.0
				if l.Normed {
					sum := 0.0
					for _, v := range l.V.Value.Data {
						sum += float64(v) * float64(v)
					}
					by = float64(l.G.Value.Data[0]) / math.Sqrt(sum)
				}
				for j := range l.Hidden {
					z := dot(k.Row(u), l.W, 0, j) + dot(q.Row(0), l.U, 0, j)
					if l.Normed {
						z += float64(l.B.Value.Data[j])
					}
					s += math.Tanh(z) * by * float64(l.V.Value.Data[j])
				}
			case *attention.Bilinear:
				for j, v := range q.Row(0) {
					s += dot(k.Row(u), l.W, 0, j) * float64(v)
				}
				if l.Scaled {
					s /= math.Sqrt(luongQuery)
				}
			}
			return s
		}
		g := graph.CompleteBipartite(3, 1)
		got := message.ApplyEdges(g, score.Of(nil, score.Keys(nil, grad.Const(k)), grad.Const(q))).Value()
		for u := range 3 {
			compare.Number(t, name, got.Data[u], of(u), compare.Off(1e-3, 1e-3))
		}
	}
}
