package models

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Model is a kind of network and its settings: one of the types of this package that are made from
// [Settings], such as GAT{Hidden: 64, Layers: 3}.
type Model interface {
	// is returns the name of the model, as [Names] has it, and its settings.
	is() (name string, s Settings)
}

// GAT attends to neighbours: Veličković and others, "Graph attention networks", ICLR 2018. It is 8 heads of
// width 8, then 1, with a dropout of 0.6. The program of its authors has besides ValueDrop and StartHeads.
type GAT Settings

func (m GAT) is() (string, Settings) { return "gat", Settings(m) }

// GATv2 ranks neighbours otherwise for each node: Brody, Alon and Yahav, "How attentive are graph attention
// networks?", ICLR 2022. Its sizes are those of [GAT].
type GATv2 Settings

func (m GATv2) is() (string, Settings) { return "gatv2", Settings(m) }

// GCN takes a weighted mean of neighbours: Kipf and Welling, "Semi-supervised classification with graph
// convolutional networks", ICLR 2017. Its hidden layer is 16 wide, with a dropout of 0.5.
type GCN Settings

func (m GCN) is() (string, Settings) { return "gcn", Settings(m) }

// SAGE adds the mean of neighbours to a node's own row: Hamilton, Ying and Leskovec, "Inductive representation
// learning on large graphs", NIPS 2017. Its sizes are those of [GCN].
type SAGE Settings

func (m SAGE) is() (string, Settings) { return "sage", Settings(m) }

// GIN sums neighbours and has a perceptron after it: Xu and others, "How powerful are graph neural networks?",
// ICLR 2019. Where edges have features it is GINE: Hu and others, "Strategies for pre-training graph neural
// networks", ICLR 2020. Its sizes are those of [GCN].
type GIN Settings

func (m GIN) is() (string, Settings) { return "gin", Settings(m) }

// SGC is one layer that looks two hops far: Wu and others, "Simplifying graph convolutional networks", ICML 2019.
// It has one layer and no dropout.
type SGC Settings

func (m SGC) is() (string, Settings) { return "sgc", Settings(m) }

// APPNP spreads what dense layers make of each node: Gasteiger, Bojchevski and Günnemann, "Predict then
// propagate", ICLR 2019. Its hidden layer is 64 wide, with a dropout of 0.5.
type APPNP Settings

func (m APPNP) is() (string, Settings) { return "appnp", Settings(m) }

// Transformer attends to neighbours by inner products: Shi and others, "Masked label prediction", IJCAI 2021. Its sizes are those
// of [GAT].
type Transformer Settings

func (m Transformer) is() (string, Settings) { return "transformer", Settings(m) }

// TAG reads neighbours one and two hops away apart: Du and others, "Topology adaptive graph convolutional
// networks", 2017. Its sizes are those of [GCN].
type TAG Settings

func (m TAG) is() (string, Settings) { return "tag", Settings(m) }

// Cheb is ChebNet with three terms: Defferrard, Bresson and Vandergheynst, "Convolutional neural networks on
// graphs with fast localized spectral filtering", NIPS 2016. Its sizes are those of [GCN].
type Cheb Settings

func (m Cheb) is() (string, Settings) { return "cheb", Settings(m) }

// GCN2 is GCNII with 16 convolutions: Chen and others, "Simple and deep graph convolutional networks", ICML 2020.
// It is 64 wide, with a dropout of 0.6.
type GCN2 Settings

func (m GCN2) is() (string, Settings) { return "gcn2", Settings(m) }

// AGNN attends to neighbours that are like a node: Thekumparampil and others, "Attention-based graph neural
// network for semi-supervised learning", 2018. Its sizes are those of [GCN].
type AGNN Settings

func (m AGNN) is() (string, Settings) { return "agnn", Settings(m) }

// SuperGAT learns from edges besides: Kim and Oh, "How to find your friendly neighborhood", ICLR 2021. Its sizes
// are those of [GAT], but for 8 heads in the last layer. See [Network.Teach].
type SuperGAT Settings

func (m SuperGAT) is() (string, Settings) { return "supergat", Settings(m) }

// H2GCN keeps neighbours apart from a node, and those two edges away from both: Zhu and others, "Beyond homophily
// in graph neural networks", NeurIPS 2020. It is 64 wide, with a dropout of 0.5, and has from 2 to 7 layers, the
// first of which is dense.
type H2GCN Settings

func (m H2GCN) is() (string, Settings) { return "h2gcn", Settings(m) }

// PNA has four aggregations and three scales of each: Corso and others, "Principal neighbourhood aggregation for
// graph nets", NeurIPS 2020. Its sizes are those of [GCN].
type PNA Settings

func (m PNA) is() (string, Settings) { return "pna", Settings(m) }

// ARMA has one stack of one step: Bianchi and others, "Graph neural networks with convolutional ARMA filters",
// 2019. Its sizes are those of [GCN].
type ARMA Settings

func (m ARMA) is() (string, Settings) { return "arma", Settings(m) }

