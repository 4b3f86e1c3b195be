package knowledge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
)

// TestScores: the answers to a question have the scores of their facts.
func TestScores(t *testing.T) {
	s, rng := &knowledge.TransE{Relations: 2, Width: 3}, rand.New(rand.NewPCG(1, 2))
	s.Init(rng)
	x := grad.NewParam(5, 3)
	x.Value.Normal(rng, 0, 1)
	rows := grad.Const(x.Value)
	for _, head := range []bool{false, true} {
		got := knowledge.Scores(s, rows, knowledge.Question{Entity: 3, Relation: 1, Head: head})
		if len(got) != 5 {
			t.Fatalf("%d scores of 5 entities", len(got))
		}
		for v := range int32(5) {
			h, l := int32(3), v
			if head {
				h, l = v, 3
			}
			fact := graph.Must(graph.WithKinds(graph.Must(graph.New(5, []int32{h}, []int32{l})), []int32{1}))
			if want := float64(s.Forward(nil, fact, rows).Value().Data[0]); got[v] != want {
				t.Errorf("entity %d, asked for the head %v: %v, want %v", v, head, got[v], want)
			}
		}
	}
}
