package models

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Embeddings are rows of numbers that a network has learnt to make of nodes, graphs or entities.
type Embeddings struct {
	IDs   []string
	Types []string // of nodes, where there are several
	Rows  *tensor.Dense
	Users int // of users and items, the first so many are users

	Warnings []string
}

// Embed returns what the last layer of a model of nodes reads of each node, or the head of a model of edges.
func (p *Predictor) Embed(raw *form.Raw, q Query) (*Embeddings, error) {
	if err := p.answers(Nodes, Edges); err != nil {
		return nil, err
	}
	s, err := p.read(raw, q)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return p.embed(s, q)
}

// embed returns the rows of the nodes that are asked about.
func (p *Predictor) embed(s *subject, q Query) (*Embeddings, error) {
	n := p.Net.(*Network)
	out := &Embeddings{IDs: s.ids, Types: s.types, Warnings: s.warnings}
	depth := n.depth()
	if len(s.nodes) == 0 {
		out.Rows = tensor.New(0, max(1, n.rowWidth()))
		return out, nil
	}
	t, plan := grad.NewEval(), q.plan(s, n, len(s.nodes), len(s.nodes))
	if plan == Layers {
		all, err := q.byLayers(t, n, s, depth, nil)
		if err != nil {
			return nil, fmt.Errorf("models: %w", err)
		}
		out.Rows = pick(all, s.nodes)
		return out, nil
	}
	err := q.within(t, func() {
		switch {
		case plan == Whole || n.Traits().Alone:
			y := n.Through(t, slices.Repeat([]Hop{s.hop(n)}, depth), grad.Const(s.Rows))
			out.Rows = pick(y.Value(), s.nodes)
		default:
			different, at := distinctOf(s.nodes)
			pass := s.pass(n, graph.Must(graph.Blocks(s.GraphOf(n), different, depth)))
			out.Rows = pick(n.Through(t, pass.Hops, pass.X).Value(), at)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return out, nil
}

// EmbedOf is Embed of a dataset that was read before, and of models of links, too: two nodes are linked if the inner product of their
// rows is large. All links of the dataset are known then; those that are to be predicted must not be among them.
func (p *Predictor) EmbedOf(d *datasets.Dataset, q Query) (*Embeddings, error) {
	if p.Task == Links {
		out, err := p.embedLinks(d)
		if err != nil {
			return nil, fmt.Errorf("models: %w", err)
		}
		return out, nil
	}
	s, err := p.subjectOf(d, q)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return p.embed(s, q)
}

// embedLinks returns the rows of the nodes of a graph, or of LightGCN of all that it has learnt.
func (p *Predictor) embedLinks(d *datasets.Dataset) (*Embeddings, error) {
	n := p.Net.(*LinkNetwork)
	if n.Model == modelLightGCN {
		return p.propagated(d.Undirected())
	}
	if !n.Settings.Directed {
		d = d.Undirected()
	}
	if !p.keepsOrder() {
		d = canonical(d)
	}
	k, err := Prepare(d.Undirected(), &p.Preparation) // encodings are those of both directions
	if err != nil {
		return nil, err
	}
	if k.Rows.Shape()[1] != n.In {
		return nil, fmt.Errorf("nodes have %d features, and the network reads %d: use data whose columns are those of its training", k.Rows.Shape()[1], n.In)
	}
	along := k.GraphOf(new(Network))
	if n.Settings.Directed {
		along = graph.WithSelfLoops(d.Graph)
	}
	z, _ := n.Encode(grad.NewEval(), along, grad.Const(k.Rows))
	return &Embeddings{IDs: idsOf(d), Rows: z.Value()}, nil
}

// idsOf returns the ids of nodes, or their numbers.
func idsOf(d *datasets.Dataset) []string {
	if len(d.NodeIDs) > 0 {
		return d.NodeIDs
	}
	ids := make([]string, d.Graph.NumNodes())
	for v := range ids {
		ids[v] = fmt.Sprint(v)
	}
	return ids
}

// propagated returns the rows of LightGCN along the links among those that it has learnt. Others are left out, and counted.
func (p *Predictor) propagated(d *datasets.Dataset) (*Embeddings, error) {
	n, number := p.Net.(*LinkNetwork), make(map[string]int32, len(p.Learnt.IDs))
	users := p.Learnt.Users
	kind := func(v int) string { // a user may be called as an item is
		if v < users {
			return "user "
		}
		return "item "
	}
	for i, id := range p.Learnt.IDs {
		number[kind(i)+id] = int32(i)
	}
	ids := idsOf(d)
	at, unknown := make([]int32, len(ids)), 0
	for v, id := range ids {
		i, ok := number["item "+id]
		if users > 0 && d.NodeKinds != nil && d.NodeKinds.Of[v] == 0 {
			i, ok = number["user "+id]
		}
		if at[v] = i; !ok {
			at[v] = -1
			unknown++
		}
	}
	if unknown == len(ids) {
		return nil, errors.New("it has learnt rows of other nodes than these, of which it knows none")
	}
	var src, dst []int32
	to := d.Graph.Destinations()
	for e, u := range d.Graph.In().Cols {
		if a, b := at[u], at[to[e]]; a >= 0 && b >= 0 {
			src, dst = append(src, a), append(dst, b)
		}
	}
	g, err := graph.New(len(p.Learnt.IDs), src, dst)
	if err != nil {
		return nil, err
	}
	z, _ := n.Encode(grad.NewEval(), canonical(&datasets.Dataset{Graph: g}).Graph, nil)
	out := &Embeddings{IDs: p.Learnt.IDs, Rows: z.Value(), Users: users}
	if unknown > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d nodes are new to the model, which has learnt rows of %d and knows nothing of others: they are left out", unknown, len(p.Learnt.IDs)))
	}
	return out, nil
}

// EmbedGraphs returns what the last layer reads out of each graph.
func (p *Predictor) EmbedGraphs(d *datasets.Graphs, q Query) (*Embeddings, error) {
	if err := p.answers(Graphs); err != nil {
		return nil, err
	}
	ids, k, err := p.graphsAsked(d, q)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	n, out := p.Net.(*GraphNetwork), &Embeddings{Warnings: d.Warnings}
	const size = 64
	var rows []tensor.Float
	width := 0
	for some := range slices.Chunk(ids, size) {
		b := k.Batch(some)
		in := layers.In{Src: grad.Const(b.Features)}
		if n.Shape.EdgeIn > 0 {
			in.Edge = grad.Const(b.EdgeFeatures)
		}
		y := n.Embed(grad.NewEval(), b.Graph, in).Value()
		rows, width = append(rows, y.Data...), y.Dim(1)
		for _, i := range some {
			out.IDs = append(out.IDs, graphName(d, i))
		}
	}
	out.Rows = tensor.Of(rows, len(ids), width)
	return out, nil
}

// Entities returns the rows of a model of facts.
func (p *Predictor) Entities() (*Embeddings, error) {
	if err := p.answers(Facts); err != nil {
		return nil, err
	}
	return &Embeddings{IDs: p.Learnt.IDs, Rows: p.Net.(*FactNetwork).Entities.Value}, nil
}
