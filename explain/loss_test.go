package explain

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sums is a model of two sums, with an activation between them.
func sums(_ *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
	m := func(x *grad.Var) message.Msg {
		if w == nil {
			return message.U(x)
		}
		return message.U(x).Mul(message.E(w))
	}
	return message.UpdateAll(g, m(message.UpdateAll(g, m(x), message.Sum).Tanh()), message.Sum)
}

func sumsCase(t *testing.T) *Case {
	t.Helper()
	g := graph.Must(graph.New(5, []int32{1, 2, 3, 4, 0}, []int32{0, 0, 1, 2, 0}))
	x := tensor.New(5, 3)
	x.Uniform(rand.New(rand.NewPCG(1, 1)), 0.1, 1)
	for v := range 5 {
		x.Row(v)[1] = 0 // a column that has nothing
	}
	c, err := New(sums, g, x, Node{Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The loss is the published one, term by term, and its gradients are those of the masks.
func TestLoss(t *testing.T) {
	c := sumsCase(t)
	for _, l := range []*GNNExplainer{{}, {EdgeSize: 0.3, EdgeEntropy: 0.2, FeatureSize: 0.7, FeatureEntropy: 0.4, Seed: 2}, {EdgeSize: grad.Zero, EdgeEntropy: grad.Zero, NoFeatures: true}} {
		m := l.begin(c)
		if n := m.edges.Value.Rows(); n != 4 {
			t.Fatalf("%d edges have a mask, want 4", n)
		}
		if (m.features == nil) != l.NoFeatures || m.features != nil && m.features.Value.Rows() != 2 {
			t.Fatalf("the mask of the features is %v", m.features)
		}
		got, want := float64(l.loss(nil, c, m).Value().Data[0]), lossByHand(l, c, m)
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%+v: the loss is %v, want %v", l, got, want)
		}
		all := []*grad.Param{m.edges}
		if m.features != nil {
			all = append(all, m.features)
		}
		gradtest.Check(t, &struct{ Masks []*grad.Param }{all}, func(t *grad.Tape) *grad.Var { return l.loss(t, c, m) })
	}
}

// lossByHand is the loss with loops.
func lossByHand(l *GNNExplainer, c *Case, m *masks) float64 {
	x, w := c.Features.Clone(), c.weights(1)
	size, entropy := 0.0, 0.0
	count := func(p float64) {
		size += p
		entropy -= p*math.Log(p) + (1-p)*math.Log(1-p)
	}
	for i, e := range m.on {
		p := sigmoid(m.edges.Value.Data[i])
		w.Data[e] = tensor.Float(p)
		count(p)
	}
	loss := grad.Preset(l.EdgeSize, 0.005)*size + grad.Preset(l.EdgeEntropy, 1)*entropy/float64(len(m.on))
	if m.features != nil {
		size, entropy = 0, 0
		for i, j := range m.columns {
			p := sigmoid(m.features.Value.Data[i])
			count(p)
			for v := range x.Rows() {
				x.Row(v)[j] *= tensor.Float(p)
			}
		}
		n := float64(len(m.columns))
		loss += grad.Preset(l.FeatureSize, 1)*size/n + grad.Preset(l.FeatureEntropy, 0.1)*entropy/n
	}
	return loss - math.Log(c.probability(x, w))
}

// What the class comes from is found, what is beside it is not, and the seed fixes all.
func TestGNNExplainer(t *testing.T) {
	// Node 0's class is 0 by node 1 alone; node 2 has nothing to say.
	g := graph.Must(graph.New(3, []int32{1, 2}, []int32{0, 0}))
	x := tensor.Of([]tensor.Float{0, 0, 0, 4, 0, 1, 0, 0, 1}, 3, 3)
	model := func(t *grad.Tape, g *graph.Graph, x, w *grad.Var) *grad.Var {
		if w == nil {
			return message.UpdateAll(g, message.U(x), message.Sum).Columns(0, 2)
		}
		return message.UpdateAll(g, message.U(x).Mul(message.E(w)), message.Sum).Columns(0, 2)
	}
	c, err := New(model, g, x, Node{Hops: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &GNNExplainer{Steps: 300, LR: 0.05, FeatureSize: 0.1, Seed: 4}
	e := l.Explain(c)
	if !(e.Edges[0] > 0.8 && e.Edges[1] == 0) || !(e.Features[0] > 0.6 && e.Features[1] == 0 && e.Features[2] == 0) {
		t.Errorf("edges %v, features %v", e.Edges, e.Features)
	}
	again := l.Explain(c)
	if again.Edges[0] != e.Edges[0] || again.Features[0] != e.Features[0] {
		t.Error("the same seed gives another mask")
	}
	l.Seed++
	if l.Explain(c).Edges[0] == e.Edges[0] {
		t.Error("another seed gives the same mask")
	}
}

// The weights of a model are left as they are, and a node without edges has no mask.
func TestModelIsLeft(t *testing.T) {
	g := graph.Must(graph.New(2, []int32{1}, []int32{1}))
	w := grad.NewParam(2, 2)
	w.Value.Uniform(rand.New(rand.NewPCG(1, 1)), -1, 1)
	before := w.Value.Clone()
	model := func(t *grad.Tape, _ *graph.Graph, x, _ *grad.Var) *grad.Var { return x.MatMul(t.Use(w)) }
	x := tensor.Of([]tensor.Float{1, 2, 0, 0}, 2, 2)
	for node := range int32(2) {
		c, err := New(model, g, x, Node{Number: node, Hops: 1})
		if err != nil {
			t.Fatal(err)
		}
		e := new(GNNExplainer).Explain(c)
		if len(e.TopEdges(5)) != 0 || len(e.Features) != 2 || (node == 1) != (e.Features[0] == 0) {
			t.Errorf("node %d: %+v", node, e)
		}
	}
	for i, v := range before.Data {
		if w.Value.Data[i] != v {
			t.Fatal("explaining trains the model")
		}
	}
}
