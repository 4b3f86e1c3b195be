package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/draw"
	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// explainCommand is gatbench explain.
type explainCommand struct {
	Node      int32  `required:"" placeholder:"N" help:"The node whose class is to be explained."`
	Method    string `default:"gnnexplainer" placeholder:"NAME" help:"How to score edges and features: attention (the attention weights), saliency (gradient × input), integrated (integrated gradients), gnnexplainer (learns a mask; the default) or pg (PGExplainer: learns masks from other nodes first)."`
	Model     string `placeholder:"FILE" help:"A model that train --save wrote. Default: train a GAT first, on --dataset or else cora."`
	Top       int    `default:"10" placeholder:"K" help:"Show the K best edges and features, and measure the fidelity of the explanation that they make up. Default: 10."`
	Seed      uint64 `default:"0" placeholder:"N" help:"Seed of everything that is random: the first masks, the nodes that pg learns from, and the training without --model. Default: 0."`
	CSV       string `name:"csv" placeholder:"FILE" help:"Write the scores of all edges and features to this file."`
	Picture   string `placeholder:"FILE" help:"Draw the neighbourhood of the node to this .svg or .png file."`
	dataFlags `embed:""`
}

// pgEpochs is for how long pg learns. Tests learn for less.
var pgEpochs = 150

// explainMethods are what --method names.
var explainMethods = []string{"attention", "saliency", "integrated", "gnnexplainer", "pg"}

// Run explains a node's class.
func (c *explainCommand) Run(e env) error {
	if err := c.check(); err != nil {
		return err
	}
	n, k, err := c.subject(e)
	if err != nil {
		return err
	}
	m := n.Recipe.model()
	switch {
	case k.goal.kind != oneClass:
		return misuse("--dataset %s: its nodes have %s to predict, and explain works on classes", k.name, k.goal.kind.noun())
	case c.Node < 0 || int(c.Node) >= len(k.Labels):
		return misuse("--node %d: %s has the nodes 0 to %d", c.Node, k.Name, len(k.Labels)-1)
	case m.unmasked:
		return misuse("--model %s: %s joins nodes that no edge joins, so no edge can be left out alone: explain a model of another kind, such as gat", c.Model, m.title)
	case c.Method == "attention" && !slices.Contains(m.takes, "attention"):
		return misuse("--method attention: %s has no such setting; these models have it: %s", m.name, having("attention"))
	}
	defer par.SetThreads(c.Threads)()
	if n, err = n.still(); err != nil {
		return err
	}
	why, err := explain.New(k.asked(n), k.graph, k.rows, explain.Node{Number: c.Node, Hops: n.reach(k)})
	if err != nil {
		return err
	}
	x := &explained{task: k, net: n, why: why, command: c}
	if x.scores, err = x.explain(); err != nil {
		return err
	}
	if err := x.files(); err != nil {
		return err
	}
	return x.print(report.NewPrinter(e.out))
}

// check returns an error for flags that ask for what cannot be.
func (c *explainCommand) check() error {
	switch {
	case c.Top < 1:
		return misuse("--top %d: it must be at least 1", c.Top)
	case c.Threads < 0:
		return misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Picture != "" && !isPicture(c.Picture):
		return misuse("--picture %s: its name must end in .svg or .png", c.Picture)
	}
	if err := oneOf("--method", c.Method, explainMethods); err != nil {
		return err
	}
	for _, f := range []struct{ flag, path string }{{"csv", c.CSV}, {"picture", c.Picture}} {
		if err := target(f.flag, f.path); err != nil {
			return err
		}
	}
	in := append(datasetFiles("--dataset", c.Data, datasetNamed(or(c.Dataset, "cora"))), file{"--model", c.Model})
	return apart(in, []file{{"--csv", c.CSV}, {"--picture", c.Picture}})
}

// subject returns the model that is explained, and what it is used on.
func (c *explainCommand) subject(e env) (*network, *task, error) {
	if c.Model != "" {
		if savedTask(c.Model) == taskEdge {
			return nil, nil, misuse("%s is a model of edges, and explain needs a model of nodes", c.Model)
		}
		n, k, _, err := (&savedFlags{File: c.Model, dataFlags: c.dataFlags}).open(e)
		return n, k, err
	}
	defer par.SetThreads(c.Threads)()
	settings := &settingFlags{Dataset: c.Dataset, Splits: c.Splits, SplitNumber: c.Number, Seed: &c.Seed}
	r, err := settings.fresh()
	if err != nil {
		return nil, nil, err
	}
	k, err := openTask(c.Data, r.Dataset, r.Undirected, r.choice())
	if err != nil {
		return nil, nil, err
	}
	if r, err = settings.settled(k, r); err != nil {
		return nil, nil, err
	}
	fit, n, err := k.fit(r)
	if err != nil {
		return nil, nil, err
	}
	progress := report.NewProgress(e.errOut)
	progress.Show("training %s on %s first; --model FILE takes one that is there", r.model().title, k.Name)
	_, err = fit.Run(e.ctx)
	progress.Clear()
	return n, k, err
}

// still returns the network without dropout, so that it can be differentiated as it is.
func (n *network) still() (*network, error) {
	r := n.Recipe
	r.Dropout, r.AttnDrop = 0, 0
	out, err := newNetwork(r, n.In, n.Classes)
	if err != nil {
		return nil, err
	}
	values := map[string]*tensor.Dense{}
	for name, p := range grad.Params(n) {
		values[name] = p.Value
	}
	for name, p := range grad.Params(out) {
		p.Value = values[name]
	}
	return out, nil
}

