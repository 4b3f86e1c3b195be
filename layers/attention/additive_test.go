package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The formula of the comment, a loop for each edge.
func TestAdditiveIsItsFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := &attention.Additive{Key: 3, Query: 2, Hidden: 4}
	l.Init(rng)
	g := graph.Must(graph.NewBipartite(3, 2, []int32{0, 1, 2, 2}, []int32{0, 0, 0, 1}))
	k, q := tensor.New(3, 3), tensor.New(2, 2)
	k.Normal(rng, 0, 1)
	q.Normal(rng, 0, 1)
	tape := grad.NewEval()
	got := message.ApplyEdges(g, l.Of(tape, l.Keys(tape, grad.Const(k)), grad.Const(q))).Value()
	for e, v := range g.Destinations() {
		u := []int32{0, 1, 2, 2}[e]
		want := 0.0
		for j := range 4 {
			z := 0.0
			for i, x := range k.Row(int(u)) {
				z += float64(x) * float64(l.W.Value.Row(i)[j])
			}
			for i, x := range q.Row(int(v)) {
				z += float64(x) * float64(l.U.Value.Row(i)[j])
			}
			want += math.Tanh(z) * float64(l.V.Value.Data[j])
		}
		if math.Abs(float64(got.Data[e])-want) > 1e-5 {
			t.Errorf("edge %d: %v, want %v", e, got.Data[e], want)
		}
	}
}
