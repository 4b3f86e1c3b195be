package models

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
)

// Settings are what the layers of a network are made from. A field that is zero stands for what the
// model's paper chose, which the model's own documentation says; [SettingsOf] returns the numbers. A
// dropout that is to be 0 is [grad.Zero]. A model has only some of the settings: [New] returns an
// error for one that it does not have.
//
// Norm, Residual, ResidualLinear, Input and Output are the parts of deeper networks. A network that has any
// of them is, from the features to the outputs:
//
//  1. with Input, a linear layer, then dropout;
//  2. for each layer: the convolution, + the residual, the norm, ReLU, dropout;
//  3. with Output, a linear layer, which gives the outputs. The head of a network of edges takes its place.
//
// Without Output the last convolution and its residual give the outputs. Features are not dropped, unlike in a
// network without these parts, whose layers drop what they read. GAT and GATv2 with Residual alone are networks
// without them: their papers have residuals.
type Settings struct {
	Hidden           int     // width of a hidden layer, or of each of its heads
	Layers           int     // 2, but 1 of SGC; networks of graphs have 5, of which the features are the first
	Heads            int     // of the layers before the last, side by side; GAT, GATv2, Transformer and SuperGAT have them
	OutHeads         int     // of the last layer, of which the mean is taken; of the same models
	Dropout          float64 // of what each layer reads, or where it is said above
	AttentionDropout float64 // of attention, of the models with heads; 0: as Dropout
	Residual         bool    // each layer adds what it reads to its result, through a matrix if the widths differ
	NoBias           bool    // GCN and MLP: no biases, as in their papers' formulas
	ValueDrop        bool    // GAT: dropout of what attention sums too, as in its authors' program
	Start            Start   `json:",omitempty"` // GAT: where its Params begin

	Norm           Norm `json:",omitempty"` // of each layer's result; empty: none
	ResidualLinear bool `json:",omitempty"` // Residual, always through a matrix
	Input          int  `json:",omitempty"` // width of a linear layer before the first convolution; 0: none
	Output         bool `json:",omitempty"` // a linear layer after the last convolution, which is as wide as the others
}

// Norm says how the result of each layer is normalised.
type Norm string

const (
	// NormLayer takes the mean off each row and divides it by its deviation: [layers.LayerNorm].
	NormLayer Norm = "layer"
	// NormBatch does so with each column: [layers.BatchNorm]. A step on all nodes then computes the rows of all of
	// them, whichever train, and a step on a batch normalises the rows that the batch needs. Evaluations use the
	// running statistics.
	NormBatch Norm = "batch"
)

// Start says how the first values of GAT's Params are drawn.
type Start string

const (
	// StartGlorot is uniform with gain 1 over the width of all heads, as layers.GATConv has it. It is the default.
	StartGlorot Start = "glorot"
	// StartHeads is uniform with gain 1 over the width of one head, as in the program of GAT's authors.
	StartHeads Start = "glorot-heads"
	// StartNormal is normal with gain √2, as in DGL's example.
	StartNormal Start = "xavier-normal"
)

// The models that others name.
const (
	modelGAT        = "gat"
	modelGATv2      = "gatv2"
	modelGIN        = "gin"
	modelGCN2       = "gcn2"
	modelPNA        = "pna"
	modelEdgeConv   = "edgeconv"
	modelH2GCN      = "h2gcn"
	modelNNConv     = "nnconv"
	modelGatedGraph = "gatedgraph"
	modelRGCN       = "rgcn"
	modelMoNet      = "monet"
	modelGPS        = "gps"
)

// own are the settings that only some models have, by the names of their fields.
var own = []struct {
	name  string
	given func(s *Settings) bool
	unset func(s *Settings)
}{
	{"Heads", func(s *Settings) bool { return s.Heads != 0 && s.Heads != 1 }, func(s *Settings) { s.Heads = 0 }},
	{"OutHeads", func(s *Settings) bool { return s.OutHeads != 0 && s.OutHeads != 1 }, func(s *Settings) { s.OutHeads = 0 }},
	{"AttentionDropout", func(s *Settings) bool { return s.AttentionDropout != 0 }, func(s *Settings) { s.AttentionDropout = 0 }},
	{"Residual", func(s *Settings) bool { return s.Residual }, func(s *Settings) { s.Residual = false }},
	{"NoBias", func(s *Settings) bool { return s.NoBias }, func(s *Settings) { s.NoBias = false }},
	{"ValueDrop", func(s *Settings) bool { return s.ValueDrop }, func(s *Settings) { s.ValueDrop = false }},
	{"Start", func(s *Settings) bool { return s.Start != "" }, func(s *Settings) { s.Start = "" }},
	{"Norm", func(s *Settings) bool { return s.Norm != "" }, func(s *Settings) { s.Norm = "" }},
	{"ResidualLinear", func(s *Settings) bool { return s.ResidualLinear }, func(s *Settings) { s.ResidualLinear = false }},
	{"Input", func(s *Settings) bool { return s.Input != 0 }, func(s *Settings) { s.Input = 0 }},
	{"Output", func(s *Settings) bool { return s.Output }, func(s *Settings) { s.Output = false }},
}

