package models

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Network is a stack of layers of one model, of which the last gives the outputs of nodes, or, with a head
// after it, of edges. Its JSON holds what it is made of, from which Init makes the layers again.
type Network struct {
	Model    string // as [Names] has it
	Settings Settings
	Shape    Shape

	Codes     *coded         `json:"-"` // of nodes, before all else; nil: there are none
	EdgeCodes *coded         `json:"-"` // of edges, before all that reads these
	Input     *layers.Linear `json:"-"` // before the layers, of [Settings].Input
	Layers    []layer        `json:"-"`
	Output    *layers.Linear `json:"-"`          // after them, of [Settings].Output
	Head      *Pairs         `json:",omitempty"` // of a network that tells edges apart

	room room // for evaluations, from one to the next
}

// New returns an initialised network for nodes. Each node must be its own neighbour, but where the graph says
// otherwise on purpose: [graph.WithSelfLoops].
func New(m Model, s Shape, seed uint64) (*Network, error) { return newNetwork(m, s, nil, seed) }

// NewEdges returns an initialised network for edges: layers as wide as those before the last of [New], and a head that reads
// the rows of both ends.
func NewEdges(m Model, s Shape, head Pairs, seed uint64) (*Network, error) {
	return newNetwork(m, s, &head, seed)
}

var errNoModel = errors.New("models: the model is nil: name one, such as models.GAT{}")