// reach is over how many edges the network looks.
func (n *network) reach(k *task) int {
	switch m := n.Recipe.model(); {
	case m.alone:
		return 0
	case m.whole && !m.taught: // a layer looks several hops far, so all that there is may count
		return k.graph.NumNodes()
	}
	return len(n.Layers)
}

// asked is the network as package explain asks it: what edges carry is weighed, on top
// of weights that are those of the whole graph.
func (k *task) asked(n *network) explain.Model {
	return func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		return n.run(t, n.whole(k.weighed(n, g, weight), x))
	}
}

// weighed is where layers work on a part of the graph whose edges have weights on top
// of their own.
func (k *task) weighed(n *network, g *graph.Graph, weight *grad.Var) hop {
	if !n.Recipe.model().weighted {
		return hop{graph: g, mask: weight, edge: k.edgesOf(n, g)}
	}
	own := k.weights
	if own == nil {
		own = layers.SymmetricWeights(k.graph, nil)
	}
	own = own.Rows(g.From().Edges)
	if weight != nil {
		own = own.Mul(weight)
	}
	return hop{graph: g, weight: own}
}

// explained is an explanation and what is said of it.
type explained struct {
	*task
	net     *network
	why     *explain.Case
	command *explainCommand
	scores  *explain.Explanation
}

// explain scores edges and features by the method that is asked for.
func (x *explained) explain() (*explain.Explanation, error) {
	switch x.command.Method {
	case "saliency":
		return x.why.Saliency(), nil
	case "integrated":
		return x.why.Integrated(0), nil
	case "gnnexplainer":
		return (&explain.GNNExplainer{Seed: x.command.Seed}).Explain(x.why), nil
	case "pg":
		return x.learnt()
	}
	t, g := grad.NewEval(), x.why.Graph
	var alphas []*tensor.Dense
	for _, out := range x.net.attend(t, x.weighed(x.net, g, nil), grad.Const(x.why.Features)) {
		alphas = append(alphas, message.ApplyEdges(g, out.Attention).Value())
	}
	return x.why.Attention(alphas...), nil
}

// learnt scores edges by a PGExplainer that learns from other nodes, which are drawn.
func (x *explained) learnt() (*explain.Explanation, error) {
	const others = 32
	rng := rand.New(rand.NewPCG(x.command.Seed, 0x96))
	var cases []*explain.Case
	for _, v := range rng.Perm(x.graph.NumNodes()) {
		if int32(v) == x.command.Node || len(cases) == others {
			continue
		}
		c, err := explain.New(x.why.Model, x.graph, x.rows, explain.Node{Number: int32(v), Hops: x.net.reach(x.task)})
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	// The paper's factors, 0.05 and 1, leave all edges of some hundred out, and smaller ones of size alone none.
	l := &explain.PGExplainer{Seed: x.command.Seed, EdgeSize: 0.01, EdgeEntropy: 0.01, Epochs: pgEpochs}
	if err := l.Fit(x.net.hidden(grad.NewEval(), x.hop(x.net), x.features).Value(), cases); err != nil {
		return nil, err
	}
	return l.Explain(x.why), nil
}

// ends returns the nodes of an edge, as the dataset numbers them.
func (x *explained) ends(edge int32) (source, target int32) {
	g := x.why.Graph
	nodes := g.From().Src
	return nodes[g.In().Cols[edge]], nodes[g.Destinations()[edge]]
}

// files writes the files of --csv and --picture.
func (x *explained) files() error {
	if path := x.command.CSV; path != "" {
		if err := atomicfile.Write(path, x.csv); err != nil {
			return err
		}
	}
	if x.command.Picture == "" {
		return nil
	}
	p := draw.Explained{
		Dataset: x.Dataset, Class: x.why.Class, Method: x.command.Method, Graph: x.why.Graph, Edges: x.why.Edges(), Scores: x.scores.Edges, Best: x.scores.TopEdges(x.command.Top),
	}
	return p.Write(x.command.Picture)
}

// csv writes a line for each edge and each feature, the best first.
func (x *explained) csv(w io.Writer) error {
	p := report.NewPrinter(w)
	head, named := "kind,source,target,feature,score", len(x.NodeNames) > 0
	if named {
		head += ",source_name,target_name,feature_name"
	}
	p.Printf("%s\n", head)
	for _, edge := range x.scores.TopEdges(len(x.scores.Edges)) {
		u, v := x.ends(edge)
		p.Printf("edge,%d,%d,,%.6g", u, v, x.scores.Edges[edge])
		if named {
			p.Printf(",%s,%s,", cell(x.NodeNames[u]), cell(x.NodeNames[v]))
		}
		p.Printf("\n")
	}
	for _, j := range x.scores.TopFeatures(len(x.scores.Features)) {
		p.Printf("feature,,,%d,%.6g", j, x.scores.Features[j])
		if named {
			p.Printf(",,,%s", cell(x.featureName(j)))
		}
		p.Printf("\n")
	}
	return p.Err()
}

// featureName is what the dataset calls a feature; empty if it has no names, or if it is of an
// encoding.
func (k *task) featureName(j int32) string {
	if int(j) >= len(k.FeatureNames) {
		return ""
	}
	return k.FeatureNames[j]
}

// nodeName is what the dataset calls a node; empty if it has no names.
func (k *task) nodeName(v int32) string {
	if len(k.NodeNames) == 0 {
		return ""
	}
	return k.NodeNames[v]
}

// className is the name of a class, or its number.
func (k *task) className(c int) string {
	if c >= 0 && c < len(k.ClassNames) {
		return k.ClassNames[c]
	}
	return fmt.Sprintf("class %d", c)
}