// EdgeConv has a perceptron on each edge: Wang and others, "Dynamic graph CNN for learning on point clouds", 2019.
// Its sizes are those of [GCN].
type EdgeConv Settings

func (m EdgeConv) is() (string, Settings) { return "edgeconv", Settings(m) }

// ResGated has a gate on each edge: Bresson and Laurent, "Residual gated graph ConvNets", 2017. Its sizes are
// those of [GCN].
type ResGated Settings

func (m ResGated) is() (string, Settings) { return "resgated", Settings(m) }

// GatedGraph takes two steps of a GRU: Li and others, "Gated graph sequence neural networks", ICLR 2016. Its sizes
// are those of [GCN].
type GatedGraph Settings

func (m GatedGraph) is() (string, Settings) { return "gatedgraph", Settings(m) }

// MoNet weighs neighbours by three Gaussians of the features of edges, or where there are none of degrees: Monti
// and others, "Geometric deep learning on graphs and manifolds using mixture model CNNs", CVPR 2017. Its sizes are
// those of [GCN].
type MoNet Settings

func (m MoNet) is() (string, Settings) { return "monet", Settings(m) }

// NNConv makes a matrix of the features of each edge: Gilmer and others, "Neural message passing for quantum
// chemistry", ICML 2017. Its sizes are those of [GCN]. Edges must have features.
type NNConv Settings

func (m NNConv) is() (string, Settings) { return "nnconv", Settings(m) }

// RGCN has a matrix for each kind of edges: Schlichtkrull and others, "Modeling relational data with graph
// convolutional networks", ESWC 2018. Its sizes are those of [GCN]. Edges must have kinds.
type RGCN Settings

func (m RGCN) is() (string, Settings) { return "rgcn", Settings(m) }

// GPS attends to all nodes beside the neighbours: Rampášek and others, "Recipe for a general, powerful, scalable
// graph transformer", NeurIPS 2022. Its sizes are those of [GCN], with 4 heads if they divide the width, or 1.
type GPS Settings

func (m GPS) is() (string, Settings) { return "gps", Settings(m) }

// MLP sees no graph: a perceptron on each node, as others are compared with. Its sizes are those of [GCN].
type MLP Settings

func (m MLP) is() (string, Settings) { return "mlp", Settings(m) }

// Names returns the names of the models, or of those alone that read of edges one of these.
func Names(edges ...EdgesRead) []string {
	var names []string
	for _, m := range table() {
		if len(edges) == 0 || slices.Contains(edges, m.Edges) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Named returns the model of that name, such as gat, whose settings are those of its paper.
func Named(name string) (Model, error) {
	m, err := rowNamed(name)
	if err != nil {
		return nil, err
	}
	return m.zero, nil
}

// rowNamed returns the row of that name.
func rowNamed(name string) (*row, error) {
	all := table()
	if i := slices.IndexFunc(all, func(m row) bool { return m.Name == name }); i >= 0 {
		return &all[i], nil
	}
	return nil, unnamed("model", name, Names())
}

// unnamed is the error for a name that is none of those there are.
func unnamed(what, name string, known []string) error {
	text := strings.Join(known, ", ")
	if meant := spell.Meant(name, known); meant != "" {
		return fmt.Errorf("models: there is no %s %.60q; did you mean %q? The choices are %s", what, name, meant, text)
	}
	return fmt.Errorf("models: there is no %s %.60q; the choices are %s", what, name, text)
}

// rowOf returns the row of a model.
func rowOf(m Model) *row {
	name, _ := m.is()
	r, err := rowNamed(name)
	if err != nil {
		panic(err) // a test says that each type has a row
	}
	return r
}

// With returns m with these settings; those that m does not have are left out.
func With(m Model, s Settings) Model {
	r := rowOf(m)
	return reflect.ValueOf(s.only(r.Settings)).Convert(reflect.TypeOf(r.zero)).Interface().(Model)
}

// SettingsOf returns the settings of a model, in which each that is zero has its paper's value.
// A dropout of 0 is [grad.Zero].
func SettingsOf(m Model) Settings {
	_, s := m.is()
	r := rowOf(m)
	return s.or(r.preset, r.Settings)
}

// TraitsOf returns what a model is like.
func TraitsOf(m Model) Traits { return rowOf(m).Traits }

// Having returns the names of the models that have a setting, a field of [Settings].
func Having(setting string) []string {
	var names []string
	for _, m := range table() {
		if slices.Contains(m.Settings, setting) {
			names = append(names, m.Name)
		}
	}
	return names
}

// has returns an error for a setting that a model does not have, which has these of its own.
func (s *Settings) has(title string, settings []string) error {
	for _, o := range own {
		if o.given(s) && !slices.Contains(settings, o.name) {
			return fmt.Errorf("models: %s has no setting %s: leave it out, or take a model that has it: %s", title, o.name, strings.Join(Having(o.name), ", "))
		}
	}
	return nil
}
