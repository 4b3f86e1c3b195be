package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
)

// loader returns the batches of a training: some of the training nodes at a time, or the
// ends of some of the edges, each with the neighbours that its layers look at. Where none are drawn it is all
// of them, and what a step computes is what the whole graph would give.
func (k *Examples) loader(net *Network) *sample.Loader {
	r := &net.Recipe
	g, w := k.seen(net)
	l := &sample.Loader{
		Sampler: sample.Sampler{Graph: g, Fanout: r.fanout(), Seed: r.Seed},
		Nodes:   k.Parts.Train, Size: r.Batch, Features: k.Inputs, Weights: w, Sums: r.Fanout != "" && r.Traits().Sums,
	}
	if r.Fanout != "" && r.Traits().Edges.Kinds() && len(g.Kinds()) > 0 {
		l.Kinds, l.Fanout = sample.EachKind(g, l.Fanout), nil
	}
	if k.pairs != nil {
		l.Nodes, l.Edges, l.Ends = nil, k.Parts.Train, k.Graph
	}
	return l
}

// lossOfBatch returns the loss of b, the batch of a step.
func (k *Examples) lossOfBatch(net *Network, at **sample.Batch) func(t *grad.Tape) *grad.Var {
	return func(t *grad.Tape) *grad.Var {
		b := *at
		p := k.passOf(net, b.Blocks, b.Weights, grad.Const(b.X))
		if k.pairs != nil {
			p.Ends = &models.Ends{From: b.From, To: b.To, Own: k.pairs.Features(b.Edges)}
		}
		return k.Goal.LossOf(net.Recipe.Loss, k.examples(b))(net.Run(t, p))
	}
}

// examples are the nodes of a batch that train, or the edges.
func (k *Examples) examples(b *sample.Batch) []int32 {
	if k.pairs != nil {
		return b.Edges
	}
	return b.Seeds
}

// seen returns the graph whose blocks a network reads, and the weights of its edges,
// nil if it reads none. For a model that looks at no neighbours it has no edges.
func (k *Examples) seen(net *Network) (*graph.Graph, *tensor.Dense) {
	switch m := net.Recipe.Traits(); {
	case m.Symmetric:
		w := k.EdgeWeights
		if w == nil {
			w = layers.SymmetricWeights(k.Looped, nil)
		}
		return k.Looped, w.Value()
	case m.Alone:
		return graph.Must(graph.New(k.Looped.NumNodes(), nil, nil)), nil
	}
	return k.Looped, nil
}

// passOf is a pass over blocks, whose edges may have weights.
func (k *Examples) passOf(net *Network, blocks []*graph.Graph, weights []*tensor.Dense, x *grad.Var) models.Pass {
	p := models.Pass{Hops: make([]models.Hop, len(blocks)), X: x}
	for i, b := range blocks {
		p.Hops[i].Graph, p.Hops[i].Edge = b, k.edgesOf(net, b)
		switch {
		case weights == nil:
		case net.Traits().Sums:
			p.Hops[i].Mask = grad.Const(weights[i])
		default:
			p.Hops[i].Weight = grad.Const(weights[i])
		}
	}
	return p
}

// lossOf returns the loss of all training nodes, or edges, at once. Of the rows of each layer
// only those are computed that it depends on: of the last the training nodes', of
// the one before those and their in-neighbours', and so on. The others would be
// neither seen by the loss nor get a gradient, so loss and gradients are those of
// the whole graph; where few nodes train they are most of the work.
func (k *Examples) lossOf(net *Network) func(t *grad.Tape) *grad.Var {
	of, p := k.Goal.LossOf(net.Recipe.Loss, k.Parts.Train), k.Needed(net)
	loss := func(t *grad.Tape) *grad.Var { return of(net.Run(t, p)) }
	return net.Teach(k.Looped, net.Recipe.Seed, loss)
}

