package main

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/explain"
)

// explainedLine is the JSON of an explanation.
type explainedLine struct {
	Event       string   `json:"event"` // "explain"
	Model       string   `json:"model"`
	Dataset     string   `json:"dataset"`
	Method      string   `json:"method"`
	Node        int32    `json:"node"`
	NodeName    string   `json:"node_name,omitempty"`
	Class       int      `json:"class"`
	Name        string   `json:"name"`
	Probability float64  `json:"probability"`
	Label       int32    `json:"label"` // what the dataset says; -1: nothing
	Neighbours  int      `json:"neighbourhood_nodes"`
	Edges       int      `json:"neighbourhood_edges"`
	OfEdges     *measure `json:"edges_fidelity,omitempty"`
	OfFeatures  *measure `json:"features_fidelity,omitempty"`
	Gap         *float64 `json:"completeness_gap,omitempty"` // of integrated gradients
}

// measure is the fidelity of the best edges or features.
type measure struct {
	Best     int     `json:"best"`
	Plus     float64 `json:"plus"`
	Minus    float64 `json:"minus"`
	Sparsity float64 `json:"sparsity"`
}

// edgeLine and featureLine are the JSON of what is best.
type edgeLine struct {
	Event      string  `json:"event"` // "edge"
	Source     int32   `json:"source"`
	Target     int32   `json:"target"`
	Score      float64 `json:"score"`
	SourceName string  `json:"source_name,omitempty"`
	TargetName string  `json:"target_name,omitempty"`
}

type featureLine struct {
	Event   string  `json:"event"` // "feature"
	Feature int32   `json:"feature"`
	Name    string  `json:"name,omitempty"`
	Nodes   int     `json:"nodes"` // of the neighbourhood that have it
	Score   float64 `json:"score"`
}

// line sums the explanation up.
func (x *explained) line() explainedLine {
	c := x.command
	l := explainedLine{
		Event: "explain", Model: x.net.Recipe.Model, Dataset: x.net.Recipe.Dataset, Method: c.Method, Node: c.Node, NodeName: x.nodeName(c.Node),
		Class: x.why.Class, Name: x.className(x.why.Class), Probability: x.why.Probability(), Label: x.Labels[c.Node],
		Neighbours: x.why.Graph.NumNodes(), Edges: len(x.why.Edges()),
	}
	if n := min(c.Top, len(x.why.Edges())); n > 0 {
		f := x.why.Fidelity(x.scores, explain.Part{Edges: n})
		l.OfEdges = &measure{n, f.Plus, f.Minus, f.Sparsity}
	}
	if n := min(c.Top, len(x.scores.Features)); n > 0 {
		f := x.why.Fidelity(x.scores, explain.Part{Features: n})
		l.OfFeatures = &measure{n, f.Plus, f.Minus, 1 - float64(n)/float64(len(x.scores.Features))}
	}
	if c.Method == "integrated" {
		l.Gap = &x.scores.Gap
	}
	return l
}

// best returns the lines of the best edges and features.
func (x *explained) best() (edges []edgeLine, features []featureLine) {
	for _, edge := range x.scores.TopEdges(x.command.Top) {
		u, v := x.ends(edge)
		edges = append(edges, edgeLine{"edge", u, v, x.scores.Edges[edge], x.nodeName(u), x.nodeName(v)})
	}
	for _, j := range x.scores.TopFeatures(x.command.Top) {
		f := featureLine{"feature", j, x.featureName(j), 0, x.scores.Features[j]}
		for v := range x.why.Features.Rows() {
			if x.why.Features.Row(v)[j] != 0 {
				f.Nodes++
			}
		}
		features = append(features, f)
	}
	return edges, features
}

// print says it to people or machines.
func (x *explained) print(p *report.Printer) error {
	l := x.line()
	edges, features := x.best()
	if x.command.JSON {
		p.Encode(l)
		for _, e := range edges {
			p.Encode(e)
		}
		for _, f := range features {
			p.Encode(f)
		}
		return p.Err()
	}
	label := "it has no label"
	if l.Label >= 0 {
		label = "its label is " + x.className(int(l.Label))
	}
	p.Line("%s on %s", x.net.Recipe.model().describe(&x.net.Recipe, x.Classes), x.Name)
	node := fmt.Sprint(l.Node)
	if l.NodeName != "" {
		node += " (" + l.NodeName + ")"
	}
	p.Line("node %s: "+p.Strong("%s")+", probability %.4f; %s", node, l.Name, l.Probability, label)
	p.Line("the prediction depends on %d nodes and %d edges; scores by %s:", l.Neighbours, l.Edges, l.Method)
	if len(edges) > 0 {
		source := "class of the source"
		if l.NodeName != "" {
			source = "class and name of the source"
		}
		p.Printf("\n%16s  %9s  %s\n", "edge", "score", source)
	}
	for _, e := range edges {
		source := "no label"
		if c := int(x.Labels[e.Source]); c >= 0 {
			source = x.className(c)
		}
		if e.SourceName != "" {
			source += "  " + e.SourceName
		}
		p.Printf("%7d → %6d  %9.4f  %s\n", e.Source, e.Target, e.Score, source)
	}
	if len(features) > 0 {
		p.Printf("\n%16s  %9s  %s\n", "feature", "score", "nodes that have it")
	}
	for _, f := range features {
		name := ""
		if f.Name != "" {
			name = "  " + f.Name
		}
		p.Printf("%16d  %9.4f  %d of %d%s\n", f.Feature, f.Score, f.Nodes, l.Neighbours, name)
	}
	x.trust(p, l)
	return p.Err()
}

// trust says how far the explanation can be believed.
func (x *explained) trust(p *report.Printer, l explainedLine) {
	p.Printf("\n")
	for _, m := range []struct {
		what string
		*measure
	}{{"edges", l.OfEdges}, {"features", l.OfFeatures}} {
		if m.measure == nil {
			continue
		}
		p.Line("the best %d %s: probability %.4f without them (fidelity+ %.4f), %.4f with only them (fidelity− %.4f); sparsity %.3f",
			m.Best, m.what, l.Probability-m.Plus, m.Plus, l.Probability-m.Minus, m.Minus, m.Sparsity)
	}
	if l.Gap != nil {
		p.Line("completeness: the scores of the features, and those of the edges, add up to the change of the logit to within %.2g", *l.Gap)
	}
	for _, f := range []struct{ what, path string }{{"scores", x.command.CSV}, {"picture", x.command.Picture}} {
		if f.path != "" {
			p.Printf("%s in %s\n", f.what, f.path)
		}
	}
}
