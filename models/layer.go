package models

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
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

// byLayers runs layers one after another, each for all nodes of a graph before the next, some nodes at a time. Beside the graph and the
// features it holds the rows of two layers, products of the older ones with the matrices that neighbours are read through, and what a chunk
// needs. Every row has the bits that it has if the layers run on the whole graph. The ranks of a team compute some of the rows of a layer each, and
// give them to the others.
type byLayers struct {
	whole Hop // the graph as each layer sees it
	depth int // of the layers the first so many
	rows  int // of a chunk; 0: it follows from the sizes
	team  *ranks.Team
}

// run returns what the layers make of the features x of all nodes, and of that end, if it is not nil. It works on t, one of [grad.NewEval].
// An error is one of the team.
func (b byLayers) run(t *grad.Tape, n *Network, x tensor.Array, end func(y *grad.Var) *grad.Var) (*tensor.Dense, error) {
	g := b.whole.Graph
	if _, ok := convOf(n.Layers[0]).(*monetLayer); ok && b.whole.Edge == nil {
		b.whole.Edge = rootsOfDegrees(g) // those of a part are others
	}
	if n.Codes != nil || n.Input != nil {
		x = b.enter(t, n, x)
	}
	all, sizes := numbersTo(g.NumNodes()), n.sizes(x.Shape()[1])
	for i, l := range n.Layers[:b.depth] {
		t.Reset()
		t.KeepProducts(x)
		out, cuts := shared{}, b.cuts(n, sizes[i])
		for lo, hi, last := cuts[b.team.Rank()], 0, cuts[b.team.Rank()+1]; lo < last; lo = hi {
			hi = b.chunk(lo, last, n, sizes[i])
			t.Reset()
			in := grad.Const(x)
			if dense, ok := x.(*tensor.Dense); ok {
				in = t.Input(dense) // what is gathered lies in the tape's memory
			}
			undo := t.Label(labels[min(i, len(labels)-1)])
			y := l.run(t, n.readEdges(t, []Hop{b.part(t, all[lo:hi])})[0], in).Y
			undo()
			if end != nil && i == b.depth-1 {
				y = end(y)
			}
			out.set(y.Value(), len(all), lo)
		}
		if b.team.Size() > 1 {
			if err := out.share(b.team, len(all), cuts); err != nil {
				return nil, err
			}
		}
		x = out.rows
	}
	t.Reset()
	t.KeepProducts(nil)
	return x.(*tensor.Dense), nil
}

// shared is the rows of a layer, of which a rank computes some.
type shared struct{ rows *tensor.Dense }

// set sets rows from lo on, of so many.
func (s *shared) set(y *tensor.Dense, all, lo int) {
	if s.rows == nil {
		s.rows = tensor.New(all, y.RowLen())
	}
	copy(s.rows.Data[lo*y.RowLen():], y.Data)
}

// share gives every rank all rows, of which each has those between two cuts.
func (s *shared) share(team *ranks.Team, all int, cuts []int) error {
	width := 0
	if s.rows != nil {
		width = s.rows.RowLen()
	}
	widths, err := team.All([]byte(strconv.Itoa(width)))
	if err != nil {
		return err
	}
	for _, text := range widths { // of a rank without rows it is 0
		w, _ := strconv.Atoi(string(text))
		width = max(width, w)
	}
	if s.rows == nil {
		s.rows = tensor.New(all, width)
	}
	var sizes []int
	for i, hi := range cuts[1:] {
		sizes = append(sizes, (hi-cuts[i])*width)
	}
	return ranks.Share(team, s.rows.Data, sizes)
}

// cuts returns where the rows of each rank begin, and the end of all, so that their work is alike.
func (b byLayers) cuts(n *Network, s size) []int {
	cuts, nodes := []int{0}, b.whole.Graph.NumNodes()
	bytes := b.bytes(n, s)
	for i := 1; i <= b.team.Size(); i++ {
		share := bytes(0, nodes) / b.team.Size() * i
		cuts = append(cuts, sort.Search(nodes, func(k int) bool { return bytes(0, k) >= share }))
	}
	cuts[b.team.Size()] = nodes
	return cuts
}

// enter returns what the first layer reads of all nodes.
func (b byLayers) enter(t *grad.Tape, n *Network, x tensor.Array) (out *tensor.Dense) {
	const usual = 1 << 14
	all := numbersTo(x.Shape()[0])
	for lo, hi := 0, 0; lo < len(all); lo = hi {
		hi = min(lo+cmp.Or(b.rows, usual), len(all))
		t.Reset()
		y := n.enter(t, n.Codes.read(t, grad.Const(datasets.GatherRows(x, all[lo:hi]))))
		if out == nil {
			out = tensor.New(len(all), y.Dim(1))
		}
		copy(out.Data[lo*y.Dim(1):], y.Value().Data)
	}
	return out
}

// part is the graph as a layer sees it for the sake of some nodes.
func (b byLayers) part(t *grad.Tape, nodes []int32) Hop {
	if len(nodes) == b.whole.Graph.NumNodes() {
		return b.whole
	}
	h := Hop{Graph: graph.Must(b.whole.Graph.Dst(nodes))}
	for _, x := range []struct{ from, to **grad.Var }{{&b.whole.Weight, &h.Weight}, {&b.whole.Edge, &h.Edge}, {&b.whole.Mask, &h.Mask}} {
		if *x.from != nil {
			*x.to = t.Input((*x.from).Value()).Rows(h.Graph.From().Edges)
		}
	}
	return h
}

// chunk returns where the chunk ends that begins with a node, at last if not before. It is a sixteenth of the work of a layer, or more if that is
// little, so that what it needs is small beside the rows of all nodes.
func (b byLayers) chunk(lo, last int, n *Network, s size) int {
	const parts, least = 16, 16 << 20
	if b.rows > 0 {
		return min(lo+b.rows, last)
	}
	bytes := b.bytes(n, s)
	most := max(least, bytes(0, b.whole.Graph.NumNodes())/parts)
	return lo + 1 + sort.Search(last-lo-1, func(k int) bool { return bytes(lo, lo+k+2) > most })
}

// bytes returns what says how many bytes a layer takes for the nodes from lo to hi.
func (b byLayers) bytes(n *Network, s size) func(lo, hi int) int {
	offsets := b.whole.Graph.In().Offsets
	row, edge := 4*(s.in+4*s.out*n.Settings.Heads), 16+8*n.Shape.EdgeIn // of a node and of an edge into one
	return func(lo, hi int) int { return (hi-lo)*row + int(offsets[hi]-offsets[lo])*edge }
}
