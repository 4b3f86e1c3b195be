package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// model is a row of the table of networks: what one is called, and how a layer of
// it is made.
type model struct {
	name, title string
	takes       []string // flags that only some models have
	whole       bool     // a layer reads more than one hop, so there are no blocks for it; whyWhole says what
	symmetric   bool     // on a block it needs the edges' weights on the whole graph
	taught      bool     // its layers learn from edges and pairs of the whole graph too
	alone       bool     // a layer looks at no neighbours
	deep        bool     // a layer has a hidden layer of its own
	unmasked    bool     // its edges cannot be weighed one by one
	edges       edgesRead
	weighted    bool // it counts the weights of the edges, as PyG's layer of that name does
	preset      func(r *recipe)
	make        func(r *recipe, s size) layer
}

// whyWhole says what a layer reads that a block does not hold.
func (m *model) whyWhole() string {
	switch {
	case m.taught:
		return "learns from edges and pairs of the whole graph"
	case m.name == modelMoNet:
		return "reads the degrees of the whole graph"
	case m.name == modelGPS:
		return "attends to all nodes"
	}
	return "looks several hops far and a batch holds one hop a layer"
}

// size is what one layer is to be.
type size struct {
	in, out     int // widths; out is that of a head
	first, last bool
}

// layer is one of a network.
type layer interface {
	Init(rng *rand.Rand)
	run(t *grad.Tape, h hop, x *grad.Var) layers.Out
}

// models returns the table. A new row is all that a new model needs.
func models() []model {
	heads := []string{"heads", "out-heads", "attention", "attention-dropout"}
	attention := append(heads, "residual")
	return []model{
		{name: "gat", title: "GAT", takes: slices.Concat(attention, []string{"start", "value-drop"}), edges: mayNumbers, preset: likeGAT, make: newGAT},
		{name: "gatv2", title: "GATv2", takes: attention, edges: mayNumbers, preset: likeGAT, make: newGATv2},
		{name: "gcn", title: "GCN", takes: []string{"no-bias"}, symmetric: true, weighted: true, preset: likeGCN, make: newGCN},
		{name: "sage", title: "GraphSAGE", preset: likeGCN, make: newSAGE},
		{name: modelGIN, title: "GIN", deep: true, edges: mayNumbers, preset: likeGCN, make: newGIN},
		{name: "sgc", title: "SGC", whole: true, weighted: true, preset: likeSGC, make: newSGC},
		{name: "appnp", title: "APPNP", whole: true, weighted: true, preset: likeAPPNP, make: newAPPNP},
		{name: "transformer", title: "Transformer", takes: heads, edges: mayNumbers, preset: likeGAT, make: newTransformer},
		{name: "tag", title: "TAG", whole: true, weighted: true, preset: likeGCN, make: newTAG},
		{name: "cheb", title: "ChebNet", whole: true, weighted: true, preset: likeGCN, make: newCheb},
		{name: "gcn2", title: "GCNII", whole: true, weighted: true, deep: true, preset: likeGCN2, make: newGCN2},
		{name: "agnn", title: "AGNN", preset: likeGCN, make: newAGNN},
		{name: "supergat", title: "SuperGAT", takes: heads, whole: true, taught: true, preset: likeSuperGAT, make: newSuperGAT},
		{name: modelH2GCN, title: "H2GCN", whole: true, unmasked: true, preset: likeH2GCN, make: newH2GCN},
		{name: "pna", title: "PNA", deep: true, edges: mayNumbers, preset: likeGCN, make: newPNA},
		{name: "arma", title: "ARMA", symmetric: true, weighted: true, preset: likeGCN, make: newARMA},
		{name: "edgeconv", title: "EdgeConv", deep: true, preset: likeGCN, make: newEdgeConv},
		{name: "resgated", title: "ResGated", edges: mayNumbers, preset: likeGCN, make: newResGated},
		{name: modelGatedGraph, title: "GatedGraph", whole: true, deep: true, edges: mayKinds, preset: likeGCN, make: newGatedGraph},
		{name: modelMoNet, title: "MoNet", whole: true, edges: mayNumbers, preset: likeGCN, make: newMoNet},
		{name: modelNNConv, title: "NNConv", edges: wantsNumbers, preset: likeGCN, make: newNNConv},
		{name: modelRGCN, title: "RGCN", edges: wantsKinds, preset: likeGCN, make: newRGCN},
		{name: modelGPS, title: "GPS", whole: true, deep: true, unmasked: true, edges: mayNumbers, preset: likeGCN, make: newGPS},
		{name: "mlp", title: "MLP", alone: true, takes: []string{"no-bias"}, preset: likeGCN, make: newDense},
	}
}

