package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// graphModel is a row of the table of networks that tell graphs apart: what one is called,
// what it reads of edges, and how a convolution of it is made.
type graphModel struct {
	name, title string
	edges       edgesRead
	loops       bool // a node hears itself as a neighbour alone
	make        func(r *graphRecipe, width int) graphConv
}

// graphConv is a convolution of a graphNet.
type graphConv interface {
	Init(rng *rand.Rand)
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}

// The models of graphs that others name.
const (
	modelGIN        = "gin"
	modelNNConv     = "nnconv"
	modelGatedGraph = "gatedgraph"
	modelRGCN       = "rgcn"
	modelMoNet      = "monet"
	modelGPS        = "gps"
)

// graphModels returns the table. A new row is all that a new model needs.
func graphModels() []graphModel {
	return []graphModel{
		{name: modelGIN, title: "GIN", edges: mayNumbers, make: ginOfGraphs},
		{name: modelNNConv, title: "NNConv", edges: wantsNumbers, make: func(r *graphRecipe, width int) graphConv {
			return &layers.NNConv{In: width, Out: r.Hidden, EdgeIn: r.EdgeIn, Residual: layers.ResidualLinear}
		}},
		{name: modelGatedGraph, title: "GatedGraph", edges: mayKinds, make: gatedOfGraphs},
		{name: modelRGCN, title: "RGCN", edges: wantsKinds, make: func(r *graphRecipe, width int) graphConv {
			return &layers.RGCNConv{In: width, Out: r.Hidden, Relations: r.Kinds}
		}},
		{name: "gcn", title: "GCN", loops: true, make: func(r *graphRecipe, width int) graphConv {
			return &layers.GCNConv{In: width, Out: r.Hidden}
		}},
		{name: "sage", title: "GraphSAGE", make: func(r *graphRecipe, width int) graphConv {
			return &layers.SAGEConv{In: width, Out: r.Hidden}
		}},
		{name: "gat", title: "GAT", loops: true, make: func(r *graphRecipe, width int) graphConv {
			return &layers.GATConv{In: width, Out: r.Hidden / r.heads(), Heads: r.heads()}
		}},
		{name: "gatv2", title: "GATv2", loops: true, make: func(r *graphRecipe, width int) graphConv {
			return &layers.GATv2Conv{In: width, Out: r.Hidden / r.heads(), Heads: r.heads()}
		}},
		{name: "transformer", title: "Transformer", edges: mayNumbers, make: func(r *graphRecipe, width int) graphConv {
			return &layers.TransformerConv{In: width, Out: r.Hidden / r.heads(), Heads: r.heads(), EdgeIn: r.EdgeIn}
		}},
		{name: "tag", title: "TAG", make: func(r *graphRecipe, width int) graphConv {
			return &layers.TAGConv{In: width, Out: r.Hidden}
		}},
		{name: "cheb", title: "ChebNet", make: func(r *graphRecipe, width int) graphConv {
			return &layers.ChebConv{In: width, Out: r.Hidden}
		}},
		{name: "arma", title: "ARMA", make: func(r *graphRecipe, width int) graphConv {
			return &layers.ARMAConv{In: width, Out: r.Hidden}
		}},
		{name: "agnn", title: "AGNN", loops: true, make: func(r *graphRecipe, width int) graphConv {
			return &fedConv{layers.Linear{In: width, Out: r.Hidden}, &layers.AGNNConv{}}
		}},
		{name: "pna", title: "PNA", edges: mayNumbers, make: func(r *graphRecipe, width int) graphConv {
			return fed(width, r.Hidden, &layers.PNAConv{In: r.Hidden, Out: r.Hidden, Delta: pnaDelta, EdgeIn: r.EdgeIn})
		}},
		{name: "edgeconv", title: "EdgeConv", make: func(r *graphRecipe, width int) graphConv {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * width, r.Hidden, r.Hidden}}}
		}},
		{name: "resgated", title: "ResGated", edges: mayNumbers, make: func(r *graphRecipe, width int) graphConv {
			return &layers.ResGatedConv{In: width, Out: r.Hidden, EdgeIn: r.EdgeIn}
		}},
		{name: modelMoNet, title: "MoNet", edges: wantsNumbers, make: func(r *graphRecipe, width int) graphConv {
			return &layers.MoNetConv{In: width, Out: r.Hidden, EdgeIn: r.EdgeIn, Kernels: monetKernels, Residual: layers.ResidualLinear}
		}},
		{name: modelGPS, title: "GPS", edges: mayNumbers, make: func(r *graphRecipe, width int) graphConv {
			return fed(width, r.Hidden, &layers.GPSConv{Width: r.Hidden, Heads: r.heads(), EdgeIn: r.EdgeIn})
		}},
	}
}

// ginOfGraphs is GIN's convolution, or where edges have features GINE's.
func ginOfGraphs(r *graphRecipe, width int) graphConv {
	mlp := layers.MLP{Widths: []int{width, r.Hidden, r.Hidden}, BatchNorm: true}
	if r.EdgeIn > 0 {
		return &layers.GINEConv{Net: mlp, EdgeIn: r.EdgeIn}
	}
	return &layers.GINConv{Net: mlp}
}

// monetKernels is how many Gaussians a MoNet has.
const monetKernels = 3

// gatedSteps is how many steps a gated convolution takes.
const gatedSteps = 2

