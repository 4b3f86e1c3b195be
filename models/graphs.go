package models

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// GraphNetwork gives whole graphs their outputs. It reads graphs out as GIN's paper has it, whatever its convolutions: each layer's
// nodes, the features included, are added up, or read out in another way, and give each graph its
// scores, of which the sum is the result. The nodes that a pooling leaves go on. Its JSON holds what it is made of, from which
// Init makes the layers again.
type GraphNetwork struct {
	Model    string // as [GraphNames] has it
	Settings Settings
	Shape    Shape
	Readout  string `json:",omitempty"` // sum, mean, max, attention, set2set or sort (the first 16 nodes by their last feature); empty: sum
	Pool     string `json:",omitempty"` // after each convolution, four fifths of the nodes go on: topk or sag; empty: all do

	Codes     *coded `json:"-"` // of nodes, before the first convolution; nil: there are none
	EdgeCodes *coded `json:"-"` // of edges

	Convs  []conv              `json:"-"`
	Norms  []*layers.BatchNorm `json:"-"`
	Pools  []pooling           `json:"-"` // none, or one a convolution
	Reads  []reader            `json:"-"` // of the features, and of each convolution's nodes
	Scores []*layers.Linear    `json:"-"` // of what is read

	drop float64 // of the scores, as the authors' code has it
}

// NewGraphs returns an initialised network for graphs, whose readout and pooling may be empty. What a model's
// settings do not say is as GIN's authors have it: 5 layers of width 64, of which the features are the first, and
// a dropout of 0.5. Heads divide the width; there are 4 if they can, or 1.
func NewGraphs(m Model, s Shape, readout, pool string, seed uint64) (*GraphNetwork, error) {
	if m == nil {
		return nil, errNoModel
	}
	name, set := m.is()
	set.Hidden, set.Layers, set.Dropout = cmp.Or(set.Hidden, 64), cmp.Or(set.Layers, 5), cmp.Or(set.Dropout, 0.5)
	n := &GraphNetwork{Model: name, Settings: set, Shape: s, Readout: readout, Pool: pool}
	if err := n.Check(); err != nil {
		return nil, err
	}
	n.Init(rand.New(rand.NewPCG(seed, 0)))
	return n, nil
}

