package models

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Method is a way to explain an answer.
type Method struct {
	Name   string // attention, saliency, integrated, gnnexplainer or pg
	Seed   uint64 // of the first masks, and of the nodes that pg learns from
	Epochs int    // that pg learns; 0: 150

	// Progress is called after each step of gnnexplainer and each epoch of pg, with the number of those that are over and of all. The other
	// methods do not call it; nil: nobody is told.
	Progress func(done, total int)
}

// methods are the ways to explain answers: the attention, gradients, integrated gradients, GNNExplainer's masks, and PGExplainer's, which learns
// them from other nodes first.
var methods = []string{"attention", "saliency", "integrated", "gnnexplainer", "pg"}

// MethodError is a method that there is none of, or that a model cannot be explained by.
type MethodError struct{ Method, says string }

func (e *MethodError) Error() string { return e.says }

// Explained is why a node has its class, in the words of the data.
type Explained struct {
	*explain.Case
	Scores *explain.Explanation
	Data   *Data

	Node     int32    // as Data numbers it
	IDs      []string // of Data's nodes
	Features []string // what the features are called; "" of encodings
	Warnings []string // what was read in a way that may not be meant
}

// Ends returns the nodes of an edge of the Case, as Data numbers them.
func (x *Explained) Ends(edge int32) (source, target int32) {
	nodes := x.Graph.From().Src
	return nodes[x.Graph.In().Cols[edge]], nodes[x.Graph.Destinations()[edge]]
}

// Explain says why a node of that id has its class.
func (p *Predictor) Explain(raw *form.Raw, id string, by Method, q Query) (*Explained, error) {
	if err := p.explains(by); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	if q.IDs, q.Rows = []string{id}, nil; by.Name == "pg" { // it learns from nodes anywhere
		q.Plan = Whole
	}
	s, err := p.read(raw, q)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return p.explain(s, by)
}

// ExplainOf is Explain of a node of a dataset that was read before.
func (p *Predictor) ExplainOf(d *datasets.Dataset, id string, by Method) (*Explained, error) {
	if err := p.explains(by); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	s, err := p.subjectOf(d, Query{IDs: []string{id}})
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return p.explain(s, by)
}

// explains returns an error for a model that cannot be explained so.
func (p *Predictor) explains(by Method) error {
	if err := p.answers(Nodes); err != nil {
		return errors.New("explanations are of models of nodes")
	}
	switch m := p.Net.(*Network).Traits(); {
	case !slices.Contains(methods, by.Name):
		return &MethodError{by.Name, fmt.Sprintf("there is no method %.40q; is it %q?", by.Name, spell.Nearest(by.Name, methods))}
	case p.Goal.Kind != columns.OneClass:
		return fmt.Errorf("its nodes have %s to predict, and explanations are of classes", p.Goal.Noun())
	case m.Unmasked:
		return fmt.Errorf("%s joins nodes that no edge joins, so no edge can be left out alone: explain a model of another kind, such as gat", m.Title)
	case by.Name == "attention" && !m.Has("AttentionDropout"):
		return &MethodError{by.Name, fmt.Sprintf("%s has no attention; these models have it: %s", m.Title, strings.Join(Having("AttentionDropout"), ", "))}
	}
	return nil
}

// explain scores what the class of the only node of a subject comes from.
func (p *Predictor) explain(s *subject, by Method) (*Explained, error) {
	n, err := p.Net.(*Network).still()
	if err != nil {
		return nil, err
	}
	x := &Explained{Data: s.Data, Node: s.nodes[0], IDs: idsOf(s.Dataset), Features: s.featureNames(), Warnings: s.warnings}
	g := s.GraphOf(n)
	if x.Case, err = explain.New(s.asked(n), g, n.Codes.presence(s.Rows), explain.Node{Number: x.Node, Hops: s.reach(n)}); err != nil {
		return nil, err
	}
	switch by.Name {
	case "saliency":
		x.Scores = x.Saliency()
	case "integrated":
		x.Scores = x.Integrated(0)
	case "gnnexplainer":
		x.Scores = (&explain.GNNExplainer{Seed: by.Seed, Progress: by.Progress}).Explain(x.Case)
	case "pg":
		x.Scores, err = s.pg(n, x.Case, x.Node, by)
	default:
		var alphas []*tensor.Dense
		t := grad.NewEval()
		for _, out := range n.attend(t, s.weighed(n, x.Graph, nil), s.masked(n)(t, x.Graph, grad.Const(x.Case.Features))) {
			alphas = append(alphas, message.ApplyEdges(x.Graph, out.Attention).Value())
		}
		x.Scores = x.Attention(alphas...)
	}
	return x, err
}

