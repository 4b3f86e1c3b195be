package message_test

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// relations are three graphs into the same destinations: one with loops and
// parallel edges, one with other sources, and one without edges.
func relations() []*graph.Graph {
	g := odd()
	n := int32(g.NumDst())
	side := graph.Must(graph.NewBipartite(3, int(n), []int32{0, 1, 2, 2, 0}, []int32{n - 1, n - 1, 0, 1, 1}))
	return []*graph.Graph{g, side, graph.Must(graph.NewBipartite(2, int(n), nil, nil))}
}

// TestSoftmaxRelations compares with the definition, in float64.
func TestSoftmaxRelations(t *testing.T) {
	gs := relations()
	var logits []*grad.Param
	var rels []message.Relation
	for i, g := range gs {
		p := param(uint64(i+1), g.NumEdges(), 2, 1)
		logits = append(logits, p)
		rels = append(rels, message.Relation{Graph: g, Msg: message.E(grad.Const(p.Value)).Scale(3)})
	}
	got := message.SoftmaxRelations(rels...)
	for v := range gs[0].NumDst() {
		for h := range 2 {
			sum := 0.0
			each := func(f func(i, e int)) {
				for i, g := range gs {
					for e := g.In().Offsets[v]; e < g.In().Offsets[v+1]; e++ {
						f(i, int(e))
					}
				}
			}
			each(func(i, e int) { sum += math.Exp(3 * float64(logits[i].Value.Row(e)[h])) })
			each(func(i, e int) {
				want := math.Exp(3*float64(logits[i].Value.Row(e)[h])) / sum
				if d := float64(got[i].Value().Row(e)[h]) - want; math.Abs(d) > 1e-5 {
					t.Errorf("relation %d, edge %d, head %d: %v, want %v", i, e, h, got[i].Value().Row(e)[h], want)
				}
			})
		}
	}
	gradtest.Check(t, logits, func(tp *grad.Tape) *grad.Var {
		var rels []message.Relation
		for i, g := range gs {
			rels = append(rels, message.Relation{Graph: g, Msg: message.E(tp.Use(logits[i])).Tanh()})
		}
		ys := message.SoftmaxRelations(rels...)
		return weigh(ys[0]).Add(weigh(ys[1].Square()))
	})
}

// One relation alone is an edge softmax; more relations than are kept together,
// and entries of −∞ alone.
func TestSoftmaxRelationsOfOneAndOfMany(t *testing.T) {
	g := odd()
	x := grad.Const(param(1, g.NumEdges(), 2).Value)
	rel := message.Relation{Graph: g, Msg: message.E(x)}
	want := message.EdgeSoftmax(g, x).Value().Data
	if got := message.SoftmaxRelations(rel)[0].Value().Data; !slices.Equal(got, want) {
		t.Errorf("one relation: %v, want %v", got, want)
	}
	for _, y := range message.SoftmaxRelations(slices.Repeat([]message.Relation{rel}, 16)...) {
		for k, v := range y.Value().Data {
			if d := 16*v - want[k]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("sixteen relations: element %d is %v, want a 16th of %v", k, v, want[k])
			}
		}
	}
	low := tensor.New(g.NumEdges(), 1)
	low.Fill(tensor.Float(math.Inf(-1)))
	for _, y := range message.SoftmaxRelations(slices.Repeat([]message.Relation{{Graph: g, Msg: message.E(grad.Const(low))}}, 2)...) {
		if i := slices.IndexFunc(y.Value().Data, func(v tensor.Float) bool { return v != 0 }); i >= 0 {
			t.Errorf("of −∞ alone: element %d is %v", i, y.Value().Data[i])
		}
	}
}

func TestSoftmaxRelationsOfWrongShape(t *testing.T) {
	g := odd()
	x := message.E(grad.Const(param(1, g.NumEdges(), 2).Value))
	fewer := graph.Must(graph.NewBipartite(1, 2, []int32{0}, []int32{1}))
	for name, rel := range map[string]message.Relation{
		"destinations": {Graph: fewer, Msg: message.E(grad.Const(param(1, 1, 2).Value))},
		"width":        {Graph: g, Msg: message.E(grad.Const(param(1, g.NumEdges(), 3).Value))},
	} {
		if err := tensor.Try(func() { message.SoftmaxRelations(message.Relation{Graph: g, Msg: x}, rel) }); err == nil {
			t.Errorf("other %s: no error", name)
		}
	}
	if tapeError(func() { message.SoftmaxRelations() }) == nil {
		t.Error("no relation: no *grad.TapeError")
	}
}
