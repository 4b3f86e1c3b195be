package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// network is a stack of layers of one kind, of which the last gives the classes.
// Its file holds the recipe, from which the layers are made again.
type network struct {
	Task        string `json:",omitempty"` // taskEdge of one that tells edges apart: its file says so; empty: nodes
	Recipe      recipe
	In, Classes int      // Classes are the outputs, whatever they are
	Kind        goalKind `json:",omitempty"` // of what is learnt
	Scale       scale    `json:",omitzero"`  // of numbers
	Layers      []layer  `json:"-"`

	Head *pairHead `json:",omitempty"` // after the layers, of a network that tells edges apart
}

// hop is where one layer works: a graph or a block of it.
type hop struct {
	graph  *graph.Graph
	weight *grad.Var // of its edges, normalised on the whole graph; nil: the model reads none, or all are 1 and the graph is whole
	edge   *grad.Var // features of its edges; nil: the model reads none
	mask   *grad.Var // of what its edges carry, for models that read no weights; nil: none
}

// newNetwork returns an initialised network for features of that width.
func newNetwork(r recipe, width, classes int) (*network, error) {
	n := &network{Recipe: r, In: width, Classes: classes}
	if err := n.build(); err != nil {
		return nil, err
	}
	return n, nil
}

// build makes the layers that the recipe asks for.
func (n *network) build() error {
	r := &n.Recipe
	m, err := findModel(r.Model)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(r.Seed, 0))
	s := size{in: n.In, out: r.Hidden}
	n.Layers = nil
	for i := range r.Layers {
		s.first = i == 0
		if s.last = i == r.Layers-1; s.last {
			s.out = n.rowWidth()
		}
		l := m.make(r, s)
		l.Init(rng)
		r.Start.redraw(l, rng)
		n.Layers = append(n.Layers, l)
		s.in = r.Hidden * r.Heads
	}
	if n.Head != nil {
		n.Head.build(rng, r.Dropout, n.Classes)
	}
	return nil
}

// rowWidth is how wide the last layer's rows are.
func (n *network) rowWidth() int {
	if n.Head != nil {
		return n.Recipe.width()
	}
	return n.Classes
}

// redraw gives the Params of GAT's layers other first values.
func (s start) redraw(l layer, rng *rand.Rand) {
	conv, ok := l.(*gatLayer)
	if !ok || s == startGlorot {
		return
	}
	attention := []*grad.Param{conv.AttnL, conv.AttnR}
	if s == startHeads {
		conv.W.Value.GlorotUniform(rng, conv.In, conv.Out, 1)
		for _, a := range attention {
			a.Value.GlorotUniform(rng, conv.Out, 1, 1)
		}
		return
	}
	gain := tensor.LeakyGain(0) // √2
	conv.W.Value.GlorotNormal(rng, conv.In, conv.Heads*conv.Out, gain)
	for _, a := range attention {
		a.Value.GlorotNormal(rng, conv.Heads*conv.Out, conv.Out, gain)
	}
}

// layerOf returns the layer that a Param belongs to: "Layers.0" of "Layers.0.W".
func layerOf(name string) string { return strings.Join(strings.SplitN(name, ".", 3)[:2], ".") }

// pass is what a forward computes: where each layer works, and what the first one
// reads.
type pass struct {
	hops []hop
	x    *grad.Var // features, sparse or dense
	ends *ends     // of the edges that are told apart; nil: nodes are
	rows []int32   // of the result; nil: all
}

// whole is a pass over a whole graph.
func (n *network) whole(h hop, x *grad.Var) pass {
	return pass{hops: slices.Repeat([]hop{h}, len(n.Layers)), x: x}
}

// run returns the logits of a pass.
func (n *network) run(t *grad.Tape, p pass) *grad.Var {
	y := n.through(t, p.hops, p.x)
	if p.ends != nil {
		y = n.Head.Forward(t, y, p.ends)
	}
	if p.rows != nil {
		y = y.Rows(p.rows)
	}
	return y
}

// Forward returns what the layers give the nodes of the whole graph: their logits.
func (n *network) Forward(t *grad.Tape, h hop, x *grad.Var) *grad.Var {
	return n.run(t, n.whole(h, x))
}

// labels are what errors call the layers.
var labels = [...]string{"layer 1", "layer 2", "layer 3", "layer 4", "a later layer"}

// describe says what the network is made of.
func (n *network) describe() string { return describe(&n.Recipe, n.Classes, n.Head) }

// describe says what a network is made of, with a head of edges, if it has one.
func describe(r *recipe, outputs int, head *pairHead) string {
	if head == nil {
		return r.model().describe(r, outputs)
	}
	return fmt.Sprintf("%s; %s, then %d", r.model().describe(r, head.In), head.says(), outputs)
}

// through returns the result of the first layers, one for each hop.
func (n *network) through(t *grad.Tape, hops []hop, x *grad.Var) *grad.Var {
	for i, h := range hops {
		undo := t.Label(labels[min(i, len(labels)-1)])
		x = n.Layers[i].run(t, h, x).Y
		undo()
	}
	return x
}