// Needed returns what a network computes for the training nodes' sake: all rows if
// the recipe asks for them, if a layer looks several hops far, if a batch norm needs the
// statistics of all of them, or if the others would save little.
func (k *Examples) Needed(net *Network) models.Pass {
	if net.Recipe.Rows != rowsAll && net.Recipe.Traits().Whole == "" && net.Settings.Norm != models.NormBatch {
		if p := k.near.of(net, k); p.Hops != nil {
			return p
		}
	}
	return k.Every(net)
}

// Every is needed with all rows.
func (k *Examples) Every(net *Network) models.Pass {
	p := net.Whole(k.Hop(net), k.X)
	if k.pairs != nil {
		p.Ends = k.pairs.Some(k.Parts.Train, nil)
	} else {
		p.Rows = k.Parts.Train
	}
	return p
}

// nearby keeps what the networks of a task and a split need: it is the same for all
// seeds, which may train side by side.
type nearby struct {
	mu     sync.Mutex
	passes map[nearKey]models.Pass
}

// nearKey is what of a network decides what it needs.
type nearKey struct {
	layers           int
	symmetric, alone bool
	edges            bool // features of edges are read
}

func (n *nearby) of(net *Network, k *Examples) models.Pass {
	m := net.Recipe.Traits()
	key := nearKey{len(net.Layers), m.Symmetric, m.Alone, net.Recipe.EdgeIn > 0}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.passes[key]
	if !ok {
		p = k.few(net)
		if n.passes == nil {
			n.passes = map[nearKey]models.Pass{}
		}
		n.passes[key] = p
	}
	return p
}

// few is a pass over what the training nodes need, whose features are gathered if
// they are not nearly all; no hops if the whole graph may as well be run.
func (k *Examples) few(net *Network) models.Pass {
	g, w := k.seen(net)
	seeds := k.Parts.Train
	if k.pairs != nil {
		seeds = k.pairs.Nodes(seeds)
	}
	blocks := graph.Must(sample.Needed(g, seeds, len(net.Layers))) // distinct nodes of the graph
	if blocks == nil {
		return models.Pass{}
	}
	x := k.X
	if blocks[0].NumSrc() < g.NumSrc() {
		x = grad.Const(datasets.GatherRows(k.Inputs, blocks[0].From().Src))
	}
	var weights []*tensor.Dense
	if w != nil {
		for _, b := range blocks {
			part := tensor.New(b.NumEdges(), 1)
			tensor.GatherRows(part, w, b.From().Edges)
			weights = append(weights, part)
		}
	}
	p := k.passOf(net, blocks, weights, x)
	if k.pairs != nil {
		p.Ends = k.pairs.Some(k.Parts.Train, seeds)
	}
	return p
}

// setFanout sets how many neighbours are drawn, in the form in which numbers are
// printed: " 15, 010" is "15,10".
func (r *Recipe) setFanout(flag *string) {
	if flag == nil {
		return
	}
	r.Fanout = *flag
	ks, err := numbers(r.Fanout)
	if err != nil {
		return // the check says so
	}
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = strconv.Itoa(k)
		if k == sample.All {
			words[i] = allWord
		}
	}
	r.Fanout = strings.Join(words, ",")
}

// allWord is all neighbours in --fanout.
const allWord = "all"

// numbers reads what is given as --fanout.
func numbers(list string) ([]int, error) {
	var out []int
	for _, word := range strings.Split(list, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(word))
		if strings.TrimSpace(word) == allWord {
			k, err = sample.All, nil
		}
		if err != nil || k < 1 {
			return nil, cli.Misuse("--fanout %.60s: %.60q is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all", list, word)
		}
		out = append(out, k)
	}
	return out, nil
}

// allWritten is a fan-out of a file in today's words: older versions wrote 0 for all.
func allWritten(fanout string) string {
	words := strings.Split(fanout, ",")
	for i, w := range words {
		if w == "0" {
			words[i] = allWord
		}
	}
	return strings.Join(words, ",")
}

// fanout returns how many neighbours are drawn for a node in each layer.
func (r *Recipe) fanout() []int {
	if r.Fanout == "" {
		return slices.Repeat([]int{sample.All}, r.Layers)
	}
	ks, err := numbers(r.Fanout)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return ks
}

