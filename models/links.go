package models

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LinkSettings are what a model of links is made from. A field that is zero stands for what its paper chose.
type LinkSettings struct {
	Hidden int  // width of the first layer, or of LightGCN of a node's row
	Out    int  `json:",omitempty"` // width of an autoencoder's rows
	Bias   bool `json:",omitempty"` // GAE: its convolutions have biases, as in PyG's example

	// GAE: a row also holds what the node's features say without its neighbours, and a score is higher the more links both ends have. Rows have three
	// numbers more, and [LinkNetwork.Asking] gives the row to multiply with others. With Directed a link leads from one node to the other, and its score
	// is not that of the link back; g of [LinkNetwork.Encode] has edges in their direction then.
	Degrees  bool `json:",omitempty"`
	Directed bool `json:",omitempty"` // with Degrees

	Layers int `json:",omitempty"` // LightGCN: propagations
}

// LinkModel is a model of links and its settings: [GAE], [VGAE] or [LightGCN].
type LinkModel interface {
	// link returns the name of the model, as [LinkNames] has it, and its settings.
	link() (name string, s LinkSettings)
}

// GAE is a graph autoencoder, two convolutions of width 32 and 16: Kipf and Welling, "Variational graph
// auto-encoders", 2016.
type GAE LinkSettings

func (m GAE) link() (string, LinkSettings) { return modelGAE, LinkSettings(m) }

// VGAE is a variational graph autoencoder, by the same authors and of the same widths as [GAE].
type VGAE LinkSettings

func (m VGAE) link() (string, LinkSettings) { return modelVGAE, LinkSettings(m) }

// LightGCN learns a row of 64 numbers for each node, which is propagated three times: He and others, "LightGCN:
// simplifying and powering graph convolution network for recommendation", SIGIR 2020.
type LightGCN LinkSettings

func (m LightGCN) link() (string, LinkSettings) { return modelLightGCN, LinkSettings(m) }

const (
	modelGAE      = "gae"
	modelVGAE     = "vgae"
	modelLightGCN = "lightgcn"
)

var linkNames = []string{modelGAE, modelVGAE, modelLightGCN}

// LinkNames returns the names of the models of links.
func LinkNames() []string { return slices.Clone(linkNames) }

// LinkNetwork gives each node a row; two nodes are linked if the inner product of their rows is large. Its JSON holds what it
// is made of, from which Init makes the layers again.
type LinkNetwork struct {
	Model    string // as [LinkNames] has it
	Settings LinkSettings
	In       int // features of a node, or of LightGCN nodes

	Codes []columns.Code `json:",omitempty"` // the columns among the features that hold codes, for whose words rows are learnt
	Words *coded         `json:"-"`          // these; nil: there are none

	Rows          *grad.Param     `json:"-"` // of LightGCN
	First, Second *layers.GCNConv `json:"-"` // of GAE
	Own           *layers.Linear  `json:"-"` // of GAE with Degrees
	Popular       *grad.Param     `json:"-"` // what the logarithms of a node's degrees and a constant add to its scores as a source, and as a target
	Variational   *layers.VGAE    `json:"-"` // of VGAE

	decoder layers.InnerProduct
	both    *bothWays // of the graph that Encode was last given, if that is directed
}

// bothWays is a directed graph, and the same with both directions of each edge.
type bothWays struct {
	sync.Mutex
	of, both *graph.Graph
}

// ways returns g with both directions of each edge.
func (m *bothWays) ways(g *graph.Graph) *graph.Graph {
	m.Lock()
	defer m.Unlock()
	if m.of != g {
		m.of, m.both = g, graph.Undirected(g)
	}
	return m.both
}

