package bits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

const epochs = 5

// network is layers one on the other, with dropout before each.
type network struct {
	Layers []conv
	drop   float64
}

// forward runs the layers, each on a graph of its own.
func (n *network) forward(t *grad.Tape, gs []*graph.Graph, weights []*grad.Var, x *grad.Var) *grad.Var {
	for i, l := range n.Layers {
		in := layers.In{Src: t.Dropout(x, n.drop)}
		if weights != nil {
			in.Weight = weights[i]
		}
		x = l.Apply(t, gs[i], in).Y
	}
	return x
}

// row is a layer that sees no graph.
type row struct{ layers.MLP }

// Apply runs the layer on the rows of the destinations.
func (r *row) Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out {
	y := r.Forward(t, in.Src)
	if g.Bipartite() {
		y = y.Rows(g.DstRows())
	}
	return layers.Out{Y: y}
}

// kind is a network for Cora.
type kind struct {
	name   string
	hops   bool // a layer looks several hops far: there are no blocks for it
	weight bool // normalised weights on the whole graph
	make   func(in, classes int) *network
}

// kinds are the networks of gatbench, by their papers' sizes.
func kinds() []kind {
	net := func(drop float64, ls ...conv) *network { return &network{Layers: ls, drop: drop} }
	return []kind{
		{"gat", false, false, func(in, c int) *network {
			return net(0.6, &layers.GATConv{In: in, Out: 8, Heads: 8, AttnDrop: 0.6, Activation: grad.ELU},
				&layers.GATConv{In: 64, Out: c, Average: true, AttnDrop: 0.6})
		}},
		{"gat/values", false, false, func(in, c int) *network {
			return net(0.6, &layers.GATConv{In: in, Out: 8, Heads: 8, AttnDrop: 0.6, ValueDrop: 0.6, Residual: layers.ResidualIdentity, Activation: grad.ELU},
				&layers.GATConv{In: 64, Out: c, Heads: 8, Average: true, AttnDrop: 0.6, ValueDrop: 0.6})
		}},
		{"gatv2", false, false, func(in, c int) *network {
			return net(0.6, &layers.GATv2Conv{In: in, Out: 8, Heads: 8, AttnDrop: 0.6, Activation: grad.ELU},
				&layers.GATv2Conv{In: 64, Out: c, Average: true, AttnDrop: 0.6})
		}},
		{"transformer", false, false, func(in, c int) *network {
			return net(0.6, &layers.TransformerConv{In: in, Out: 8, Heads: 8, AttnDrop: 0.6, Activation: grad.ELU},
				&layers.TransformerConv{In: 64, Out: c, Average: true, AttnDrop: 0.6})
		}},
		{"gcn", false, true, func(in, c int) *network {
			return net(0.5, &layers.GCNConv{In: in, Out: 16, Norm: layers.NormNone, Activation: grad.ReLU}, &layers.GCNConv{In: 16, Out: c, Norm: layers.NormNone})
		}},
		{"gcn/symmetric", true, false, func(in, c int) *network {
			return net(0.5, &layers.GCNConv{In: in, Out: 16, Activation: grad.ReLU}, &layers.GCNConv{In: 16, Out: c})
		}},
		{"sage", false, false, func(in, c int) *network {
			return net(0.5, &layers.SAGEConv{In: in, Out: 16, Activation: grad.ReLU}, &layers.SAGEConv{In: 16, Out: c})
		}},
		{"gin", false, false, func(in, c int) *network {
			return net(0.5, &layers.GINConv{Net: layers.MLP{Widths: []int{in, 16, 16}, BatchNorm: true}, Activation: grad.ReLU},
				&layers.GINConv{Net: layers.MLP{Widths: []int{16, 16, c}}, TrainEps: true})
		}},
		{"sgc", true, false, func(in, c int) *network { return net(0, &layers.SGConv{In: in, Out: c}) }},
		{"appnp", true, false, func(in, c int) *network {
			return net(0.5, &row{layers.MLP{Widths: []int{in, 32, c}, Drop: 0.5}}, &layers.APPNP{K: 4, EdgeDrop: 0.5})
		}},
		{"mlp", false, false, func(in, c int) *network {
			return net(0.5, &row{layers.MLP{Widths: []int{in, 16}}}, &row{layers.MLP{Widths: []int{16, c}}})
		}},
	}
}

// trainings trains each network on Cora, on the whole graph and on the rows that the
// loss needs, and two recurrent classifiers of chains.
func trainings(b *book) {
	d, err := cora.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	d = d.WithSelfLoops()
	for _, k := range kinds() {
		for _, rows := range []string{"all", "needed"} {
			if k.hops && rows == "needed" {
				continue
			}
			b.add(k.name+"/"+rows, func(h *digest) { k.train(b, h, d, rows == "needed") })
		}
	}
	classifiers(b)
	drawn(b)
	optimisers(b)
}

// train fits the network and hashes what the training says and leaves.
func (k kind) train(b *book, h *digest, d *datasets.Dataset, needed bool) {
	x, err := d.Normalised()
	if err != nil {
		b.t.Fatal(err)
	}
	n := k.make(x.Shape()[1], d.Classes)
	rng := rand.New(rand.NewPCG(3, 3))
	for _, l := range n.Layers {
		l.Init(rng)
	}
	all := slices.Repeat([]*graph.Graph{d.Graph}, len(n.Layers))
	gs, rows, input := all, d.Split.Train, grad.Const(x)
	if needed {
		if gs, err = sample.Needed(d.Graph, d.Split.Train, len(n.Layers)); err != nil || gs == nil {
			b.t.Fatal("no blocks:", err)
		}
		input, rows = rowsOf(x, gs[0]), nil
	}
	var whole, part []*grad.Var
	if k.weight {
		w := layers.SymmetricWeights(d.Graph, nil)
		whole, part = slices.Repeat([]*grad.Var{w}, len(gs)), slices.Repeat([]*grad.Var{w}, len(gs))
		if needed {
			part = weightsOf(w, gs)
		}
	}
	labels := d.Labels.Of(d.Split.Train)
	fit := train.Fit{
		Model: n, Optimiser: &train.Adam{LR: 0.005, WeightDecay: 5e-4}, Seed: 4, Epochs: epochs,
		Loss: func(t *grad.Tape) *grad.Var {
			y := n.forward(t, gs, part, input)
			if rows != nil {
				y = y.Rows(rows)
			}
			return y.CrossEntropy(labels)
		},
		Eval: func(t *grad.Tape) train.Scores {
			y := n.forward(t, all, whole, grad.Const(x)).Value()
			h.dense(y)
			return train.Scores{Val: train.Measure(datasets.GatherRows(y, d.Split.Val).(*tensor.Dense), d.Labels.Of(d.Split.Val))}
		},
	}
	h.fit(b, &fit)
}

// fit runs a training and adds its history and the Params it leaves.
func (h *digest) fit(b *book, f *train.Fit) {
	history, err := f.Run(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range history.Epochs {
		h.number(math.Float64bits(e.Loss))
		h.number(math.Float64bits(e.Val.Loss))
		h.number(math.Float64bits(e.Val.Accuracy))
		h.number(math.Float64bits(e.Norm))
	}
	for _, p := range grad.Params(f.Model) {
		h.dense(p.Value)
	}
}
