package gatbench

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/models"
)

// explainedLine is the JSON of an explanation.
type explainedLine struct {
	Event       string   `json:"event"` // "explain"
	Model       string   `json:"model"`
	Dataset     string   `json:"dataset"`
	Method      string   `json:"method"`
	Node        string   `json:"node"` // its id
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
	Event      string  `json:"event"`  // "edge"
	Source     string  `json:"source"` // ids
	Target     string  `json:"target"`
	Score      float64 `json:"score"`
	SourceName string  `json:"source_name,omitempty"`
	TargetName string  `json:"target_name,omitempty"`

	from int32 // the source's number
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
		Event: "explain", Model: x.model.Net.(*models.Network).Model, Dataset: x.dataset, Method: c.Method, Node: x.IDs[x.Node], NodeName: x.title(x.Node),
		Class: x.Class, Name: x.className(x.Class), Probability: x.Probability(), Label: x.label(x.Node),
		Neighbours: x.Graph.NumNodes(), Edges: len(x.Edges()),
	}
	if n := min(c.Top, len(x.Edges())); n > 0 {
		f := x.Fidelity(x.Scores, explain.Part{Edges: n})
		l.OfEdges = &measure{n, f.Plus, f.Minus, f.Sparsity}
	}
	if n := min(c.Top, len(x.Scores.Features)); n > 0 {
		f := x.Fidelity(x.Scores, explain.Part{Features: n})
		l.OfFeatures = &measure{n, f.Plus, f.Minus, 1 - float64(n)/float64(len(x.Scores.Features))}
	}
	if c.Method == "integrated" {
		l.Gap = &x.Scores.Gap
	}
	return l
}

// best returns the lines of the best edges and features.
func (x *explained) best() (edges []edgeLine, features []featureLine) {
	for _, edge := range x.Scores.TopEdges(x.command.Top) {
		u, v := x.Ends(edge)
		edges = append(edges, edgeLine{"edge", x.IDs[u], x.IDs[v], x.Scores.Edges[edge], x.title(u), x.title(v), u})
	}
	for _, j := range x.Scores.TopFeatures(x.command.Top) {
		f := featureLine{"feature", j, x.Features[j], 0, x.Scores.Features[j]}
		for v := range x.Case.Features.Rows() {
			if x.Case.Features.Row(v)[j] != 0 {
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
	p.Line("%s on %s", x.model.Net, x.Data.Name)
	node := l.Node
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
		if c := int(x.label(e.from)); c >= 0 {
			source = x.className(c)
		}
		if e.SourceName != "" {
			source += "  " + e.SourceName
		}
		p.Printf("%7s → %6s  %9.4f  %s\n", plain.Text(e.Source), plain.Text(e.Target), e.Score, source)
	}
	if len(features) > 0 {
		p.Printf("\n%16s  %9s  %s\n", "feature", "score", "nodes that have it")
	}
	for _, f := range features {
		name := f.Name
		if name == "" {
			name = fmt.Sprint(f.Feature)
		}
		p.Printf("%16s  %9.4f  %d of %d\n", plain.Text(name), f.Score, f.Nodes, l.Neighbours)
	}
	x.trust(p, l)
	if x.command.Plot {
		p.Drawn("\n" + x.picture().Text(p.Columns(), p.Coloured()))
	}
	p.Next(fmt.Sprintf("%s explain %s --node %s --method %s%s", cli.Program, cli.Word(x.command.File), cli.Word(l.Node), x.other(), x.command.Again()))
	return p.Err()
}

// other is another method than the one that was asked for, to compare with.
func (x *explained) other() string {
	if x.command.Method == "saliency" {
		return "integrated"
	}
	return "saliency"
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
	for _, f := range []struct{ what, path string }{{"scores", x.command.Out}, {"picture", x.command.Picture}} {
		if f.path != "" {
			p.Printf("%s in %s\n", f.what, f.path)
		}
	}
}