// NewLinks returns an initialised network for nodes of so many features, some of which may hold codes, or for LightGCN, which reads
// none, for so many nodes.
func NewLinks(m LinkModel, in int, seed uint64, codes ...columns.Code) (*LinkNetwork, error) {
	if m == nil {
		return nil, errors.New("models: the model is nil: name one, such as models.GAE{}")
	}
	name, s := m.link()
	switch {
	case name == modelLightGCN:
		s.Hidden, s.Layers = cmp.Or(s.Hidden, 64), cmp.Or(s.Layers, 3)
	default:
		s.Hidden, s.Out = cmp.Or(s.Hidden, 32), cmp.Or(s.Out, 16)
	}
	n := &LinkNetwork{Model: name, Settings: s, In: in, Codes: codes}
	if err := n.Check(); err != nil {
		return nil, err
	}
	n.Init(rand.New(rand.NewPCG(seed, 0)))
	return n, nil
}

// Check returns an error for what a network cannot be made of.
func (n *LinkNetwork) Check() error {
	const mostIn, mostLayers = 1 << 28, 64
	s, light := &n.Settings, n.Model == modelLightGCN
	switch {
	case !slices.Contains(linkNames, n.Model):
		return unnamed("model of links", n.Model, linkNames)
	case n.In < 1 || n.In > mostIn:
		return fmt.Errorf("models: In %d: want from 1 to %d features, or nodes", n.In, mostIn)
	case s.Hidden < 1 || s.Hidden > widest:
		return fmt.Errorf("models: Hidden %d: want from 1 to %d", s.Hidden, widest)
	case !light && (s.Out < 1 || s.Out > widest):
		return fmt.Errorf("models: Out %d: want from 1 to %d", s.Out, widest)
	case light && s.Out != 0:
		return fmt.Errorf("models: lightgcn has no setting Out: its rows are as wide as Hidden says")
	case light && (s.Layers < 1 || s.Layers > mostLayers):
		return fmt.Errorf("models: Layers %d: want from 1 to %d propagations", s.Layers, mostLayers)
	case !light && s.Layers != 0:
		return fmt.Errorf("models: %s has no setting Layers: it has two layers; lightgcn has it", n.Model)
	case s.Bias && n.Model != modelGAE:
		return fmt.Errorf("models: %s has no setting Bias; gae has it", n.Model)
	case s.Degrees && n.Model != modelGAE:
		return fmt.Errorf("models: %s has no setting Degrees; gae has it", n.Model)
	case s.Directed && !s.Degrees:
		return errors.New("models: Directed is for Degrees: an inner product alone is the same in both directions")
	case light && len(n.Codes) > 0:
		return fmt.Errorf("models: lightgcn reads no features, and there are %d columns of codes", len(n.Codes))
	}
	return checkCodes(n.Codes, n.In, "a node")
}

// Init makes the layers, whose Params it draws.
func (n *LinkNetwork) Init(rng *rand.Rand) {
	s := &n.Settings
	if n.Model == modelLightGCN {
		n.Rows = grad.NewParam(n.In, s.Hidden)
		n.Rows.Value.Normal(rng, 0, 0.1)
		return
	}
	n.Words = newCoded(rng, n.In, n.Codes, s.Hidden)
	in, _ := codedWidth(n.In, n.Codes, s.Hidden)
	if n.Model == modelVGAE {
		n.Variational = &layers.VGAE{In: in, Hidden: s.Hidden, Out: s.Out}
		n.Variational.Init(rng)
		return
	}
	n.First = &layers.GCNConv{In: in, Out: s.Hidden, NoBias: !s.Bias, Activation: grad.ReLU}
	n.Second = &layers.GCNConv{In: s.Hidden, Out: s.Out, NoBias: !s.Bias}
	n.First.Init(rng)
	n.Second.Init(rng)
	if !s.Degrees {
		return
	}
	n.Own, n.Popular = &layers.Linear{In: in, Out: s.Out}, grad.NewParam(3, 1)
	if s.Directed {
		n.Popular, n.both = grad.NewParam(3, 2), new(bothWays)
	}
	n.Own.Init(rng)
}