// modelNames returns the names of the models that read of edges one of these, or of all.
func modelNames(edges ...edgesRead) []string {
	var names []string
	for _, m := range models() {
		if len(edges) == 0 || slices.Contains(edges, m.edges) {
			names = append(names, m.name)
		}
	}
	return names
}

// findModel returns the row of that name.
func findModel(name string) (model, error) {
	if err := modelNamed(taskNode, name, ""); err != nil {
		return model{}, err
	}
	ms := models()
	return ms[slices.IndexFunc(ms, func(m model) bool { return m.name == name })], nil
}

// modelsOf is what the models of a task are called.
type modelsOf struct {
	task, flag, noun string // flag is what train says of the task, after a space
	names            []string
}

// modelsOfTasks returns the models of every task.
func modelsOfTasks() []modelsOf {
	return []modelsOf{
		{taskNode, "", "nodes and edges", modelNames()}, {taskGraph, " --task graph", "whole graphs", graphModelNames()},
		{taskFacts, " --task link", "facts", factModels}, {taskLink, " --task link", "links", slices.Concat(linkModels, factModels)},
	}
}

// modelNamed returns an error if a task has no model of that name. Of a model of another task it has the
// command that trains it, which ends in more.
func modelNamed(task, name, more string) error {
	var own, other modelsOf
	lower := strings.ToLower(name)
	for _, of := range modelsOfTasks() {
		if of.task == task {
			own = of
		} else if other.task == "" && slices.Contains(of.names, lower) {
			other = of
		}
	}
	if other.task == "" || slices.Contains(own.names, lower) {
		return oneOf("--model", name, own.names)
	}
	return misuse("--model %s: it is a model of %s, not of %s: write %s train%s --model %s%s", name, other.noun, own.noun, program, other.flag, lower, more)
}

// having returns the names of the models that take a flag.
func having(flag string) string {
	var names []string
	for _, m := range models() {
		if slices.Contains(m.takes, flag) {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

// describe says what a network is made of.
func (m model) describe(r *recipe, classes int) string {
	if !slices.Contains(m.takes, "heads") {
		var widths []string
		for range r.Layers - 1 {
			widths = append(widths, fmt.Sprint(r.Hidden))
		}
		return fmt.Sprintf("%s, layers of width %s", m.title, strings.Join(append(widths, fmt.Sprint(classes)), ", then "))
	}
	text := m.title + ", "
	switch r.Layers {
	case 1:
		heads := "heads"
		if r.OutHeads == 1 {
			heads = "head"
		}
		return text + fmt.Sprintf("%d %s of width %d", r.OutHeads, heads, classes)
	case 2:
		text += fmt.Sprintf("%d heads of width %d, then ", r.Heads, r.Hidden)
	default:
		text += fmt.Sprintf("%d layers with %d heads of width %d, then ", r.Layers-1, r.Heads, r.Hidden)
	}
	return text + fmt.Sprintf("%d of width %d", r.OutHeads, classes)
}

// inner is the activation of the layers before the last.
func inner(a grad.Activation, s size) grad.Activation {
	if s.last {
		return ""
	}
	return a
}

// heads is how many a layer has.
func (r *recipe) heads(s size) int {
	if s.last {
		return r.OutHeads
	}
	return r.Heads
}

// width is how wide the rows of a hidden layer are.
func (r *recipe) width() int { return r.Hidden * r.Heads }

// headsOf is how many the layer of that number from 0 has.
func (r *recipe) headsOf(layer int) int { return r.heads(size{last: layer == r.Layers-1}) }

func (r *recipe) residual() layers.Residual {
	if r.Residual {
		return layers.ResidualIdentity
	}
	return layers.NoResidual
}
