package models

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// Shape is what a network reads of its data, and how much it gives.
type Shape struct {
	In        int // features of a node
	Out       int // classes, labels or numbers
	EdgeIn    int `json:",omitempty"` // features of an edge that the layers read; 0: none
	EdgeKinds int `json:",omitempty"` // kinds of edges that they read, that of loops among them; 0: none
}

// check returns an error for widths that cannot be.
func (s *Shape) check() error {
	const mostIn, mostOut = 1 << 28, 1 << 20
	if s.In < 1 || s.In > mostIn || s.Out < 1 || s.Out > mostOut {
		return fmt.Errorf("models: In %d and Out %d: want from 1 to %d features and from 1 to %d outputs", s.In, s.Out, mostIn, mostOut)
	}
	return nil
}

// Hop is where one layer works: a graph, or a block of it.
type Hop struct {
	Graph  *graph.Graph
	Weight *grad.Var // of its edges, normalised on the whole graph; nil: the model reads none, or all are 1 and the graph is whole
	Edge   *grad.Var // features of its edges; nil: the model reads none
	Mask   *grad.Var // of what its edges carry, for models that read no weights; nil: none
}

// norm is how a layer normalises: not at all where the edges have their weights on the
// whole graph already. The degrees of a block are not those of the graph.
func (h Hop) norm() layers.Norm {
	if h.Weight != nil {
		return layers.NormNone
	}
	return layers.NormSymmetric
}

// design is what the layers of a network are made from: settings in which nothing is left to a
// preset, and a dropout of 0 is 0.
type design struct {
	Settings
	Shape
}

// newDesign returns the design of complete settings.
func newDesign(s Settings, shape Shape) *design {
	s.Dropout, s.AttentionDropout = grad.Preset(s.Dropout, 0), grad.Preset(s.AttentionDropout, 0)
	return &design{s, shape}
}

// size is what one layer is to be.
type size struct {
	in, out     int // widths; out is that of a head
	first, last bool
}

// layer is one of a network.
type layer interface {
	Init(rng *rand.Rand)
	run(t *grad.Tape, h Hop, x *grad.Var) layers.Out
}

// conv is a convolution that a layer, or a network of graphs, is made of.
type conv interface {
	Init(rng *rand.Rand)
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}

// inner is the activation of the layers before the last.
func inner(a grad.Activation, s size) grad.Activation {
	if s.last {
		return ""
	}
	return a
}

// heads is how many a layer has.
func (d *design) heads(s size) int {
	if s.last {
		return d.OutHeads
	}
	return d.Heads
}

func (d *design) residual() layers.Residual {
	if d.Residual {
		return layers.ResidualIdentity
	}
	return layers.NoResidual
}

// someHeads is how many heads a convolution has that divides its result among them: four, or one of a width that
// four do not divide.
func someHeads(width int) int {
	const most = 4
	if width%most == 0 {
		return most
	}
	return 1
}