// checkFanout returns an error for neighbours that cannot be drawn.
func (r *Recipe) checkFanout() error {
	if r.Fanout == "" {
		return nil
	}
	m, err := FindModel(r.Model)
	if err != nil {
		return err
	}
	ks, err := numbers(r.Fanout)
	switch {
	case err != nil:
		return err
	case m.Whole != "":
		return cli.Misuse("--fanout %s: a layer of %s %s: leave it out", r.Fanout, r.Model, m.Whole)
	case len(ks) != r.Layers:
		return cli.Misuse("--fanout %s: numbers given: %d, layers: %d; give one for each layer", r.Fanout, len(ks), r.Layers)
	case r.Batch == 0:
		return cli.Misuse("--fanout %s: neighbours are drawn for batches: give --batch too, such as --batch 1024", r.Fanout)
	}
	return nil
}

// checkAccumulate returns an error for batches that cannot be taken together.
func (r *Recipe) checkAccumulate() error {
	switch {
	case r.Accumulate < 0:
		return cli.Misuse("--accumulate %d: it must be at least 1", r.Accumulate)
	case r.Accumulate > 1 && r.Batch == 0:
		return cli.Misuse("--accumulate %d: it adds up batches, and a step is on all nodes at once: give --batch too, such as --batch 1024", r.Accumulate)
	}
	return nil
}

// batching says what a step on some of the nodes reads, "" if it is on all.
func (r *Recipe) batching(example string) string {
	if r.Batch == 0 {
		return ""
	}
	text := fmt.Sprintf("batches of %d %ss", r.Batch, example)
	if r.Accumulate > 1 {
		text += fmt.Sprintf(", %d for each step of the optimiser,", r.Accumulate)
	}
	if r.Fanout == "" {
		return text + " with all their neighbours"
	}
	var drawn []string
	for i, k := range r.fanout() {
		if k == sample.All {
			drawn = append(drawn, fmt.Sprintf("all in layer %d", i+1))
		} else {
			drawn = append(drawn, fmt.Sprintf("%d in layer %d", k, i+1))
		}
	}
	each := "node"
	if r.Traits().Edges.Kinds() {
		each = "node by each kind of edge"
	}
	return text + "; neighbours drawn for each " + each + ": " + strings.Join(drawn, ", ") + "; evaluations read all"
}

// training returns the task that steps are made on: k itself, or for --inductive that of
// the nodes that train alone, with the edges among them. Evaluations are k's, so they meet
// nodes and edges that no step has seen. An encoding is that of the smaller graph.
func (k *Examples) training(r *Recipe) (*Examples, error) {
	if !r.Inductive {
		return k, nil
	}
	nodes := k.Parts.Train
	part := graph.Must(k.Looped.Subgraph(nodes))
	seen := &Examples{Dataset: k.Dataset, Called: k.Called, Looped: part, near: new(nearby), words: k.words, Form: k.Form}
	seen.plain = datasets.GatherRows(k.plain, nodes)
	seen.Goal, seen.Parts = k.Goal.OnlyOf(nodes), datasets.Split{Train: task.NumbersTo(len(nodes))}
	all, err := task.EncodingsOf(k.encoding)
	if err != nil {
		return nil, err
	}
	if seen.encoded, err = all.Of(graph.Must(k.Graph.Subgraph(nodes))); err != nil {
		return nil, fmt.Errorf("the nodes that train: %w", err)
	}
	seen.join()
	if k.edges != nil {
		seen.edges = datasets.GatherRows(k.edges, part.From().Edges).(*tensor.Dense)
	}
	if k.looped != nil {
		w := tensor.New(part.NumEdges(), 1)
		for i, e := range part.From().Edges {
			w.Data[i] = k.looped[e]
		}
		seen.EdgeWeights = layers.SymmetricWeights(part, grad.Const(w))
	}
	return seen, nil
}
