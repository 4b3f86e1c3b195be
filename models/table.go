package models

import (
	"fmt"
	"slices"
	"sync"
)

// Traits say what a model is like.
type Traits struct {
	Name, Title string
	Settings    []string  // the fields of [Settings] that only some models have, and this one has
	Edges       EdgesRead // what a network of nodes reads of edges
	Whole       string    // why there are no blocks for its layers: what one reads; empty: there are
	Symmetric   bool      // on a block it needs the edges' weights on the whole graph
	Taught      bool      // its layers learn from edges and pairs of the whole graph too
	Alone       bool      // a layer looks at no neighbours
	Unmasked    bool      // its edges cannot be weighed one by one
	Sums        bool      // it sums over in-edges what is not normalised: of drawn ones each counts for as many as it stands for, as Mask
	Weighted    bool      // it counts the weights of the edges, as PyG's layer of that name does

	Graphs *GraphTraits // of its networks of graphs; nil: there are none
}

// Has reports whether a model has a setting, a field of [Settings] that only some models have.
func (m *Traits) Has(setting string) bool { return slices.Contains(m.Settings, setting) }

// far says why the layers cannot be run one after another, some nodes at a time; empty: they can.
func (m *Traits) far() string {
	switch m.Whole {
	case readsFar:
		return "has layers that look several hops far"
	case readsAll:
		return m.Whole
	}
	return ""
}

// row is a row of the table of models.
type row struct {
	Traits
	zero   Model
	deep   bool // a layer has a hidden layer of its own
	preset Settings
	make   func(d *design, s size) layer
}

// What a layer reads that a block does not hold.
const (
	readsFar     = "looks several hops far and a batch holds one hop a layer"
	readsPairs   = "learns from edges and pairs of the whole graph"
	readsDegrees = "reads the degrees of the whole graph"
	readsAll     = "attends to all nodes"
)

// The sizes that papers chose.
var (
	likeGAT      = Settings{Hidden: 8, Heads: 8, Dropout: 0.6}
	likeGCN      = Settings{Hidden: 16, Dropout: 0.5}
	likeSGC      = Settings{Hidden: 16, Layers: 1} // the width is for more layers
	likeSuperGAT = Settings{Hidden: 8, Heads: 8, OutHeads: 8, Dropout: 0.6}
	likeAPPNP    = Settings{Hidden: 64, Dropout: 0.5} // and H2GCN
	likeGCN2     = Settings{Hidden: 64, Dropout: 0.6}
)

