package message_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention over a view of blocks, with a bias for each kind, is that of the rows of the
// whole, whose gradients are those of a list of edges.
func TestAttentionOfViewWithKinds(t *testing.T) {
	g := graph.Batch(graph.Complete(5), graph.Complete(7)).WithOffsets(-2, 2)
	rows := []int32{6, 7, 8, 1}
	view := graph.Must(g.Dst(rows))
	if view.Spans() == nil {
		t.Fatal("the view has lost its blocks")
	}
	listed := graph.Must(graph.Must(graph.NewBipartite(g.NumSrc(), len(rows), view.In().Cols, view.Destinations())).WithKinds(view.Kinds()))
	q, k, v, bias := param(1, 12, 1, 3), param(2, 12, 1, 3), param(3, 12, 1, 3), param(4, 5, 1)
	run := func(g *graph.Graph, rows []int32) (y *grad.Var, grads grad.Grads) {
		tape := grad.NewTape(1)
		query := tape.Use(q)
		if rows != nil {
			query = query.Rows(rows)
		}
		a := message.Attention{Q: query, K: tape.Use(k), V: tape.Use(v), Scale: 0.5, Bias: message.W(tape.Use(bias)).Pick(g.Kinds())}
		y, _ = a.Apply(tape, g)
		return y, tape.Backward(y.Square().Sum())
	}
	a, da := run(view, rows)
	b, db := run(listed, rows)
	whole, _ := run(g, nil)
	near(t, "the view", []*tensor.Dense{a.Value()}, []*tensor.Dense{b.Value()})
	near(t, "the rows of the whole", []*tensor.Dense{a.Value()}, []*tensor.Dense{whole.Rows(rows).Value()})
	for i, p := range []*grad.Param{q, k, v, bias} {
		near(t, []string{"q", "k", "v", "bias"}[i], []*tensor.Dense{da.Param(p)}, []*tensor.Dense{db.Param(p)})
	}
}
