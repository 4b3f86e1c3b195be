package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// failure is the text of what f panics with.
func failure(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return "nothing"
}

// An error names the operation that was called, and not one below it.
func TestErrorNamesOperation(t *testing.T) {
	g, block := graph.Ring(3), graph.CompleteBipartite(3, 2)
	rows := func(n, d int) *grad.Var { return grad.Const(tensor.New(n, d)) }
	x, edges := rows(3, 2), rows(3, 1)
	rel := message.Relation{Graph: g, Msg: message.U(rows(4, 2)), By: message.Sum}
	for what, f := range map[string]func(){
		"EdgeSoftmax: want 3":           func() { message.EdgeSoftmax(g, rows(4, 1)) },
		"EdgeSoftmax: no graph":         func() { message.EdgeSoftmax(nil, edges) },
		"EdgeSoftmax: nil":              func() { message.EdgeSoftmax(g, nil) },
		"EdgeSoftmaxBySource: no graph": func() { message.EdgeSoftmaxBySource(nil, edges) },
		"OnEdges: no graph":             func() { message.OnEdges(nil, edges) },
		"Readout: rows":                 func() { message.Readout(g, rows(4, 1), message.Sum) },
		"Readout: no reducer":           func() { message.Readout(g, x) },
		"Readout: bipartite":            func() { message.Readout(block, x, message.Sum) },
		"Readout: no graph":             func() { message.Readout(nil, x, message.Sum) },
		"Readout: nil":                  func() { message.Readout(g, nil, message.Sum) },
		"ReadoutSoftmax: rows":          func() { message.ReadoutSoftmax(g, x, rows(4, 1)) },
		"ReadoutSoftmax: bipartite":     func() { message.ReadoutSoftmax(block, x, x) },
		"UpdateAll: rows":               func() { message.UpdateAll(g, message.U(rows(4, 2)), message.Sum) },
		"UpdateRelations: rows":         func() { message.UpdateRelations(message.Sum, rel) },
		"StackRelations: rows":          func() { message.StackRelations(rel) },
		"SoftmaxRelations: rows":        func() { message.SoftmaxRelations(rel) },
		"Attention: rows": func() {
			(&message.Attention{Q: x, K: x, V: rows(4, 2)}).Apply(nil, g)
		},
	} {
		op, _, _ := strings.Cut(what, ":")
		if got := failure(f); !strings.Contains(got, "message."+op+":") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// A graph that is no batch is a batch of one, as DGL has it.
func TestReadoutOfOneGraph(t *testing.T) {
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 3, 5, 8, 13}, 3, 2))
	g := graph.Ring(3)
	for r, want := range map[message.Reducer][]tensor.Float{message.Sum: {12, 20}, message.Mean: {4, 20.0 / 3}, message.Max: {8, 13}} {
		one, batch := message.Readout(g, x, r), message.Readout(graph.Batch(g), x, r)
		what := "by " + r.String()
		compare.Arrays(t, what, []*tensor.Dense{one.Value(), batch.Value()}, []*tensor.Dense{tensor.Of(want, 1, 2), tensor.Of(want, 1, 2)}, rounded)
	}
	soft, mean := message.ReadoutSoftmax(g, x, grad.Const(tensor.New(3, 1))), message.Readout(g, x, message.Mean)
	compare.Arrays(t, "by softmax", []*tensor.Dense{soft.Value()}, []*tensor.Dense{mean.Value()}, rounded)
}

// A scale of grad.Zero is none: all in-edges weigh the same.
func TestAttentionWithoutScale(t *testing.T) {
	g := graph.Complete(3)
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 3, 5, 8, 13}, 3, 2))
	y, _ := (&message.Attention{Q: x, K: x, V: x, Scale: grad.Zero}).Apply(nil, g)
	compare.Arrays(t, "the mean", []*tensor.Dense{y.Value()}, []*tensor.Dense{message.UpdateAll(g, message.CopyU(x), message.Mean).Value()}, rounded)
}