// table returns the models. A new row, and its type, are all that a new model needs; a network of graphs has
// a row of its own.
var table = sync.OnceValue(func() []row {
	parts := []string{"Norm", "Residual", "ResidualLinear", "Input", "Output"}
	heads := append(parts[:5:5], "Heads", "OutHeads", "AttentionDropout")
	noBias := append(parts[:5:5], "NoBias")
	all := []row{
		{Traits: Traits{Name: modelGAT, Title: "GAT", Settings: append(heads[:8:8], "Start", "ValueDrop"), Edges: MayNumbers}, zero: GAT{}, preset: likeGAT, make: newGAT},
		{Traits: Traits{Name: modelGATv2, Title: "GATv2", Settings: heads, Edges: MayNumbers}, zero: GATv2{}, preset: likeGAT, make: newGATv2},
		{Traits: Traits{Name: "gcn", Title: "GCN", Settings: noBias, Symmetric: true, Weighted: true}, zero: GCN{}, preset: likeGCN, make: newGCN},
		{Traits: Traits{Name: "sage", Title: "GraphSAGE", Settings: parts}, zero: SAGE{}, preset: likeGCN, make: newSAGE},
		{Traits: Traits{Name: modelGIN, Title: "GIN", Settings: parts, Edges: MayNumbers, Sums: true}, deep: true, zero: GIN{}, preset: likeGCN, make: newGIN},
		{Traits: Traits{Name: "sgc", Title: "SGC", Settings: parts, Whole: readsFar, Weighted: true}, zero: SGC{}, preset: likeSGC, make: newSGC},
		{Traits: Traits{Name: "appnp", Title: "APPNP", Settings: parts, Whole: readsFar, Weighted: true}, zero: APPNP{}, preset: likeAPPNP, make: newAPPNP},
		{Traits: Traits{Name: "transformer", Title: "Transformer", Settings: heads, Edges: MayNumbers}, zero: Transformer{}, preset: likeGAT, make: newTransformer},
		{Traits: Traits{Name: "tag", Title: "TAG", Settings: parts, Whole: readsFar, Weighted: true}, zero: TAG{}, preset: likeGCN, make: newTAG},
		{Traits: Traits{Name: "cheb", Title: "ChebNet", Settings: parts, Whole: readsFar, Weighted: true}, zero: Cheb{}, preset: likeGCN, make: newCheb},
		{Traits: Traits{Name: modelGCN2, Title: "GCNII", Whole: readsFar, Weighted: true}, deep: true, zero: GCN2{}, preset: likeGCN2, make: newGCN2},
		{Traits: Traits{Name: "agnn", Title: "AGNN", Settings: parts}, zero: AGNN{}, preset: likeGCN, make: newAGNN},
		{Traits: Traits{Name: "supergat", Title: "SuperGAT", Settings: heads, Whole: readsPairs, Taught: true}, zero: SuperGAT{}, preset: likeSuperGAT, make: newSuperGAT},
		{Traits: Traits{Name: modelH2GCN, Title: "H2GCN", Whole: readsFar, Unmasked: true}, zero: H2GCN{}, preset: likeAPPNP, make: newH2GCN},
		{Traits: Traits{Name: modelPNA, Title: "PNA", Settings: parts, Edges: MayNumbers}, deep: true, zero: PNA{}, preset: likeGCN, make: newPNA},
		{Traits: Traits{Name: "arma", Title: "ARMA", Settings: parts, Symmetric: true, Weighted: true}, zero: ARMA{}, preset: likeGCN, make: newARMA},
		{Traits: Traits{Name: modelEdgeConv, Title: "EdgeConv", Settings: parts}, deep: true, zero: EdgeConv{}, preset: likeGCN, make: newEdgeConv},
		{Traits: Traits{Name: "resgated", Title: "ResGated", Settings: parts, Edges: MayNumbers, Sums: true}, zero: ResGated{}, preset: likeGCN, make: newResGated},
		{Traits: Traits{Name: modelGatedGraph, Title: "GatedGraph", Settings: parts, Whole: readsFar, Edges: MayKinds}, deep: true, zero: GatedGraph{}, preset: likeGCN, make: newGatedGraph},
		{Traits: Traits{Name: modelMoNet, Title: "MoNet", Settings: parts, Whole: readsDegrees, Edges: MayNumbers}, zero: MoNet{}, preset: likeGCN, make: newMoNet},
		{Traits: Traits{Name: modelNNConv, Title: "NNConv", Settings: parts, Edges: WantsNumbers, Sums: true}, zero: NNConv{}, preset: likeGCN, make: newNNConv},
		{Traits: Traits{Name: modelRGCN, Title: "RGCN", Settings: parts, Edges: WantsKinds}, zero: RGCN{}, preset: likeGCN, make: newRGCN},
		{Traits: Traits{Name: modelGPS, Title: "GPS", Settings: parts, Whole: readsAll, Unmasked: true, Edges: MayNumbers}, deep: true, zero: GPS{}, preset: likeGCN, make: newGPS},
		{Traits: Traits{Name: "mlp", Title: "MLP", Settings: noBias, Alone: true}, zero: MLP{}, preset: likeGCN, make: newDense},
	}
	graphs := graphTable()
	for i := range all {
		if at := slices.IndexFunc(graphs, func(g graphRow) bool { return g.name == all[i].Name }); at >= 0 {
			all[i].Graphs = &graphs[at].GraphTraits
		}
	}
	return all
})

// EdgesRead is what a network reads of edges beside their ends.
type EdgesRead int

// What a network can read of edges.
const (
	ReadsNone    EdgesRead = iota
	MayNumbers             // features, where there are any
	WantsNumbers           // features
	MayKinds               // kinds, where there are any
	WantsKinds             // kinds
)

// Numbers reports whether features of edges are read.
func (e EdgesRead) Numbers() bool { return e == MayNumbers || e == WantsNumbers }

// Kinds reports whether kinds of edges are read.
func (e EdgesRead) Kinds() bool { return e == MayKinds || e == WantsKinds }

// Check returns an error for a model that does not read so many features or kinds of edges.
func (e EdgesRead) Check(model string, width, kinds int) error {
	const most = 1 << 16
	switch {
	case width < 0 || width > most || kinds < 0 || kinds > most:
		return fmt.Errorf("%d features and %d kinds of edges: there can be at most %d", width, kinds, most)
	case e == WantsNumbers && width == 0:
		return fmt.Errorf("%s without features of edges", model)
	case e == WantsKinds && kinds == 0:
		return fmt.Errorf("%s without kinds of edges", model)
	case width > 0 && !e.Numbers() || kinds > 0 && !e.Kinds():
		return fmt.Errorf("%s with %d features and %d kinds of edges, which it does not read", model, width, kinds)
	}
	return nil
}
