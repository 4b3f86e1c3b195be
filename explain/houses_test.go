package explain_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// roleNet gives nodes their roles: three convolutions and a matrix on what all of them
// give, as the network of GNNExplainer's paper has it.
type roleNet struct {
	Convs [3]layers.GCNConv
	Last  layers.Linear
}

func newRoleNet(in, classes int) *roleNet {
	const width = 20
	n, rng := new(roleNet), rand.New(rand.NewPCG(3, 4))
	for i := range n.Convs {
		n.Convs[i] = layers.GCNConv{In: width, Out: width, Norm: layers.NormNone, Activation: grad.ReLU}
		if i == 0 {
			n.Convs[i].In = in
		}
		n.Convs[i].Init(rng)
	}
	n.Last = layers.Linear{In: 3 * width, Out: classes}
	n.Last.Init(rng)
	return n
}

func (n *roleNet) model(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
	return n.Last.Forward(t, n.learnt(t, g, x, weight))
}

// learnt is what the network has learnt of each node.
func (n *roleNet) learnt(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
	var seen []*grad.Var
	for i := range n.Convs {
		x = n.Convs[i].Apply(t, g, layers.In{Src: x, Weight: weight}).Y.L2Normalise()
		seen = append(seen, x)
	}
	return grad.Concat(seen...)
}

// testPGHouses is the same figure of PGExplainer, which learns from every third house and
// explains others.
func testPGHouses(t *testing.T, net *roleNet, h datasets.Houses, d *datasets.Dataset) {
	t.Helper()
	x, every := d.Features.(*tensor.Dense), int32(10)
	if sparing.Full() {
		every = 5 // each house, and not each second one
	}
	var known, unseen []*explain.Case
	for v := int32(300); v < 500; v += every {
		c, err := explain.New(net.model, d.Graph, x, explain.Node{Number: v, Hops: 3})
		if err != nil {
			t.Fatal(err)
		}
		if h.House(v)%3 == 0 {
			known = append(known, c)
		} else {
			unseen = append(unseen, c)
		}
	}
	l := &explain.PGExplainer{}
	if err := l.Fit(net.learnt(nil, d.Graph, grad.Const(x), nil).Value(), known); err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, c := range unseen {
		total += houseAUC(c, h, c.Undirected(l.Explain(c)))
	}
	mean := total / float64(len(unseen))
	t.Logf("PGExplainer: mean area of %d unseen nodes after %d: %.4f", len(unseen), len(known), mean)
	if mean < 0.95 {
		t.Errorf("PGExplainer: the mean area of %d unseen nodes is %.4f, want 0.95", len(unseen), mean)
	}
}

// TestHouseAUC is the figure of the planted houses: the masks of GNNExplainer tell the
// edges of a house from all others that its nodes' roles could come from.
func TestHouseAUC(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a network")
	}
	h := datasets.Houses{Seed: 1}
	d, err := h.Dataset()
	if err != nil {
		t.Fatal(err)
	}
	net, x := newRoleNet(10, d.Classes), d.Features.(*tensor.Dense)
	labels := d.Labels.Of(d.Split.Train)
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 1e-2}, Epochs: 150,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.model(t, d.Graph, t.Input(x), nil).Rows(d.Split.Train).CrossEntropy(labels)
		},
	}
	if _, err := fit.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if accuracy := train.Accuracy(net.model(nil, d.Graph, grad.Const(x), nil).Rows(d.Split.Test).Value(), d.Labels.Of(d.Split.Test)); accuracy < 0.95 {
		t.Errorf("the network is right for %.3f of the test nodes", accuracy)
	}
	testPGHouses(t, net, h, d)
	total, directed, nodes, asked := 0.0, 0.0, 0, 6
	if sparing.Full() {
		asked = 24
	}
	masks := &explain.GNNExplainer{NoFeatures: true, LR: 0.1, EdgeEntropy: 0.1} // the authors' rate; all features are 1
	for v := int32(400); nodes < asked; v += 5 {                                // their nodes too: the first of each house
		c, err := explain.New(net.model, d.Graph, x, explain.Node{Number: v, Hops: 3})
		if err != nil {
			t.Fatal(err)
		}
		e := masks.Explain(c)
		auc := houseAUC(c, h, c.Undirected(e))
		directed += houseAUC(c, h, e)
		if math.IsNaN(auc) {
			t.Fatalf("node %d: all edges are planted, or none", v)
		}
		total += auc
		nodes++
	}
	mean := total / float64(nodes)
	t.Logf("mean area of %d nodes: %.4f, and %.4f of each direction by itself", nodes, mean, directed/float64(nodes))
	if mean < 0.95 {
		t.Errorf("the mean area of %d nodes is %.4f, want 0.95", nodes, mean)
	}
}

// houseAUC is the area under the ROC curve of an explanation's edges, where those of
// the node's own house are to be found.
func houseAUC(c *explain.Case, h datasets.Houses, e *explain.Explanation) float64 {
	var scores []float64
	var planted []bool
	nodes, to := c.Graph.From().Src, c.Graph.Destinations()
	for _, edge := range c.Edges() {
		u, v := nodes[c.Graph.In().Cols[edge]], nodes[to[edge]]
		scores = append(scores, e.Edges[edge])
		planted = append(planted, h.Planted(u, v) && h.House(u) == h.House(nodes[0]))
	}
	return train.AUC(scores, planted)
}
