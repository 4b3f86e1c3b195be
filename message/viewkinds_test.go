package message_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention over a view of blocks, with a bias for each kind, is that of the rows of the
// whole, whose gradients are those of a list of edges.
func TestAttentionOfViewWithKinds(t *testing.T) {
	g := graph.WithOffsets(graph.Batch(graph.Complete(5), graph.Complete(7)), -2, 2)
	rows := []int32{6, 7, 8, 1}
	view := graph.Must(graph.Dst(g, rows))
	if view.Spans() == nil {
		t.Fatal("the view has lost its blocks")
	}
	listed := graph.Must(graph.WithKinds(graph.Must(graph.NewBipartite(g.NumSrc(), len(rows), view.In().Cols, view.Destinations())), view.Kinds()))
	q, k, v, bias := param(1, 12, 1, 3), param(2, 12, 1, 3), param(3, 12, 1, 3), param(4, 5, 1)
	attention := func(tape *grad.Tape, g *graph.Graph, query *grad.Var) *message.Attention {
		return &message.Attention{Q: query, K: tape.Use(k), V: tape.Use(v), Scale: 0.5, Bias: message.W(tape.Use(bias)).Pick(g.Kinds())}
	}
	run := func(g *graph.Graph) []*tensor.Dense {
		tape := grad.NewTape(1)
		y, _ := attention(tape, g, tape.Use(q).Rows(rows)).Apply(tape, g)
		out, gs := []*tensor.Dense{y.Value()}, tape.Backward(weigh(y))
		for _, p := range []*grad.Param{q, k, v, bias} {
			out = append(out, gs.Param(p))
		}
		return out
	}
	tape := grad.NewTape(1)
	f := sum(listed, messageOf(attention(tape, listed, tape.Use(q).Rows(rows)), listed))
	f.made = func(r *reference.Reference, leaf ops.Kind, x *tensor.Dense) (out []rounding.Number) {
		if leaf == ops.LeafV {
			for _, v := range rows {
				out = append(out, r.Of(q.Value.Row(int(v)))...)
			}
		}
		return out
	}
	want := f.results(arrays(q, k, v, bias)...)
	reference.Near(t, "the view", run(view), want)
	reference.Near(t, "listed", run(listed), want)
	whole, _ := attention(nil, g, grad.Const(q.Value)).Apply(nil, g)
	reference.Near(t, "the rows of the whole", []*tensor.Dense{whole.Rows(rows).Value()}, want[:1])
}
