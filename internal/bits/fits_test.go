package bits

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// rowsOf are the features that a block reads.
func rowsOf(x tensor.Array, g *graph.Graph) *grad.Var {
	if g.NumSrc() == x.Shape()[0] {
		return grad.Const(x)
	}
	return grad.Const(datasets.GatherRows(x, g.From().Src))
}

// weightsOf are the weights of blocks' edges.
func weightsOf(w *grad.Var, gs []*graph.Graph) (out []*grad.Var) {
	for _, g := range gs {
		out = append(out, grad.Const(w.Rows(g.From().Edges).Value()))
	}
	return out
}

// classifier tells chains apart by what a recurrent layer makes of their ends.
type classifier struct {
	Cell sequence.Cell
	Out  *layers.Linear
}

// classifiers trains recurrent layers on chains.
func classifiers(b *book) {
	for name, cell := range map[string]sequence.Cell{
		"lstm": &sequence.LSTM{In: 6, Hidden: 24, ForgetBias: 1}, "gru": &sequence.GRU{In: 6, Hidden: 24}, "rnn": &sequence.RNN{In: 6, Hidden: 24},
	} {
		b.add("chains/"+name, func(h *digest) {
			m, g := b.newMaker("chains"), ragged(60)
			c := &classifier{cell, &layers.Linear{In: 24, Out: 3}}
			m.model(cell)
			m.model(c.Out)
			x, labels := grad.Const(m.normal(g.NumNodes(), 6)), m.rows(60, 3)
			h.fit(b, &train.Fit{
				Model: c, Optimiser: &train.Adam{LR: 0.01}, Epochs: 3, ClipNorm: 0.5,
				Loss: func(t *grad.Tape) *grad.Var {
					state := c.Cell.ForwardFrom(t, g, x, nil)
					return c.Out.Forward(t, t.Dropout(state.Rows(g.Sinks())[0], 0.3)).CrossEntropy(labels)
				},
			})
		})
	}
}

// drawn trains on batches of drawn neighbours.
func drawn(b *book) {
	for _, replace := range []bool{false, true} {
		b.add(fmt.Sprintf("drawn/%v", replace), func(h *digest) {
			d, err := cora.Load()
			if err != nil {
				b.t.Fatal(err)
			}
			all := kinds()
			n := all[slices.IndexFunc(all, func(k kind) bool { return k.name == "sage" })].make(d.Features.Shape()[1], d.Classes)
			for _, l := range n.Layers {
				l.Init(rand.New(rand.NewPCG(6, 6)))
			}
			loader := &sample.Loader{
				Sampler: sample.Sampler{Graph: d.Graph, Fanout: []int{5, 3}, Replace: replace, Seed: 5},
				Nodes:   d.Split.Train, Size: 40, Features: d.Features,
			}
			var batch *sample.Batch
			h.fit(b, &train.Fit{
				Model: n, Optimiser: &train.AdamW{LR: 0.01, WeightDecay: 0.01}, Epochs: 2, Steps: loader.Steps(), Next: loader.Into(&batch),
				Loss: func(t *grad.Tape) *grad.Var {
					return n.forward(t, batch.Blocks, nil, grad.Const(batch.X)).CrossEntropy(batch.Of(d.Labels))
				},
			})
		})
	}
}

// optimisers trains a small network by each.
func optimisers(b *book) {
	for name, o := range map[string]train.Optimiser{
		"sgd": &train.SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 1e-3}, "adam": &train.Adam{LR: 0.01, WeightDecay: 1e-3},
		"adamw": &train.AdamW{LR: 0.01, WeightDecay: 0.1, Schedule: train.Cosine{Steps: 6}}, "adagrad": &train.Adagrad{LR: 0.1},
		"adadelta": &train.Adadelta{LR: 1}, "adamax": &train.Adamax{LR: 0.01}, "nadam": &train.NAdam{LR: 0.01},
		"radam": &train.RAdam{LR: 0.01}, "rmsprop": &train.RMSprop{LR: 0.01},
	} {
		b.add("optimiser/"+name, func(h *digest) {
			m := b.newMaker("optimiser")
			l := &layers.MLP{Widths: []int{12, 90, 4}, BatchNorm: true, Drop: 0.3}
			m.model(l)
			x, labels := grad.Const(m.normal(200, 12)), m.rows(200, 4)
			h.fit(b, &train.Fit{
				Model: l, Optimiser: o, Epochs: 6, ClipNorm: 0.7, ClipValue: 0.05, Average: 0.9,
				Loss: func(t *grad.Tape) *grad.Var { return l.Forward(t, x).CrossEntropy(labels) },
			})
		})
	}
}

// sweeps runs steps that users write, with messages and products in them.
func sweeps(b *book) {
	for _, at := range []place{{"ragged", ragged(40)}, {"trees", trees()}} {
		b.run("sweep/"+at.name, func(m *maker) []*grad.Var {
			g, x := at.g, m.watch(at.g.NumNodes(), 8)
			w, u, bias := m.use(8, 8), m.use(8, 8), m.use(8)
			return message.Sweep(g, message.State{m.watch(len(g.Roots()), 8)}, func(l *message.Level, prev message.State) message.State {
				before := message.UpdateAll(l.In, message.U(prev[0]), message.Mean)
				return message.State{l.Rows(x.MatMul(w)).Add(before.MatMul(u)).AddBias(bias, grad.Tanh)}
			})
		})
	}
}