// row returns the row of the network's model; nil: it has no form for graphs.
func (n *GraphNetwork) row() *graphRow {
	all := graphTable()
	if i := slices.IndexFunc(all, func(g graphRow) bool { return g.name == n.Model }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Check returns an error for what a network cannot be made of.
func (n *GraphNetwork) Check() error {
	m, err := rowNamed(n.Model)
	if err != nil {
		return err
	}
	g, s := n.row(), n.Settings
	if g == nil {
		return fmt.Errorf("models: %s has no form for graphs; these have one: %s", m.Title, strings.Join(GraphNames(), ", "))
	}
	if err := s.has(m.Title, m.Settings); err != nil {
		return err
	}
	for _, o := range own {
		if o.name != "Heads" && o.given(&s) {
			return fmt.Errorf("models: networks of graphs have no setting %s: leave it out", o.name)
		}
	}
	s.Heads, s.OutHeads = max(1, s.Heads), 1
	if err := s.check(); err != nil {
		return err
	}
	switch {
	case s.Layers < 2:
		return fmt.Errorf("models: Layers %d: networks of graphs have at least 2, of which the features are the first", s.Layers)
	case s.Hidden%s.Heads != 0:
		return fmt.Errorf("models: Heads %d do not divide Hidden %d: in networks of graphs they share it", s.Heads, s.Hidden)
	}
	if err := n.Shape.check(); err != nil {
		return err
	}
	if err := g.Edges.Check(n.Model, n.Shape.EdgeIn, n.Shape.EdgeKinds); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if err := checkCodes(n.Shape.EdgeCodes, n.Shape.EdgeIn, "an edge"); err != nil {
		return err
	}
	return n.checkReadout()
}

// Init makes the layers, whose Params it draws. It panics for a network that [GraphNetwork.Check] returns an error for.
func (n *GraphNetwork) Init(rng *rand.Rand) {
	d, m := newDesign(n.Settings, n.Shape), n.row()
	if m == nil {
		panic(n.Check())
	}
	n.Codes = newCoded(rng, n.Shape.In, n.Shape.Codes, d.firstWidth())
	n.EdgeCodes = newCoded(rng, n.Shape.EdgeIn, n.Shape.EdgeCodes, d.firstWidth())
	width, read := d.In, n.readout()
	n.Convs, n.Norms, n.Pools, n.Reads, n.Scores, n.drop = nil, nil, nil, nil, nil, d.Dropout
	score := func() {
		n.Reads = append(n.Reads, read.make(width))
		n.Scores = append(n.Scores, &layers.Linear{In: read.wider * width, Out: d.Out})
	}
	score()
	for range d.Layers - 1 {
		n.Convs = append(n.Convs, m.make(d, width))
		n.Norms = append(n.Norms, &layers.BatchNorm{Width: d.Hidden})
		width = d.Hidden
		score()
		if p := n.pooling(width); p != nil {
			n.Pools = append(n.Pools, p)
		}
	}
	for i, l := range n.Convs {
		l.Init(rng)
		n.Norms[i].Init(rng)
	}
	for _, l := range n.Scores {
		l.Init(rng)
	}
	for _, l := range n.Reads {
		l.Init(rng)
	}
	for _, l := range n.Pools {
		l.Init(rng)
	}
}

// Forward returns a row of logits for each member of g, of the features of nodes and of edges.
func (n *GraphNetwork) Forward(t *grad.Tape, g *graph.Graph, in layers.In) *grad.Var {
	var y *grad.Var
	n.through(t, g, in, func(i int, read *grad.Var) {
		score := t.Dropout(n.Scores[i].Forward(t, read), n.drop)
		if y == nil {
			y = score
		} else {
			y = y.Add(score)
		}
	})
	return y
}

// Embed returns what the last layer reads out: a row for each member of g, which is what the network has learnt of it.
func (n *GraphNetwork) Embed(t *grad.Tape, g *graph.Graph, in layers.In) *grad.Var {
	var last *grad.Var
	n.through(t, g, in, func(_ int, read *grad.Var) { last = read })
	return last
}

// through calls use with what is read out of the features, and then of each layer.
func (n *GraphNetwork) through(t *grad.Tape, g *graph.Graph, in layers.In, use func(i int, read *grad.Var)) {
	x := n.Codes.read(t, in.Src)
	if n.Shape.EdgeIn == 0 {
		in.Edge = nil
	}
	in.Edge = n.EdgeCodes.read(t, in.Edge)
	use(0, n.Reads[0].Forward(t, g, x))
	for i, conv := range n.Convs {
		in.Src = x
		x = n.Norms[i].Forward(t, conv.Apply(t, g, in).Y).ReLU()
		if len(n.Pools) > 0 {
			kept := n.Pools[i].Forward(t, g, x)
			x, g, in.Edge = kept.Y, kept.Graph, keptEdges(in.Edge, kept.Graph)
		}
		use(i+1, n.Reads[i+1].Forward(t, g, x))
	}
}

// Numbers is how many numbers, at least, the Params of a network have. They need not be there.
func (n *GraphNetwork) Numbers() int64 {
	s := n.Shape.read(n.Settings.firstWidth())
	in, out, hidden, more := int64(s.In), int64(s.Out), int64(n.Settings.Hidden), int64(n.Settings.Layers-2)
	inside := int64(0) // matrices from width to width of a convolution, beside the first
	switch n.Model {
	case modelGIN, modelEdgeConv:
		inside = 1
	case modelGatedGraph:
		inside = gruSquares - 1 // after the first no dense layer stands before it
	case modelGPS, modelPNA:
		inside = gpsSquares
	}
	codes := codedNumbers(n.Shape.In, n.Shape.Codes, n.Settings.firstWidth()) + codedNumbers(n.Shape.EdgeIn, n.Shape.EdgeCodes, n.Settings.firstWidth())
	return codes + in*(out+hidden) + more*hidden*hidden + (more+1)*(hidden*out+inside*hidden*hidden) + n.ofEdges(s) + n.ofReadout(s)
}

// ofEdges is how many numbers, at least, the convolutions have for what they read of edges, if they see such a shape.
func (n *GraphNetwork) ofEdges(s Shape) int64 {
	hidden, edges, kinds, convs := int64(n.Settings.Hidden), int64(s.EdgeIn), int64(s.EdgeKinds), int64(n.Settings.Layers-1)
	read := int64(s.In) + (convs-1)*hidden // columns, of all convolutions
	switch n.Model {
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
