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
	whole       bool     // a layer looks several hops far, so there are no blocks for it
	symmetric   bool     // on a block it needs the edges' weights on the whole graph
	alone       bool     // a layer looks at no neighbours
	deep        bool     // a layer has a hidden layer of its own
	weighted    bool     // it counts the weights of the edges, as PyG's layer of that name does
	preset      func(r *recipe)
	make        func(r *recipe, s size) layer
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
		{name: "gat", title: "GAT", takes: slices.Concat(attention, []string{"start", "value-drop"}), preset: likeGAT, make: newGAT},
		{name: "gatv2", title: "GATv2", takes: attention, preset: likeGAT, make: newGATv2},
		{name: "gcn", title: "GCN", takes: []string{"no-bias"}, symmetric: true, weighted: true, preset: likeGCN, make: newGCN},
		{name: "sage", title: "GraphSAGE", preset: likeGCN, make: newSAGE},
		{name: "gin", title: "GIN", deep: true, preset: likeGCN, make: newGIN},
		{name: "sgc", title: "SGC", whole: true, weighted: true, preset: likeSGC, make: newSGC},
		{name: "appnp", title: "APPNP", whole: true, weighted: true, preset: likeAPPNP, make: newAPPNP},
		{name: "transformer", title: "Transformer", takes: heads, preset: likeGAT, make: newTransformer},
		{name: "mlp", title: "MLP", alone: true, takes: []string{"no-bias"}, preset: likeGCN, make: newDense},
	}
}

func modelNames() []string {
	var names []string
	for _, m := range models() {
		names = append(names, m.name)
	}
	return names
}

// findModel returns the row of that name.
func findModel(name string) (model, error) {
	if err := oneOf("--model", name, modelNames()); err != nil {
		return model{}, err
	}
	ms := models()
	return ms[slices.IndexFunc(ms, func(m model) bool { return m.name == name })], nil
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
		return fmt.Sprintf("%s, layers of %s", m.title, strings.Join(append(widths, fmt.Sprint(classes)), ", then "))
	}
	text := m.title + ", "
	switch r.Layers {
	case 1:
	case 2:
		text += fmt.Sprintf("%d heads of %d, then ", r.Heads, r.Hidden)
	default:
		text += fmt.Sprintf("%d times %d heads of %d, then ", r.Layers-1, r.Heads, r.Hidden)
	}
	return text + fmt.Sprintf("%d of %d", r.OutHeads, classes)
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

// headsOf is how many the layer of that number from 0 has.
func (r *recipe) headsOf(layer int) int { return r.heads(size{last: layer == r.Layers-1}) }

func (r *recipe) residual() layers.Residual {
	if r.Residual {
		return layers.ResidualIdentity
	}
	return layers.NoResidual
}

// gatLayer drops what it reads of a layer before it, and its GATConv what it reads of
// the nodes: masks have the numbers that published results were made with.
type gatLayer struct {
	layers.GATConv
	drop float64
}

func newGAT(r *recipe, s size) layer {
	l := &gatLayer{GATConv: layers.GATConv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		AttnDrop: r.AttnDrop, Residual: r.residual(),
	}}
	if s.first {
		l.FeatDrop = r.Dropout
	} else {
		l.drop = r.Dropout
	}
	if r.ValueDrop {
		l.ValueDrop = r.Dropout
	}
	return l
}

func (l *gatLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	if l.drop > 0 {
		x = t.Dropout(x, l.drop)
	}
	return l.Apply(t, h.graph, layers.In{Src: x})
}

type gatv2Layer struct{ layers.GATv2Conv }

func newGATv2(r *recipe, s size) layer {
	return &gatv2Layer{layers.GATv2Conv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: r.Dropout, AttnDrop: r.AttnDrop, Residual: r.residual(),
	}}
}

func (l *gatv2Layer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x})
}

type gcnLayer struct {
	layers.GCNConv
	drop float64
}

func newGCN(r *recipe, s size) layer {
	return &gcnLayer{layers.GCNConv{In: s.in, Out: s.out, NoBias: r.NoBias, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

// norm is how a layer normalises: not at all where the edges have their weights on the
// whole graph already. The degrees of a block are not those of the graph.
func (h hop) norm() layers.Norm {
	if h.weight != nil {
		return layers.NormNone
	}
	return layers.NormSymmetric
}

func (l *gcnLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	conv := l.GCNConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.weight})
}

// denseLayer sees no graph.
type denseLayer struct {
	layers.Linear
	drop       float64
	activation grad.Activation
}

func newDense(r *recipe, s size) layer {
	return &denseLayer{layers.Linear{In: s.in, Out: s.out, NoBias: r.NoBias}, r.Dropout, inner(grad.ReLU, s)}
}

func (l *denseLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	y := l.Forward(t, t.Dropout(x, l.drop))
	if h.graph.Bipartite() {
		y = y.Rows(h.graph.DstRows())
	}
	return layers.Out{Y: y.Activate(l.activation)}
}