func newNetwork(m Model, s Shape, head *Pairs, seed uint64) (*Network, error) {
	if m == nil {
		return nil, errNoModel
	}
	n := &Network{Model: TraitsOf(m).Name, Settings: SettingsOf(m), Shape: s, Head: head}
	if head != nil {
		head.In = n.Settings.Hidden * n.Settings.Heads
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	n.Init(rand.New(rand.NewPCG(seed, 0)))
	return n, nil
}

// Check returns an error for what a network cannot be made of.
func (n *Network) Check() error {
	m, err := rowNamed(n.Model)
	if err != nil {
		return err
	}
	s := &n.Settings
	if err := s.has(m.Title, m.Settings); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	if n.Model == modelH2GCN && (s.Layers < 2 || s.Layers > 7) {
		return fmt.Errorf("models: Layers %d: H2GCN has a dense layer and from 1 to 6 rounds, each twice as wide as the one before: want 2 to 7", s.Layers)
	}
	if err := n.Shape.check(); err != nil {
		return err
	}
	if err := m.Edges.Check(n.Model, n.Shape.EdgeIn, n.Shape.EdgeKinds); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if n.Head != nil {
		if err := n.Head.check(n.rowWidth()); err != nil {
			return fmt.Errorf("models: %w", err)
		}
	}
	return n.checkEdgeCodes()
}

// checkEdgeCodes returns an error for codes that what reads edges has no columns for.
func (n *Network) checkEdgeCodes() error {
	width := n.edgeWidth()
	if h := n.Head; len(n.Shape.EdgeCodes) > 0 && h != nil && h.Own > 0 && n.Shape.EdgeIn > 0 && h.Own != n.Shape.EdgeIn {
		return fmt.Errorf("models: a head that reads %d features of edges, after layers that read %d: want as many, for the codes among them", h.Own, n.Shape.EdgeIn)
	}
	return checkCodes(n.Shape.EdgeCodes, width, "an edge")
}

// edgeWidth is how many features of edges the layers or the head read, codes among them.
func (n *Network) edgeWidth() int {
	if n.Shape.EdgeIn == 0 && n.Head != nil {
		return n.Head.Own
	}
	return n.Shape.EdgeIn
}

// ownWidth is how many columns the head reads of an edge.
func (n *Network) ownWidth() int {
	if n.Head.Own == 0 {
		return 0
	}
	own, _ := codedWidth(n.Head.Own, n.Shape.EdgeCodes, n.Settings.firstWidth())
	return own
}

// Init makes the layers and the head, whose Params it draws. It panics for a network that [Network.Check] returns an error for.
func (n *Network) Init(rng *rand.Rand) {
	m, err := rowNamed(n.Model)
	if err != nil {
		panic(err)
	}
	d := newDesign(n.Settings, n.Shape)
	n.Codes = newCoded(rng, n.Shape.In, n.Shape.Codes, n.Settings.firstWidth())
	n.EdgeCodes = newCoded(rng, n.edgeWidth(), n.Shape.EdgeCodes, n.Settings.firstWidth())
	n.Input, n.Layers, n.Output = nil, nil, nil
	if d.Settings.Input > 0 {
		n.Input = &layers.Linear{In: d.In, Out: d.Settings.Input}
		initLinear(n.Input, rng)
	}
	bare := d.bare()
	for _, s := range n.sizes(d.In) {
		var l layer
		if s.bare {
			l = newBlock(m.make(bare, s), d, s)
		} else {
			l = m.make(d, s)
		}
		l.Init(rng)
		d.Start.redraw(l, rng)
		n.Layers = append(n.Layers, l)
	}
	switch {
	case n.Head != nil:
		n.Head.init(rng, d.Dropout, n.ownWidth(), d.Out)
	case d.Settings.Output:
		n.Output = &layers.Linear{In: n.rowWidth(), Out: d.Out}
		initLinear(n.Output, rng)
	}
}

// sizes returns what the layers are to be, of which the first reads rows of a width.
func (n *Network) sizes(in int) []size {
	set := &n.Settings
	s := size{in: cmp.Or(set.Input, in), out: set.Hidden, bare: set.hasParts(n.Model)}
	var all []size
	for i := range set.Layers {
		s.first, s.end = i == 0, i == set.Layers-1
		if s.last = s.end && !set.Output; s.last {
			s.out = n.rowWidth()
		}
		all = append(all, s)
		s.in = set.Hidden * set.Heads
	}
	return all
}

// rowWidth is how wide the last layer's rows are.
func (n *Network) rowWidth() int {
	if n.Head != nil || n.Settings.Output {
		return n.Settings.Hidden * n.Settings.Heads
	}
	return n.Shape.Out
}

// depth is how many layers make what a network has learnt of a node: all before the outputs.
func (n *Network) depth() int {
	if n.Head != nil || n.Settings.Output {
		return len(n.Layers)
	}
	return max(1, len(n.Layers)-1)
}

// redraw gives the Params of GAT's layers other first values.
func (s Start) redraw(l layer, rng *rand.Rand) {
	conv, ok := convOf(l).(*gatLayer)
	if !ok || s == StartGlorot {
		return
	}
	attention := []*grad.Param{conv.AttnL, conv.AttnR}
	if s == StartHeads {
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

// Traits returns what the network's model is like.
func (n *Network) Traits() Traits {
	m, err := rowNamed(n.Model)
	if err != nil {
		panic(err)
	}
	return m.Traits
}

// Pass is what a forward computes: where each layer works, and what the first one
// reads.
type Pass struct {
	Hops []Hop
	X    *grad.Var // features, sparse or dense, codes among them
	Ends *Ends     // of the edges that are told apart; nil: nodes are
	Rows []int32   // of the result; nil: all
}

// Whole is a pass over a whole graph.
func (n *Network) Whole(h Hop, x *grad.Var) Pass {
	return Pass{Hops: slices.Repeat([]Hop{h}, len(n.Layers)), X: x}
}

// Forward returns what the layers give the nodes of a whole graph: their logits, or, where a head follows, the rows that
// it reads. A model that counts the weights of edges normalises those of in; another scales by them what edges carry.
func (n *Network) Forward(t *grad.Tape, g *graph.Graph, in layers.In) *grad.Var {
	h := Hop{Graph: g, Edge: in.Edge}
	switch {
	case in.Weight == nil:
	case n.Traits().Weighted:
		h.Weight = layers.SymmetricWeights(g, in.Weight)
	default:
		h.Mask = in.Weight
	}
	return n.Run(t, n.Whole(h, in.Src))
}

// Run returns the logits of a pass.
func (n *Network) Run(t *grad.Tape, p Pass) *grad.Var {
	return n.runRead(t, p, n.Codes.read(t, p.X))
}

// runRead is Run of what was made of the features of nodes.
func (n *Network) runRead(t *grad.Tape, p Pass, x *grad.Var) *grad.Var {
	return n.finish(t, p, n.through(t, p.Hops, x))
}

// finish returns the logits of a pass of what its layers give.
func (n *Network) finish(t *grad.Tape, p Pass, y *grad.Var) *grad.Var {
	if p.Ends != nil {
		of := *p.Ends
		of.Own = n.EdgeCodes.read(t, of.Own)
		y = n.Head.Forward(t, y, &of)
	}
	if p.Rows != nil {
		y = y.Rows(p.Rows)
	}
	if n.Output != nil {
		y = n.Output.Forward(t, y)
	}
	return y
}

// labels are what errors call the layers.
var labels = [...]string{"layer 1", "layer 2", "layer 3", "layer 4", "a later layer"}

// Through returns the result of the first layers, one for each hop.
func (n *Network) Through(t *grad.Tape, hops []Hop, x *grad.Var) *grad.Var {
	return n.through(t, hops, n.Codes.read(t, x))
}

// through is Through of what was made of the features of nodes.
func (n *Network) through(t *grad.Tape, hops []Hop, x *grad.Var) *grad.Var {
	x = n.enter(t, x)
	for i, h := range n.readEdges(t, hops) {
		undo := t.Label(labels[min(i, len(labels)-1)])
		x = n.Layers[i].run(t, h, x).Y
		undo()
	}
	return x
}

// enter returns what the first layer reads.
func (n *Network) enter(t *grad.Tape, x *grad.Var) *grad.Var {
	if n.Input == nil {
		return x
	}
	return t.Dropout(n.Input.Forward(t, x), grad.Preset(n.Settings.Dropout, 0))
}

// readEdges returns the hops with learnt rows in place of the codes of edges. What several layers read is made once.
func (n *Network) readEdges(t *grad.Tape, hops []Hop) []Hop {
	if n.EdgeCodes == nil || n.Shape.EdgeIn == 0 {
		return hops
	}
	hops = slices.Clone(hops)
	var raw, made *grad.Var
	for i := range hops {
		if e := hops[i].Edge; e == nil || e != raw {
			raw, made = e, n.EdgeCodes.read(t, e)
		}
		hops[i].Edge = made
	}
	return hops
}

// Hidden returns what the last layer sees, which is what the network has learnt
// of each node; of a single layer the logits.
func (n *Network) Hidden(t *grad.Tape, h Hop, x *grad.Var) *grad.Var {
	return n.Through(t, slices.Repeat([]Hop{h}, n.depth()), x)
}

// Attend returns what each layer returns on the whole graph, attention included.
func (n *Network) Attend(t *grad.Tape, h Hop, x *grad.Var) []layers.Out {
	return n.attend(t, h, n.Codes.read(t, x))
}

// attend is Attend of what was made of the features of nodes.
func (n *Network) attend(t *grad.Tape, h Hop, x *grad.Var) []layers.Out {
	var outs []layers.Out
	x = n.enter(t, x)
	h = n.readEdges(t, []Hop{h})[0]
	for _, l := range n.Layers {
		out := l.run(t, h, x)
		outs = append(outs, out)
		x = out.Y
	}
	return outs
}

// String says what the network is made of.
func (n *Network) String() string {
	text := n.layersSay(n.rowWidth()) + n.partsSay()
	switch {
	case n.Head != nil:
		text += fmt.Sprintf("; %s, then %d", n.Head.says(), n.Shape.Out)
	case n.Settings.Output:
		text += fmt.Sprintf("; a linear layer at the end, of width %d", n.Shape.Out)
	}
	return text
}

// partsSay says what is around the layers, each after a semicolon.
func (n *Network) partsSay() string {
	s, text := &n.Settings, ""
	if s.Input > 0 {
		text += fmt.Sprintf("; a linear layer at the beginning, of width %d", s.Input)
	}
	switch {
	case s.ResidualLinear:
		text += "; residuals through a matrix"
	case s.Residual:
		text += "; residuals"
	}
	if s.Norm != "" {
		text += fmt.Sprintf("; %s norm", s.Norm)
	}
	return text
}

// layersSay says what the layers are, of which the last has so many outputs.
func (n *Network) layersSay(outputs int) string {
	s, m := &n.Settings, n.Traits()
	if !m.Has("Heads") {
		var widths []string
		for range s.Layers - 1 {
			widths = append(widths, fmt.Sprint(s.Hidden))
		}
		return fmt.Sprintf("%s, layers of width %s", m.Title, strings.Join(append(widths, fmt.Sprint(outputs)), ", then "))
	}
	text := m.Title + ", "
	switch {
	case s.Output && s.Layers == 1:
		return text + fmt.Sprintf("%d heads of width %d", s.Heads, s.Hidden)
	case s.Output:
		return text + fmt.Sprintf("%d layers with %d heads of width %d", s.Layers, s.Heads, s.Hidden)
	case s.Layers == 1:
		heads := "heads"
		if s.OutHeads == 1 {
			heads = "head"
		}
		return text + fmt.Sprintf("%d %s of width %d", s.OutHeads, heads, outputs)
	case s.Layers == 2:
		text += fmt.Sprintf("%d heads of width %d, then ", s.Heads, s.Hidden)
	default:
		text += fmt.Sprintf("%d layers with %d heads of width %d, then ", s.Layers-1, s.Heads, s.Hidden)
	}
	return text + fmt.Sprintf("%d of width %d", s.OutHeads, outputs)
}

// Numbers is how many numbers, at least, the Params of a network have. They need not be there: files are not to be
// trusted with memory.
func (n *Network) Numbers() int64 {
	d := newDesign(n.Settings, n.Shape)
	m, err := rowNamed(n.Model)
	if err != nil {
		return 0
	}
	total := int64(d.Settings.Input)*int64(d.In) + codedNumbers(n.Shape.In, n.Shape.Codes, n.Settings.firstWidth()) + codedNumbers(n.edgeWidth(), n.Shape.EdgeCodes, n.Settings.firstWidth())
	for i, s := range n.sizes(d.In) {
		wide := int64(s.out) * int64(d.heads(s))
		switch {
		case n.Model == modelNNConv:
			total += 2 * int64(d.Hidden) * wide
			if i == 0 {
				total += int64(d.Hidden) * int64(s.in)
			}
		case n.Model == modelGCN2 && d.Layers > 1: // the convolutions stand inside
			total += int64(s.in) * wide
		case m.deep:
			total += int64(d.Hidden) * (int64(s.in) + wide)
		default:
			total += int64(s.in) * wide
		}
		total += n.inside(s, wide, i == 0) + n.ofEdges(int64(d.EdgeIn), s, wide)
		if s.bare { // the matrix of the residual
			if b := newBlock(nil, d, s); b.Skip != nil {
				total += int64(b.Skip.In) * int64(b.Skip.Out)
			}
		}
	}
	if d.Settings.Output && n.Head == nil {
		total += int64(n.rowWidth()) * int64(d.Out)
	}
	if n.Model == modelH2GCN { // a round has no Params, and the last layer reads all of them
		total = int64(d.Hidden)*(int64(d.In)+int64(n.rowWidth())*(1<<d.Layers-1)) + codedNumbers(n.Shape.In, n.Shape.Codes, n.Settings.firstWidth())
	}
	if h := n.Head; h != nil {
		total += int64(h.In) * (2*int64(h.In) + int64(n.ownWidth()) + int64(d.Out))
	}
	return total
}

// inside is how many numbers, at least, a layer has that leads from its width to its width, beside those that lead in and out.
func (n *Network) inside(s size, wide int64, first bool) int64 {
	h := int64(n.Settings.Hidden)
	switch {
	case n.Model == modelGCN2 && first:
		return gcn2Depth * h * h
	case n.Model == modelGIN && n.Shape.EdgeIn > 0 && first: // after what narrows the features
		return h * h
	case n.Model == modelGatedGraph:
		return gruSquares * h * h
	case n.Model == modelPNA:
		return 2*h*h + 12*h*wide
	case n.Model == modelGPS:
		return gpsSquares * h * h
	}
	return 0
}

// How many matrices from width to width there are in a GRU, and in a block of GPS: of attention and of its perceptron.
const (
	gruSquares = 6
	gpsSquares = 8
)

// ofEdges is how many numbers, at least, a layer has for so many columns of edges and their kinds, beside those of one kind.
func (n *Network) ofEdges(edges int64, s size, wide int64) int64 {
	kinds, hidden := int64(n.Shape.EdgeKinds), int64(n.Settings.Hidden)
	switch n.Model {
	case modelRGCN:
		return max(0, kinds-1) * int64(s.in) * wide
	case modelGatedGraph:
		return max(0, kinds-1) * hidden * hidden
	case modelNNConv:
		return edges * hidden * wide
	case modelGIN, modelGPS:
		return edges * hidden
	case modelMoNet:
		return edges
	}
	return edges * min(wide, hidden) // of PNA an encoder is as wide as what it reads
}

// Fits returns an error for Params of so many numbers that a file of that many bytes cannot hold them. A number has two
// bytes at least.
func Fits(numbers, bytes int64) error {
	if numbers > bytes/2 {
		return fmt.Errorf("at least %d numbers, more than its %d bytes hold", numbers, bytes)
	}
	return nil
}