// hidden returns what the last layer sees, which is what the network has learnt
// of each node; of a single layer the logits.
func (n *network) hidden(t *grad.Tape, h hop, x *grad.Var) *grad.Var {
	depth := max(1, len(n.Layers)-1)
	return n.through(t, slices.Repeat([]hop{h}, depth), x)
}

// attend returns what each layer returns on the whole graph.
func (n *network) attend(t *grad.Tape, h hop, x *grad.Var) []layers.Out {
	var outs []layers.Out
	for _, l := range n.Layers {
		out := l.run(t, h, x)
		outs = append(outs, out)
		x = out.Y
	}
	return outs
}

// openNetwork reads what kind of network a file holds, without its Params.
func openNetwork(path string) (*network, error) {
	n := new(network)
	if of, other := map[string]string{taskGraph: "whole graphs", taskLink: "links", taskFacts: "facts"}[savedTask(path)]; other {
		return nil, fmt.Errorf("%s is a model of %s, and one of nodes is wanted: %s eval and predict take it", path, of, program)
	}
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	r := &n.Recipe
	r.date()
	err := r.check()
	if err == nil {
		_, err = newRecipe(r.Preset, r.Model, r.Dataset)
	}
	if err == nil {
		err = r.model().edges.check(r.Model, r.EdgeIn, r.Kinds)
	}
	const most = 1 << 24 // features and classes: files are not to be trusted with memory
	if err == nil && (n.In < 1 || n.In > most || n.Classes < 1 || n.Classes > 1<<16) {
		err = fmt.Errorf("%d features and %d classes", n.In, n.Classes)
	}
	if err == nil {
		err = n.Kind.check(n.Scale, n.Classes)
	}
	switch edges := n.Task == taskEdge; {
	case err != nil:
	case n.Task != "" && !edges || edges != (n.Head != nil):
		err = fmt.Errorf("the task %.20q, with a head of edges %v", n.Task, n.Head != nil)
	case edges:
		err = n.Head.check(n.rowWidth())
	}
	if err := believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// believed is err, what is wrong with what a file says of its model, or, if that is nil,
// what fits says to the size of the file.
func believed(path string, err error, fits func(bytes int64) error) error {
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			err = fits(info.Size())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: what it says of its model cannot be: %s", path, err)
	}
	return nil
}

// fits reports a model of more numbers than a file of that many bytes has, before
// memory is taken for them. A number has two bytes at least.
func (n *network) fits(bytes int64) error {
	r, m := &n.Recipe, n.Recipe.model()
	s, total := size{in: n.In, out: r.Hidden}, int64(0)
	for i := range r.Layers {
		if s.last = i == r.Layers-1; s.last {
			s.out = n.rowWidth()
		}
		wide := int64(s.out) * int64(r.heads(s))
		switch {
		case r.Model == modelNNConv:
			total += 2 * int64(r.Hidden) * wide
			if i == 0 {
				total += int64(r.Hidden) * int64(s.in)
			}
		case m.deep:
			total += int64(r.Hidden) * (int64(s.in) + wide)
		default:
			total += int64(s.in) * wide
		}
		total += n.ofEdges(s, wide)
		s.in = r.Hidden * r.Heads
	}
	if r.Model == modelH2GCN { // a round has no Params, and the last layer reads all of them
		total = int64(r.Hidden) * (int64(n.In) + int64(n.rowWidth())*(1<<r.Layers-1))
	}
	if h := n.Head; h != nil {
		total += int64(h.In) * (2*int64(h.In) + int64(h.Own) + int64(n.Classes))
	}
	if total > bytes/2 {
		return fmt.Errorf("at least %d numbers, more than its %d bytes hold", total, bytes)
	}
	return nil
}

// ofEdges is how many numbers, at least, a layer has for what it reads of edges, beside those of one kind.
func (n *network) ofEdges(s size, wide int64) int64 {
	r, edges := &n.Recipe, int64(n.Recipe.EdgeIn)
	switch r.Model {
	case modelRGCN:
		return int64(r.Kinds) * int64(s.in) * wide
	case modelGatedGraph:
		return int64(r.Kinds) * int64(r.Hidden) * int64(r.Hidden)
	case modelNNConv:
		return edges * int64(r.Hidden) * wide
	case modelGIN, modelGPS:
		return edges * int64(r.Hidden)
	case modelMoNet:
		return edges
	}
	return edges * min(wide, int64(r.Hidden)) // of PNA an encoder is as wide as what it reads
}

// loadNetwork reads a saved network.
func loadNetwork(path string) (*network, error) {
	n, err := openNetwork(path)
	if err != nil {
		return nil, err
	}
	if err := n.build(); err != nil {
		return nil, err
	}
	if err := loadParams(path, n); err != nil {
		return nil, err
	}
	return n, nil
}
