package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/columns"
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

	// The columns among the features of a node, and of an edge, that hold codes: in place of each the network reads a row that it
	// learns for each word, and zeros for what is no word.
	Codes, EdgeCodes []columns.Code `json:",omitempty"`
}

// check returns an error for widths that cannot be.
func (s *Shape) check() error {
	const mostIn, mostOut = 1 << 28, 1 << 20
	if s.In < 1 || s.In > mostIn || s.Out < 1 || s.Out > mostOut {
		return fmt.Errorf("models: In %d and Out %d: want from 1 to %d features and from 1 to %d outputs", s.In, s.Out, mostIn, mostOut)
	}
	return checkCodes(s.Codes, s.In, "a node")
}

// read is the shape as the layers see it, the first of which is so wide: learnt rows stand where codes stood.
func (s Shape) read(first int) Shape {
	s.In, _ = codedWidth(s.In, s.Codes, first)
	if s.EdgeIn > 0 {
		s.EdgeIn, _ = codedWidth(s.EdgeIn, s.EdgeCodes, first)
	}
	return s
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
	values float64 // dropout of what attention sums
}

// newDesign returns the design of complete settings, for layers that read learnt rows in place of codes.
func newDesign(s Settings, shape Shape) *design {
	s.Dropout, s.AttentionDropout = grad.Preset(s.Dropout, 0), grad.Preset(s.AttentionDropout, 0)
	d := &design{Settings: s, Shape: shape.read(s.firstWidth())}
	if s.ValueDrop {
		d.values = s.Dropout
	}
	return d
}

// bare is the design of convolutions that have parts around them, which do not drop what they read themselves.
func (d *design) bare() *design {
	b := *d
	b.Dropout, b.Residual = 0, false
	return &b
}

// size is what one layer is to be.
type size struct {
	in, out int // widths; out is that of a head
	first   bool
	last    bool // it gives the outputs, or the rows that a head reads
	end     bool // no convolution follows
	bare    bool // what follows a convolution is not its own: the activation
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
	if s.last || s.bare {
		return ""
	}
	return a
}

// block is a layer with the parts around its convolution that [Settings] speaks of.
type block struct {
	Conv layer
	Skip *layers.Linear // of a residual through a matrix
	Norm norm

	identity bool // a residual as it is
	drop     float64
	last     bool // it gives the outputs: nothing follows the residual
}

// norm normalises the result of a layer.
type norm interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, x *grad.Var) *grad.Var
}

// newBlock returns a layer around a convolution. What the first one reads, features that may be sparse, goes through a
// matrix even if it is as wide as the result.
func newBlock(conv layer, d *design, s size) *block {
	b := &block{Conv: conv, drop: d.Dropout, last: s.last}
	width := s.out
	if !s.last {
		width *= d.Heads
	}
	switch raw := s.first && d.Input == 0; {
	case d.ResidualLinear || d.Residual && (raw || s.in != width):
		b.Skip = &layers.Linear{In: s.in, Out: width, NoBias: true} // the convolution has a bias
	case d.Residual:
		b.identity = true
	}
	switch {
	case s.last:
	case d.Norm == NormLayer:
		b.Norm = &layers.LayerNorm{Width: width}
	case d.Norm == NormBatch:
		b.Norm = &layers.BatchNorm{Width: width}
	}
	return b
}

// Init makes the Params of all parts.
func (b *block) Init(rng *rand.Rand) {
	b.Conv.Init(rng)
	if b.Skip != nil {
		initLinear(b.Skip, rng)
	}
	if b.Norm != nil {
		b.Norm.Init(rng)
	}
}

// initLinear makes the Params of a linear part. Its first weights are as small as PyTorch's, with which published
// settings were found: uniform between ±1/√In.
func initLinear(l *layers.Linear, rng *rand.Rand) {
	l.Init(rng)
	l.W.Value.KaimingUniform(rng, l.In, math.Sqrt(1./3))
}

func (b *block) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	out := b.Conv.run(t, h, x)
	if b.Skip != nil || b.identity {
		out.Y = out.Y.Add(b.residual(t, h, x))
	}
	if b.Norm != nil {
		out.Y = b.Norm.Forward(t, out.Y)
	}
	if !b.last {
		out.Y = t.Dropout(out.Y.ReLU(), b.drop)
	}
	return out
}

// residual returns what is added to the rows of the convolution. Sparse features have no rows to gather before the matrix.
func (b *block) residual(t *grad.Tape, h Hop, x *grad.Var) *grad.Var {
	few := h.Graph.Bipartite()
	if few && !x.IsSparse() {
		x, few = x.Rows(h.Graph.DstRows()), false
	}
	if b.Skip != nil {
		x = b.Skip.Forward(t, x)
	}
	if few {
		x = x.Rows(h.Graph.DstRows())
	}
	return x
}

// convOf returns the convolution of a layer.
func convOf(l layer) layer {
	if b, ok := l.(*block); ok {
		return b.Conv
	}
	return l
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

// fedLayer has a convolution that reads narrow, dense rows: of the features a dense layer
// makes them.
type fedLayer struct {
	Narrow *layers.Linear // of the first layer
	Conv   conv
	End    *layers.Linear // of the last, where the convolution does not give the classes itself
	drop   float64
}

// newFed returns a layer whose convolution, for rows of a width, is made by make.
func newFed(d *design, s size, make func(width int) conv) *fedLayer {
	l := &fedLayer{drop: d.Dropout}
	if s.first {
		l.Narrow = &layers.Linear{In: s.in, Out: d.Hidden}
		s.in = d.Hidden
	}
	l.Conv = make(s.in)
	return l
}

// Init makes the Params of all of them.
func (l *fedLayer) Init(rng *rand.Rand) {
	if l.Narrow != nil {
		l.Narrow.Init(rng)
	}
	l.Conv.Init(rng)
	if l.End != nil {
		l.End.Init(rng)
	}
}

func (l *fedLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if l.Narrow != nil {
		x = l.Narrow.Forward(t, x).ReLU()
	}
	out := l.Conv.Apply(t, h.Graph, layers.In{Src: x, Edge: h.Edge, Weight: h.Mask})
	if l.End != nil {
		out.Y = l.End.Forward(t, t.Dropout(out.Y, l.drop))
	}
	return out
}

// newNNConv is the edge network, of which a node hears itself besides.
func newNNConv(d *design, s size) layer {
	return newFed(d, s, func(width int) conv {
		return &layers.NNConv{
			In: width, Out: s.out, EdgeIn: d.EdgeIn, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear, Activation: inner(grad.ReLU, s),
		}
	})
}

// newGPS is a transformer's block on all nodes, whose dense layer at the end gives the classes.
func newGPS(d *design, s size) layer {
	l := newFed(d, s, func(width int) conv {
		return &layers.GPSConv{Width: width, Heads: someHeads(d.Hidden), EdgeIn: d.EdgeIn}
	})
	if s.last {
		l.End = &layers.Linear{In: d.Hidden, Out: s.out}
	}
	return l
}

// rgcnLayer has a matrix for each kind of edges, the loops' among them.
type rgcnLayer struct {
	layers.RGCNConv
	drop float64
}

func newRGCN(d *design, s size) layer {
	return &rgcnLayer{layers.RGCNConv{In: s.in, Out: s.out, Relations: d.EdgeKinds, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *rgcnLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Mask})
}