// still returns the network without dropout, so that it can be differentiated as it is.
func (n *Network) still() (*Network, error) {
	out := *n
	out.Settings.Dropout, out.Settings.AttentionDropout, out.Head = grad.Zero, 0, nil
	if m := n.Traits(); m.Has("AttentionDropout") {
		out.Settings.AttentionDropout = grad.Zero
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	out.Init(rand.New(rand.NewPCG(0, 0)))
	values := map[string]*tensor.Dense{}
	for name, p := range grad.Params(n) {
		values[name] = p.Value
	}
	for name, p := range grad.Params(&out) {
		p.Value = values[name]
		p.Changed()
	}
	for _, l := range out.Layers {
		if b, ok := l.(*block); ok {
			if norm, ok := b.Norm.(*layers.BatchNorm); ok {
				norm.Fixed = true // a part of the graph has other statistics
			}
		}
	}
	return &out, nil
}

// reach is over how many edges the network looks.
func (s *subject) reach(n *Network) int {
	switch m := n.Traits(); {
	case m.Alone:
		return 0
	case m.Whole != "" && !m.Taught: // a layer looks several hops far, so all that there is may count
		return s.Graph.NumNodes()
	}
	return len(n.Layers)
}

// asked is the network as package explain asks it: what edges carry is weighed, on top
// of weights that are those of the whole graph.
func (s *subject) asked(n *Network) explain.Model {
	read := s.masked(n)
	return func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		return n.runRead(t, n.Whole(s.weighed(n, g, weight), nil), read(t, g, x))
	}
}

// masked returns what the first layer reads of a part of the graph whose features are x. A code is there or not: 1 stands in x for the row
// of its word, of which a mask leaves less, so that it counts as one feature.
func (s *subject) masked(n *Network) func(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	if n.Codes == nil {
		return func(_ *grad.Tape, _ *graph.Graph, x *grad.Var) *grad.Var { return x }
	}
	words := n.Codes.of(grad.Const(s.Rows))
	return func(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
		return n.Codes.masked(t, x, words.gathered(g.From().Src))
	}
}

// weighed is where layers work on a part of the graph whose edges have weights on top
// of their own.
func (s *subject) weighed(n *Network, g *graph.Graph, weight *grad.Var) Hop {
	if !n.Traits().Weighted {
		return Hop{Graph: g, Mask: weight, Edge: s.edgesOf(n, g)}
	}
	own := s.Symmetric().Rows(g.From().Edges)
	if weight != nil {
		own = own.Mul(weight)
	}
	return Hop{Graph: g, Weight: own}
}

// pg scores edges by a PGExplainer that learns from other nodes, which are drawn.
func (s *subject) pg(n *Network, why *explain.Case, node int32, by Method) (*explain.Explanation, error) {
	const others, usual = 32, 150
	rng := rand.New(rand.NewPCG(by.Seed, 0x96))
	g, rows := s.GraphOf(n), n.Codes.presence(s.Rows)
	var cases []*explain.Case
	for _, v := range rng.Perm(g.NumNodes()) {
		if int32(v) == node || len(cases) == others {
			continue
		}
		c, err := explain.New(why.Model, g, rows, explain.Node{Number: int32(v), Hops: s.reach(n)})
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	epochs := by.Epochs
	if epochs <= 0 {
		epochs = usual
	}
	// The paper's factors, 0.05 and 1, leave all edges of some hundred out, and smaller ones of size alone none.
	l := &explain.PGExplainer{Seed: by.Seed, EdgeSize: 0.01, EdgeEntropy: 0.01, Epochs: epochs, Progress: by.Progress}
	if err := l.Fit(n.Hidden(grad.NewEval(), s.hop(n), grad.Const(s.Rows)).Value(), cases); err != nil {
		return nil, err
	}
	return l.Explain(why), nil
}

// featureNames returns what each feature that the network reads is called, "" of what has no name.
func (s *subject) featureNames() []string {
	names := make([]string, s.Rows.Shape()[1])
	copy(names, s.FeatureNames)
	return names
}