// hasParts reports whether a network of that model has parts around its convolutions.
func (s *Settings) hasParts(model string) bool {
	own := model == modelGAT || model == modelGATv2 // whose layers have a residual inside
	return s.Norm != "" || s.ResidualLinear || s.Input != 0 || s.Output || s.Residual && !own
}

// only returns those of some settings that a model has, which has these of its own.
func (s Settings) only(has []string) Settings {
	for _, o := range own {
		if !slices.Contains(has, o.name) {
			o.unset(&s)
		}
	}
	return s
}

// or is filled, with what all models have for what is zero then.
func (s Settings) or(preset Settings, has []string) Settings {
	s = s.filled(preset)
	s.Layers = cmp.Or(s.Layers, 2)
	s.Heads = cmp.Or(s.Heads, 1)
	s.OutHeads = cmp.Or(s.OutHeads, 1)
	s.Dropout = cmp.Or(s.Dropout, grad.Zero)
	if slices.Contains(has, "AttentionDropout") {
		s.AttentionDropout = cmp.Or(s.AttentionDropout, s.Dropout)
	}
	if slices.Contains(has, "Start") {
		s.Start = cmp.Or(s.Start, StartGlorot)
	}
	return s
}

// firstWidth is how wide the first layer is, all heads together.
func (s *Settings) firstWidth() int { return s.Hidden * max(1, s.Heads) }

// filled returns the settings in which those of preset stand for what is zero.
func (s Settings) filled(preset Settings) Settings {
	to, from := reflect.ValueOf(&s).Elem(), reflect.ValueOf(preset)
	for i := range to.NumField() {
		if f := to.Field(i); f.IsZero() {
			f.Set(from.Field(i))
		}
	}
	return s
}

// widest is how wide a layer can be: beyond it the weights alone are gigabytes.
const widest = 1 << 16

// check returns an error for complete settings that cannot be.
func (s *Settings) check() error {
	switch {
	case s.Hidden < 1 || s.Heads < 1 || s.OutHeads < 1 || s.Layers < 1:
		return fmt.Errorf("models: Hidden %d, Heads %d, OutHeads %d, Layers %d: each must be at least 1, or 0 for the model's own", s.Hidden, s.Heads, s.OutHeads, s.Layers)
	case s.Hidden > widest || s.Heads > widest || s.OutHeads > widest || s.Hidden*s.Heads > widest:
		return fmt.Errorf("models: Hidden %d with Heads %d and OutHeads %d: a layer has at most %d columns", s.Hidden, s.Heads, s.OutHeads, widest)
	case s.Layers > 100:
		return fmt.Errorf("models: Layers %d: there can be at most 100", s.Layers)
	case !(s.Dropout >= 0 && s.Dropout < 1) || !(s.AttentionDropout >= 0 && s.AttentionDropout < 1):
		return fmt.Errorf("models: Dropout %v and AttentionDropout %v: they must be at least 0 and less than 1", s.Dropout, s.AttentionDropout)
	case s.Norm != "" && s.Norm != NormLayer && s.Norm != NormBatch:
		return fmt.Errorf("models: Norm %.60q: there is no such name; the choices are %s and %s, or leave it out", string(s.Norm), NormLayer, NormBatch)
	case s.Input < 0 || s.Input > widest:
		return fmt.Errorf("models: Input %d: it must be the width of a linear layer, at most %d, or 0 for none", s.Input, widest)
	case s.Start != "" && s.Start != StartGlorot && s.Start != StartHeads && s.Start != StartNormal:
		return fmt.Errorf("models: Start %.60q: there is no such name; the choices are %s, %s and %s", string(s.Start), StartGlorot, StartHeads, StartNormal)
	}
	return nil
}
