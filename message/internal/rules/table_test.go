package rules_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestEveryRule says a message for each rule of the table, which Explain must find: no
// rule is hidden behind another.
func TestEveryRule(t *testing.T) {
	of := func(shape ...int) *grad.Var { return grad.Const(tensor.New(shape...)) }
	ring, chain, blocks := graph.Ring(5, 2), graph.Must(graph.New(5, []int32{0, 1, 2, 3, 4}, []int32{0, 1, 2, 3, 4})), graph.Complete(5)
	x, e := message.U(of(5, 2, 3)), of(ring.NumEdges(), 2, 1)
	heads := attend.GATv2Heads
	wide := of(5, heads, heads)
	gatv2 := message.UAddV(wide, of(5, heads, heads)).LeakyReLU(0.2).Dot(message.W(of(heads, heads))).Softmax()
	seen := map[string]bool{}
	for _, c := range []struct {
		says string
		g    *graph.Graph
		m    message.Msg
		by   []message.Reducer
	}{
		{"sum of U(x) where destination i has source i alone: x itself", chain, x, []message.Reducer{message.Sum}},
		{"sum of U(x): one sparse-dense product", ring, x, []message.Reducer{message.Sum}},
		{"mean of U(x): one sparse-dense product, divided by the in-degrees", ring, x, []message.Reducer{message.Mean}},
		{"largest of U(x): one pass over the edges", ring, x, []message.Reducer{message.Max}},
		{"smallest of U(x): one pass over the edges", ring, x, []message.Reducer{message.Min}},
		{"sum of U(x) × a scalar a head: one product with a weight a head", ring, message.E(e).Mul(x), []message.Reducer{message.Sum}},
		{"sum of U(x) × a scalar an edge, on whole blocks: a product of matrices", graph.Complete(64), message.UMulE(of(64, 3), of(64*64, 1)), []message.Reducer{message.Sum}},
		{"additive scores on blocks: one pass over the keys of each query, then what reads the scores", blocks,
			message.UAddV(of(5, 4), of(5, 4)).Tanh().Dot(message.W(of(4))), nil},
		{"dot-product attention on blocks: products of matrices with a softmax that goes along", blocks,
			x.Mul(message.UDotV(of(5, 2, 4), of(5, 2, 4)).Scale(0.5).Softmax()), []message.Reducer{message.Sum}},
		{"dot-product attention: a walk of each destination's edges, and back of each source's", ring,
			message.U(wide).Mul(message.UDotV(wide, wide).Scale(0.5).Softmax()), []message.Reducer{message.Sum}},
		{"graph attention: softmax and weighted sum in one pass over each destination's edges", ring,
			message.UAddV(of(5, 2, 1), of(5, 2, 1)).LeakyReLU(0.2).Softmax().Mul(x), []message.Reducer{message.Sum}},
		{"edge softmax: one pass over each destination's edges", ring, message.E(e).Softmax(), nil},
		{"U(x)·V(y): one sampled product", ring, message.UDotV(of(5, 2, 3), of(5, 2, 3)), nil},
		{"GATv2: a walk of each destination's edges", ring, message.U(wide).Mul(gatv2), []message.Reducer{message.Sum}},
		{"tiles", ring, x.Tanh(), []message.Reducer{message.Sum}},
		{"tiles", ring, x.Mul(message.E(of(ring.NumEdges(), 2, 3))), []message.Reducer{message.Sum}}, // a weight an element
	} {
		seen[c.says] = true
		want := "rule: " + c.says + "\n"
		switch c.says {
		case "tiles":
			want = "tiles: "
		case "GATv2: a walk of each destination's edges":
			want = "in one walk of each destination's edges"
		}
		if got := message.Explain(c.g, c.m, c.by...); !strings.Contains(got, want) {
			t.Errorf("%s: Explain says\n%s", c.says, got)
		}
	}
	for _, r := range rules.Table[1:] { // the first is formulaOf's
		if !seen[r.Name] {
			t.Errorf("no message for the rule %q", r.Name)
		}
	}
	if last := rules.Table[len(rules.Table)-1].Name; last != "tiles" {
		t.Errorf("the last rule is %q, want the tiles, which take every call", last)
	}
}

// A rule's way is asked again at every call: a graph that it does not take goes on to
// the next.
func TestTakes(t *testing.T) {
	x := grad.Const(tensor.New(3, 4))
	ring := graph.Ring(3, 1)
	loops := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{0, 1, 2}))
	if y := message.UpdateAll(loops, message.U(x), message.Sum); y != x {
		t.Error("where each node hears itself the sum is another Var than x")
	}
	if y := message.UpdateAll(ring, message.U(x), message.Sum); y == x {
		t.Error("on a ring the sum is x itself")
	}
}
