package models

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// LinkSettings are what a model of links is made from. A field that is zero stands for what its paper chose.
type LinkSettings struct {
	Hidden int  // width of the first layer, or of LightGCN of a node's row
	Out    int  `json:",omitempty"` // width of an autoencoder's rows
	Bias   bool `json:",omitempty"` // GAE: its convolutions have biases, as in PyG's example
	Layers int  `json:",omitempty"` // LightGCN: propagations
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
	Variational   *layers.VGAE    `json:"-"` // of VGAE

	decoder layers.InnerProduct
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
}

// Encode returns the nodes' rows, and of VGAE how far its Gaussians are from the prior, else nil. g has the known links, in
// both directions; of autoencoders each node is its own neighbour. LightGCN reads no x.
func (n *LinkNetwork) Encode(t *grad.Tape, g *graph.Graph, x *grad.Var) (z, divergence *grad.Var) {
	if n.Rows != nil {
		return n.Propagation().Forward(t, g, t.Use(n.Rows)), nil
	}
	if x = n.Words.read(t, x); n.Variational != nil {
		return n.Variational.Encode(t, g, x)
	}
	return n.Second.Forward(t, g, n.First.Forward(t, g, x)), nil
}

// Forward returns the score of each edge of links, by the rows that Encode returns.
func (n *LinkNetwork) Forward(t *grad.Tape, links *graph.Graph, z *grad.Var) *grad.Var {
	return n.decoder.Forward(t, links, z)
}

// Loss returns the loss of an autoencoder's rows on pairs that are links and on pairs that are none.
func (n *LinkNetwork) Loss(t *grad.Tape, links, negatives *graph.Graph, z *grad.Var) *grad.Var {
	return n.decoder.Loss(t, links, negatives, z)
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
	return total
}

// String is the model's name for people.
func (n *LinkNetwork) String() string {
	return map[string]string{modelGAE: "graph autoencoder", modelVGAE: "variational graph autoencoder", modelLightGCN: "LightGCN"}[n.Model]
}
