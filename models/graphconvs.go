package models

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// GraphTraits say what a model's networks of graphs are like.
type GraphTraits struct {
	Edges EdgesRead
	Loops bool // a node hears itself as a neighbour alone: the graphs must have loops
}

// graphRow is a row of the table of convolutions of networks of graphs.
type graphRow struct {
	name string
	GraphTraits
	make func(d *design, width int) conv
}

// graphTable returns the table, in the order in which it is shown.
func graphTable() []graphRow {
	return []graphRow{
		{modelGIN, GraphTraits{Edges: MayNumbers}, ginOfGraphs},
		{modelNNConv, GraphTraits{Edges: WantsNumbers}, func(d *design, width int) conv {
			return &layers.NNConv{In: width, Out: d.Hidden, EdgeIn: d.EdgeIn, Residual: layers.ResidualLinear}
		}},
		{modelGatedGraph, GraphTraits{Edges: MayKinds}, gatedOfGraphs},
		{modelRGCN, GraphTraits{Edges: WantsKinds}, func(d *design, width int) conv {
			return &layers.RGCNConv{In: width, Out: d.Hidden, Relations: d.EdgeKinds}
		}},
		{"gcn", GraphTraits{Loops: true}, func(d *design, width int) conv {
			return &layers.GCNConv{In: width, Out: d.Hidden}
		}},
		{"sage", GraphTraits{}, func(d *design, width int) conv {
			return &layers.SAGEConv{In: width, Out: d.Hidden}
		}},
		{modelGAT, GraphTraits{Loops: true}, func(d *design, width int) conv {
			return &layers.GATConv{In: width, Out: d.Hidden / d.graphHeads(), Heads: d.graphHeads()}
		}},
		{modelGATv2, GraphTraits{Loops: true}, func(d *design, width int) conv {
			return &layers.GATv2Conv{In: width, Out: d.Hidden / d.graphHeads(), Heads: d.graphHeads()}
		}},
		{"transformer", GraphTraits{Edges: MayNumbers}, func(d *design, width int) conv {
			return &layers.TransformerConv{In: width, Out: d.Hidden / d.graphHeads(), Heads: d.graphHeads(), EdgeIn: d.EdgeIn}
		}},
		{"tag", GraphTraits{}, func(d *design, width int) conv {
			return &layers.TAGConv{In: width, Out: d.Hidden}
		}},
		{"cheb", GraphTraits{}, func(d *design, width int) conv {
			return &layers.ChebConv{In: width, Out: d.Hidden}
		}},
		{"arma", GraphTraits{}, func(d *design, width int) conv {
			return &layers.ARMAConv{In: width, Out: d.Hidden}
		}},
		{"agnn", GraphTraits{Loops: true}, func(d *design, width int) conv {
			return &fedConv{layers.Linear{In: width, Out: d.Hidden}, &layers.AGNNConv{}}
		}},
		{modelPNA, GraphTraits{Edges: MayNumbers}, func(d *design, width int) conv {
			return fed(width, d.Hidden, &layers.PNAConv{In: d.Hidden, Out: d.Hidden, Delta: pnaDelta, EdgeIn: d.EdgeIn})
		}},
		{modelEdgeConv, GraphTraits{}, func(d *design, width int) conv {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * width, d.Hidden, d.Hidden}}}
		}},
		{"resgated", GraphTraits{Edges: MayNumbers}, func(d *design, width int) conv {
			return &layers.ResGatedConv{In: width, Out: d.Hidden, EdgeIn: d.EdgeIn}
		}},
		{modelMoNet, GraphTraits{Edges: WantsNumbers}, func(d *design, width int) conv {
			return &layers.MoNetConv{In: width, Out: d.Hidden, EdgeIn: d.EdgeIn, Kernels: monetKernels, Residual: layers.ResidualLinear}
		}},
		{modelGPS, GraphTraits{Edges: MayNumbers}, func(d *design, width int) conv {
			return fed(width, d.Hidden, &layers.GPSConv{Width: d.Hidden, Heads: d.graphHeads(), EdgeIn: d.EdgeIn})
		}},
	}
}

// ginOfGraphs is GIN's convolution, or where edges have features GINE's.
func ginOfGraphs(d *design, width int) conv {
	mlp := layers.MLP{Widths: []int{width, d.Hidden, d.Hidden}, BatchNorm: true}
	if d.EdgeIn > 0 {
		return &layers.GINEConv{Net: mlp, EdgeIn: d.EdgeIn}
	}
	return &layers.GINConv{Net: mlp}
}

// monetKernels is how many Gaussians a MoNet has.
const monetKernels = 3

// gatedSteps is how many steps a gated convolution takes.
const gatedSteps = 2

// gatedOfGraphs is a gated convolution, whose states are as wide as its result.
func gatedOfGraphs(d *design, width int) conv {
	return fed(width, d.Hidden, &layers.GatedGraphConv{In: d.Hidden, Out: d.Hidden, Steps: gatedSteps, Kinds: d.EdgeKinds})
}

// fed is a convolution that reads rows of another width than the features are.
func fed(width, want int, c conv) conv {
	if width == want {
		return c
	}
	return &fedConv{layers.Linear{In: width, Out: want}, c}
}

// fedConv is a convolution that reads what a dense layer makes of the features.
type fedConv struct {
	Dense layers.Linear
	Conv  conv
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

// graphHeads is how many a convolution of a network of graphs has, which divide its result among them.
func (d *design) graphHeads() int {
	if d.Heads > 1 {
		return d.Heads
	}
	return someHeads(d.Hidden)
}

// GraphNames returns the names of the models that have networks of graphs, or of those alone that read of edges one of these.
func GraphNames(edges ...EdgesRead) []string {
	var names []string
	for _, m := range graphTable() {
		if len(edges) == 0 || slices.Contains(edges, m.Edges) {
			names = append(names, m.name)
		}
	}
	return names
}