// gatedOfGraphs is a gated convolution, whose states are as wide as its result.
func gatedOfGraphs(r *graphRecipe, width int) graphConv {
	return fed(width, r.Hidden, &layers.GatedGraphConv{In: r.Hidden, Out: r.Hidden, Steps: gatedSteps, Kinds: r.Kinds})
}

// fed is a convolution that reads rows of another width than the features are.
func fed(width, want int, conv graphConv) graphConv {
	if width == want {
		return conv
	}
	return &fedConv{layers.Linear{In: width, Out: want}, conv}
}

// fedConv is a convolution that reads what a dense layer makes of the features.
type fedConv struct {
	Dense layers.Linear
	Conv  graphConv
}

// Init makes the Params of both.
func (c *fedConv) Init(rng *rand.Rand) {
	c.Dense.Init(rng)
	c.Conv.Init(rng)
}

// Apply runs both.
func (c *fedConv) Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out {
	in.Src = c.Dense.Forward(t, in.Src)
	return c.Conv.Apply(t, g, in)
}

// heads is how many a convolution has: four, or one of a width that four do not divide.
func (r *graphRecipe) heads() int {
	const most = 4
	if r.Hidden%most == 0 {
		return most
	}
	return 1
}

// model returns the recipe's row.
func (r *graphRecipe) model() graphModel {
	ms := graphModels()
	return ms[max(0, slices.IndexFunc(ms, func(m graphModel) bool { return m.name == r.Model }))]
}

// graphModelNames returns the names of the models that read of edges one of these, or of all.
func graphModelNames(edges ...edgesRead) []string {
	var names []string
	for _, m := range graphModels() {
		if len(edges) == 0 || slices.Contains(edges, m.edges) {
			names = append(names, m.name)
		}
	}
	return names
}

// suit makes the graphs what the convolutions of a recipe want: with loops, or with kinds of
// edges.
func (k *graphTask) suit(r *graphRecipe) error {
	if err := r.checkPairs(k.Sizes()); err != nil {
		return err
	}
	d := *k.Graphs
	if r.Kinds > 0 {
		kinds, _ := k.EdgeKinds()
		order, list := k.Graph.EdgeOrder(), make([]int32, len(kinds))
		for e, kind := range kinds {
			list[order[e]] = kind
		}
		g, err := k.Graph.WithKinds(list)
		if err != nil {
			return err
		}
		d.Graph = g
	}
	if r.model().loops {
		d.Graph, d.EdgeFeatures, d.EdgeNumbers = k.Graph.WithSelfLoops(), nil, 0
	}
	k.Graphs = &d
	return nil
}

// edges decides what the network reads of edges.
func (c *trainCommand) edges(k *graphTask, r *graphRecipe) (err error) {
	there, without := k.there(), or(c.NoEdgeFeatures, false)
	switch {
	case without && c.Resume != "":
		return misuse("--resume %s: a run goes on with its own settings: leave --no-edge-features out", c.Resume)
	case c.Resume != "":
		if err := there.serve(r.EdgeIn, r.Kinds); err != nil {
			return misuse("--resume %s: %w", c.Resume, err)
		}
		return k.suit(r)
	}
	m := r.model()
	if r.EdgeIn, r.Kinds, err = there.read(m.name, m.edges, without); err != nil {
		return err
	}
	return k.suit(r)
}

// there says what the graphs have of edges.
func (k *graphTask) there() edgesThere {
	_, kinds := k.EdgeKinds()
	return edgesThere{
		data: k.Name, width: widthOf(k.EdgeFeatures), kinds: kinds,
		readers: graphModelNames(mayNumbers, wantsNumbers), instead: modelGIN, how: "edge_type in lines of JSON, or NAME_edge_labels.txt",
	}
}

// checkEdges returns an error for a recipe, as a file has it, whose model does not read what it
// says of edges.
func (r *graphRecipe) checkEdges() error {
	m := r.model()
	return m.edges.check(m.name, r.EdgeIn, r.Kinds)
}

// ofEdges is how many numbers, at least, the convolutions have for what they read of edges, of
// in features of nodes.
func (r *graphRecipe) ofEdges(in int64) int64 {
	hidden, edges, kinds, convs := int64(r.Hidden), int64(r.EdgeIn), int64(r.Kinds), int64(r.Layers-1)
	read := in + (convs-1)*hidden // columns, of all convolutions
	switch r.model().name {
	case modelGIN:
		return edges * read
	case modelNNConv:
		return edges * hidden * read
	case modelMoNet:
		return edges * monetKernels * convs
	case modelRGCN:
		return kinds * hidden * read
	case modelGatedGraph:
		return kinds * hidden * hidden * convs
	}
	return edges * hidden * convs
}

// reads says what the networks of a recipe read.
func (k *graphTask) reads(r *graphRecipe) string {
	if how := r.reading(); how != "" {
		plain := *r
		plain.Readout, plain.Pool = "", ""
		return k.reads(&plain) + "; " + how
	}
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("%s; %d per edge", k.feeds, r.EdgeIn)
	case r.Kinds > 0 && k.EdgeNumbers > 0:
		return fmt.Sprintf("%s; %d kinds of edges, without their other features (%d)", k.feeds, r.Kinds, k.EdgeNumbers)
	case r.Kinds > 0:
		return fmt.Sprintf("%s; %d kinds of edges", k.feeds, r.Kinds)
	}
	return k.feeds
}