// Encode returns the nodes' rows, and of VGAE how far its Gaussians are from the prior, else nil. g has the known links, in
// both directions unless they are Directed; of autoencoders each node is its own neighbour. LightGCN reads no x.
func (n *LinkNetwork) Encode(t *grad.Tape, g *graph.Graph, x *grad.Var) (z, divergence *grad.Var) {
	if n.Rows != nil {
		return n.Propagation().Forward(t, g, t.Use(n.Rows)), nil
	}
	if x = n.Words.read(t, x); n.Variational != nil {
		return n.Variational.Encode(t, g, x)
	}
	along := g
	if n.both != nil {
		along = n.both.ways(g)
	}
	z = n.Second.Forward(t, along, n.First.Forward(t, along, x))
	if n.Popular == nil {
		return z, nil
	}
	liked := grad.Const(logDegrees(g)).MatMul(t.Use(n.Popular))
	last := liked.Dim(1) - 1
	ones := tensor.New(g.NumNodes(), 1)
	ones.Fill(1)
	return grad.Concat(z.Add(n.Own.Forward(t, x)), liked.Columns(last, last+1), grad.Const(ones), liked.Columns(0, 1)), nil
}

// logDegrees returns the logarithms of each node's degrees, out and in, and 1.
func logDegrees(g *graph.Graph) *tensor.Dense {
	x, in := tensor.New(g.NumNodes(), 3), g.InDegrees()
	for v, out := range g.OutDegrees() {
		row := x.Row(v)
		row[0], row[1], row[2] = tensor.Float(math.Log1p(float64(out))), tensor.Float(math.Log1p(float64(in[v]))), 1
	}
	return x
}

// Asking returns the row of a node by whose inner product with the rows of others these are scored as its targets: its own, but with
// [LinkSettings].Degrees, whose rows end in what the node adds to a score as a target, 1, and what it adds as a source.
func (n *LinkNetwork) Asking(row []tensor.Float) []tensor.Float {
	if n == nil || !n.Settings.Degrees {
		return row
	}
	row = slices.Clone(row)
	end := row[len(row)-3:]
	end[0], end[1], end[2] = 1, end[2], 0
	return row
}

// Forward returns the score of each edge of links, by the rows that Encode returns.
func (n *LinkNetwork) Forward(t *grad.Tape, links *graph.Graph, z *grad.Var) *grad.Var {
	if !n.Settings.Degrees {
		return n.decoder.Forward(t, links, z)
	}
	own := z.Dim(1) - 3
	liked := message.ApplyEdges(links, message.UAddV(z.Columns(own+2, own+3), message.OnDst(links, z.Columns(own, own+1))))
	return n.decoder.Forward(t, links, z.Columns(0, own)).Add(liked.Reshape(links.NumEdges(), 1))
}

// Loss returns the loss of an autoencoder's rows on pairs that are links and on pairs that are none.
func (n *LinkNetwork) Loss(t *grad.Tape, links, negatives *graph.Graph, z *grad.Var) *grad.Var {
	there := tensor.New(links.NumEdges(), 1)
	there.Fill(1)
	yes, no := n.Forward(t, links, z), n.Forward(t, negatives, z)
	return yes.BCE(grad.Const(there)).Add(no.BCE(grad.Const(tensor.New(negatives.NumEdges(), 1))))
}

// Propagation returns the layer that makes the rows of LightGCN's nodes of those that are learnt, and has its loss.
func (n *LinkNetwork) Propagation() *layers.LightGCN { return &layers.LightGCN{K: n.Settings.Layers} }

// Numbers is how many numbers, at least, the Params of a network have. They need not be there.
func (n *LinkNetwork) Numbers() int64 {
	in, _ := codedWidth(n.In, n.Codes, n.Settings.Hidden)
	total := int64(in)*int64(n.Settings.Hidden) + codedNumbers(n.In, n.Codes, n.Settings.Hidden)
	if n.Model != modelLightGCN {
		total += int64(n.Settings.Hidden) * int64(n.Settings.Out)
	}
	if n.Settings.Degrees {
		total += int64(in) * int64(n.Settings.Out)
	}
	return total
}

// String is the model's name for people.
func (n *LinkNetwork) String() string {
	return map[string]string{modelGAE: "graph autoencoder", modelVGAE: "variational graph autoencoder", modelLightGCN: "LightGCN"}[n.Model]
}
