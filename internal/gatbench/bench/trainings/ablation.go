package trainings

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// ablation is something that makes an epoch of GAT fast, and how to do without.
type ablation struct {
	without string
	leave   func(e *gatEpoch)
}

// ablations are all there are: rows computed that the loss does not read, zeros of
// the features that are not skipped, dropout that draws numbers one by one,
// attention that stores its edges, one thread, plain Go, memory taken anew; then
// the first three, as the frameworks have it, and all but the one thread.
var ablations = []ablation{
	{"rows", (*gatEpoch).allRows},
	{"features", (*gatEpoch).fillFeatures},
	{"dropout", (*gatEpoch).drawMasks},
	{"attention", (*gatEpoch).storeEdges},
	{"threads", func(e *gatEpoch) { e.around = func() func() { return par.SetThreads(1) } }},
	{"assembly", func(e *gatEpoch) { e.around = cpu.Disable }},
	{"memory", func(e *gatEpoch) { e.forget = true }},
	{"rows+features+dropout", func(e *gatEpoch) { e.allRows(); e.fillFeatures(); e.drawMasks() }},
	{"all", func(e *gatEpoch) {
		e.allRows()
		e.fillFeatures()
		e.drawMasks()
		e.storeEdges()
		e.around, e.forget = cpu.Disable, true
	}},
}

// Ablations are epochs of train/DATASET with something left out, beside
// whole ones. A call is a training step and a validation forward.
func (t Trainings) Ablations(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, name := range []string{"cora", "citeseer", "pubmed"} {
		for _, a := range ablations {
			out = append(out, bench.Benchmark{
				Name: "ablation/" + name + "/" + a.without, Op: "ablation/gat", Lanes: c.Threads,
				Params: map[string]any{"dataset": name, "without": a.without, "seed": t.Seed, "threads": c.Threads},
				Open:   func() (bench.Work, error) { return a.prepare(t, name) },
			})
		}
	}
	return out
}

// prepare opens the dataset and makes both trainings.
func (a ablation) prepare(t Trainings, dataset string) (bench.Work, error) {
	another, err := t.GAT(t.Settings, dataset)
	if err != nil {
		return bench.Work{}, err
	}
	whole, err := another()
	if err != nil {
		return bench.Work{}, err
	}
	part, err := another()
	if err != nil {
		return bench.Work{}, err
	}
	return a.beside(newGATEpoch(whole), newGATEpoch(part)), nil
}

// beside returns the work of an epoch without something, whose rival is the whole.
func (a ablation) beside(whole, part *gatEpoch) bench.Work {
	a.leave(part)
	return bench.Work{Call: part.run, Rival: bench.Reference{Name: "whole", Share: 1, Call: whole.run, Equal: true}}
}

// GAT is a network that trains, and what it trains on.
type GAT struct {
	Layers    []*layers.GATConv
	Optimiser train.Optimiser // bound to them
	Seed      uint64
	Labels    []int32 // of the rows that Needed and All return

	Needed Pass // what a training step computes: the rows that the loss reads,
	All    Pass // or all of them
	Whole  Pass // what an evaluation computes
	Watch  func(logits *tensor.Dense)
}

// Pass is what a forward computes.
type Pass struct {
	Graphs []*graph.Graph // where each layer works
	X      *grad.Var      // what the first one reads, sparse or dense
	Rows   []int32        // that are wanted of the last one's; nil: all
}

// gatEpoch is what train/DATASET does in an epoch, with a choice of how.
type gatEpoch struct {
	*GAT
	step  Pass // what a training step computes,
	whole Pass // and an evaluation
	t     *grad.Tape

	drop   func(t *grad.Tape, x *grad.Var, p float64) *grad.Var // of features; nil: the layers do
	attend func(t *grad.Tape, g *graph.Graph, l *layers.GATConv, x *grad.Var) *grad.Var
	around func() (undo func()) // of the whole epoch; nil: nothing
	forget bool                 // take memory anew in each epoch
}

func newGATEpoch(g *GAT) *gatEpoch {
	return &gatEpoch{GAT: g, step: g.Needed, whole: g.Whole, t: grad.NewTape(g.Seed), attend: fusedLayer}
}

// allRows has a training step compute all rows.
func (e *gatEpoch) allRows() { e.step = e.All }

// run is a training step and a validation forward.
func (e *gatEpoch) run() {
	if e.around != nil {
		defer e.around()()
	}
	e.renew()
	e.t.Reset()
	loss := e.forward(e.t, e.step).CrossEntropy(e.Labels)
	e.Optimiser.Step(e.t.Backward(loss))
	e.renew()
	e.t.ResetEval()
	e.Watch(e.forward(e.t, e.whole).Value())
}

// renew gives up the tape and its memory, if they are not to be kept.
func (e *gatEpoch) renew() {
	if e.forget {
		step := e.t.Step()
		e.t = grad.NewTape(e.Seed)
		e.t.SetStep(step)
	}
}

// forward returns the logits.
func (e *gatEpoch) forward(t *grad.Tape, p Pass) *grad.Var {
	x := p.X
	for i, l := range e.Layers {
		conv, g := *l, p.Graphs[i]
		if e.drop == nil {
			x = e.attend(t, g, &conv, x)
			continue
		}
		x, conv.FeatDrop = e.drop(t, x, conv.FeatDrop), 0
		x = e.attend(t, g, &conv, x)
	}
	if p.Rows == nil {
		return x
	}
	return x.Rows(p.Rows)
}

// fusedLayer is the layer as it is.
func fusedLayer(t *grad.Tape, g *graph.Graph, l *layers.GATConv, x *grad.Var) *grad.Var {
	return l.Forward(t, g, x)
}

// storeEdges runs attention as the formula says, a step at a time, with the
// logits, the softmax and the dropped softmax of all edges in arrays.
func (e *gatEpoch) storeEdges() {
	e.attend = unfusedLayer
	if e.drop == nil {
		e.drop = (*grad.Tape).Dropout
	}
}

func unfusedLayer(t *grad.Tape, g *graph.Graph, l *layers.GATConv, x *grad.Var) *grad.Var {
	ft := x.MatMul(t.Use(l.W)).Reshape(g.NumSrc(), l.Heads, l.Out)
	el, er := ft.Dot(t.Use(l.AttnL)), ft.Dot(t.Use(l.AttnR))
	score := message.ApplyEdges(g, message.UAddV(el, message.OnDst(g, er))).LeakyReLU(0.2)
	alpha := t.Dropout(message.EdgeSoftmax(g, score), l.AttnDrop)
	y := message.UpdateAll(g, message.UMulE(ft, alpha), message.Sum)
	y = y.Reshape(g.NumDst(), l.Heads*l.Out) // of one head, the mean is the head
	return y.Add(t.Use(l.B)).Activate(l.Activation)
}
