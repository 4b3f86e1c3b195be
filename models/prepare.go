package models

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Preparation is what becomes of a [datasets.Dataset] before a network reads it. What it learns from the rows that train is learnt
// once and kept with the model, so that any other rows become the same numbers. The zero value leaves features as they are.
type Preparation struct {
	Undirected bool            `json:"undirected,omitempty"`  // both directions of each edge
	Features   columns.Scaling `json:"features"`              // the form of the features of nodes
	Encoding   string          `json:"encoding,omitempty"`    // more features, such as pagerank,random-walk:16
	NoEdges    bool            `json:"no_edges,omitempty"`    // features and kinds of edges are not read
	OnlyLabels bool            `json:"only_labels,omitempty"` // of graphs whose nodes have attributes and labels the labels alone are read
	Edges      columns.Scaling `json:"edges"`                 // the form of the features of edges

	// What Prepare learns.
	Width  int      `json:"width,omitempty"`  // of the features of nodes, without encodings
	Sparse bool     `json:"sparse,omitempty"` // they are stored as a sparse matrix
	Own    int      `json:"own,omitempty"`    // features of edges
	Kinds  []string `json:"kinds,omitempty"`  // of edges
	Fitted bool     `json:"fitted,omitempty"`

	// What PrepareGraphs learns besides.
	Degrees bool `json:"degrees,omitempty"` // nodes have no features, and the network reads their degrees
}

// Suit gives the features of nodes the form that suits them: that of the papers for words, and raw for what a sum says nothing of.
func (p *Preparation) Suit(d *datasets.Dataset) {
	if p.Features.Form = columns.Raw; d.FeatureKind().Words() {
		p.Features.Form = columns.RowSums
	}
}

// Check returns an error for a preparation that cannot have been fitted.
func (p *Preparation) Check() error {
	const most = 1 << 28
	if err := p.Features.Check(); err != nil {
		return err
	}
	if err := p.Edges.Check(); err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	if _, err := ParseEncodings(p.Encoding); err != nil {
		return err
	}
	switch f, e := &p.Features, &p.Edges; {
	case !p.Fitted:
		return nil
	case p.Width < 0 || p.Width > most || p.Own < 0 || p.Own > most:
		return fmt.Errorf("%d features of nodes and %d of edges: there can be at most %d", p.Width, p.Own, most)
	case f.Form == columns.Standard && len(f.Mean) != p.Width || p.Own > 0 && e.Form == columns.Standard && len(e.Mean) != p.Own:
		return fmt.Errorf("scales of %d features of nodes and %d of edges, of which there are %d and %d", len(f.Mean), len(e.Mean), p.Width, p.Own)
	}
	return nil
}

// Fit learns from the rows of a dataset that train and those of which nothing is to be learnt, which are only seen beside others: of nodes, or
// of edges these and their ends. Without a split all rows train.
func (p *Preparation) Fit(d *datasets.Dataset) error {
	nodes, edges := seenAsTraining(d), []int32(nil)
	if d.LearnsEdges() {
		edges, nodes = nodes, nil
		seen := make([]bool, d.Graph.NumNodes())
		to := d.Graph.Destinations()
		for _, e := range edges {
			seen[d.Graph.In().Cols[e]], seen[to[e]] = true, true
		}
		for v, is := range seen {
			if is {
				nodes = append(nodes, int32(v))
			}
		}
	} else if len(nodes) > 0 { // the edges into nodes that train
		seen := make([]bool, d.Graph.NumNodes())
		for _, v := range nodes {
			seen[v] = true
		}
		for e, v := range d.Graph.Destinations() {
			if seen[v] {
				edges = append(edges, int32(e))
			}
		}
	}
	if len(nodes) == 0 {
		nodes = nil
	}
	if len(edges) == 0 {
		edges = nil
	}
	p.Width, p.Own, p.Kinds = d.Features.Shape()[1], 0, nil
	p.Features.Except, p.Edges.Except = columns.PlacesOf(d.Codes), nil
	_, p.Sparse = d.Features.(*sparse.CSR)
	if err := p.Features.Fit(d.Features, nodes); err != nil {
		return err
	}
	if d.EdgeFeatures != nil && !p.NoEdges {
		p.Own, p.Edges.Except = d.EdgeFeatures.Dim(1), columns.PlacesOf(d.EdgeCodes)
		if err := p.Edges.Fit(d.EdgeFeatures, edges); err != nil {
			return fmt.Errorf("edges: %w", err)
		}
	}
	if d.EdgeKinds.Known() && !p.NoEdges {
		p.Kinds = slices.Clone(d.EdgeKinds.Names)
	}
	p.Fitted = true
	return nil
}

// seenAsTraining returns the rows that train and those of which nothing is to be learnt, ascending; nil without a split.
func seenAsTraining(d *datasets.Dataset) []int32 {
	goal := GoalOf(d)
	if goal == nil || len(d.Split.Train) == 0 {
		return d.Split.Train
	}
	rows := slices.Clone(d.Split.Train)
	for v := range int32(goal.Len()) {
		if !goal.Known(v) {
			rows = append(rows, v)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// Data is a dataset as networks read it: every node its own neighbour, the features in the form that was prepared. Several
// goroutines may read it at once.
type Data struct {
	*datasets.Dataset
	Looped   *graph.Graph   // the graph with a loop at each node; its edges have kinds if those of the dataset have
	Plain    tensor.Array   // the features in their form
	Encoded  *tensor.Dense  // the encodings beside them; nil: there are none
	Rows     tensor.Array   // both
	Own      *tensor.Dense  // features of the dataset's edges in their form; nil: there are none
	Edges    *tensor.Dense  // of the looped graph's edges, zeros of the loops
	Strength []tensor.Float // weights of the looped graph's edges; nil: all are 1

	Goal        *Goal    // what is to be learnt; nil: nothing is
	Pairing     *Pairing // the edges that are told apart; nil: nodes are
	Preparation *Preparation

	kindless  *graph.Graph // Looped without kinds; nil: it has none
	x         *grad.Var    // Rows
	symmetric func() *grad.Var
}

// Prepare makes of a dataset what networks read. If p has not been fitted, p and the features of d are fitted first on the rows that train
// in d.Split, which may be another split than that of the files.
func Prepare(d *datasets.Dataset, p *Preparation) (*Data, error) {
	if p.Undirected {
		d = d.Undirected()
	}
	if !p.Fitted {
		if train := d.Split.Train; len(train) > 0 {
			var err error
			if d, err = d.Fit(train); err != nil {
				return nil, err
			}
		}
		if err := p.Fit(d); err != nil {
			return nil, err
		}
	}
	k := &Data{Dataset: d, Preparation: p, Goal: GoalOf(d)}
	var err error
	if k.Plain, err = p.Apply(d.Features); err != nil {
		return nil, err
	}
	if k.Encoded, err = encoded(d.Graph, p.Encoding); err != nil {
		return nil, err
	}
	k.Rows = beside(d.Graph, k.Plain, k.Encoded)
	k.x = grad.Const(k.Rows)
	if err := k.own(p); err != nil {
		return nil, err
	}
	kinds, err := p.kindsOf(d)
	if err != nil {
		return nil, err
	}
	looped := (&datasets.Dataset{Graph: d.Graph, Weights: d.Weights, EdgeFeatures: k.Own, EdgeKinds: kinds}).WithSelfLoops()
	k.Looped, k.Edges, k.Strength = looped.Graph, looped.EdgeFeatures, looped.Weights
	if kinds != nil {
		k.kindless = k.Looped
		if k.Looped, err = looped.EdgeKinds.On(k.kindless, int32(len(kinds.Names))); err != nil {
			return nil, err
		}
	}
	if err := k.learns(); err != nil {
		return nil, err
	}
	k.symmetric = sync.OnceValue(func() *grad.Var {
		if k.Strength == nil {
			return layers.SymmetricWeights(looped.Graph, nil)
		}
		return layers.SymmetricWeights(looped.Graph, grad.Const(tensor.Of(k.Strength, len(k.Strength), 1)))
	})
	return k, nil
}

// learns completes the goal by the examples that train, and makes the edges the examples if they are.
func (k *Data) learns() (err error) {
	if k.Goal == nil {
		return nil
	}
	if len(k.Split.Train) > 0 {
		if err := k.Goal.Learn(k.Split.Train); err != nil {
			return err
		}
	}
	if k.LearnsEdges() {
		if k.Pairing, err = NewPairing(k.Dataset, k.Goal, k.Preparation.Undirected); err != nil {
			return err
		}
		k.Pairing.Describe(k.Own, k.EdgeCodes...)
	}
	return nil
}

// Apply brings features of nodes into the form that was fitted. They are stored as those were: sums of a sparse row go another way than those
// of a dense one.
func (p *Preparation) Apply(x tensor.Array) (tensor.Array, error) {
	if x.Shape()[1] != p.Width {
		return nil, fmt.Errorf("nodes have %d features, and the model was made for %d: use data whose columns are those of its training", x.Shape()[1], p.Width)
	}
	switch a := x.(type) {
	case *sparse.CSR:
		if !p.Sparse {
			x = a.Dense()
		}
	case *tensor.Dense:
		if p.Sparse {
			x = sparse.FromDense(a)
		}
	}
	return p.Features.Apply(x)
}

// own brings the features of edges into their form.
func (k *Data) own(p *Preparation) error {
	x := k.EdgeFeatures
	switch {
	case p.Own == 0:
		return nil
	case x == nil && k.Graph.NumEdges() == 0:
		k.Own = tensor.New(0, p.Own)
		return nil
	case x == nil || x.Dim(1) != p.Own:
		return fmt.Errorf("edges have %d features, and the model was made for %d: use data whose columns are those of its training", widthOf(x), p.Own)
	}
	y, err := p.Edges.Apply(x)
	if err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	k.Own = y.(*tensor.Dense)
	return nil
}

// widthOf returns how many features edges have.
func widthOf(x *tensor.Dense) int {
	if x == nil {
		return 0
	}
	return x.Dim(1)
}

// kindsOf returns the kinds of a dataset's edges, numbered as those that were fitted; nil: there were none.
func (p *Preparation) kindsOf(d *datasets.Dataset) (*datasets.Kinds, error) {
	switch {
	case len(p.Kinds) == 0:
		return nil, nil
	case d.Graph.NumEdges() == 0:
		return &datasets.Kinds{Names: p.Kinds}, nil
	case !d.EdgeKinds.Known():
		return nil, fmt.Errorf("edges have no kinds, and the model was made for %d, such as %.40q: use data that say them", len(p.Kinds), p.Kinds[0])
	case slices.Equal(d.EdgeKinds.Names, p.Kinds):
		return d.EdgeKinds, nil
	}
	place := make([]int32, len(d.EdgeKinds.Names))
	for i, name := range d.EdgeKinds.Names {
		place[i] = int32(slices.Index(p.Kinds, name))
	}
	of := make([]int32, len(d.EdgeKinds.Of))
	for e, kind := range d.EdgeKinds.Of {
		if of[e] = place[kind]; of[e] < 0 {
			name := d.EdgeKinds.Names[kind]
			return nil, fmt.Errorf("edge %d is of the kind %.40q, which the model does not know; is it %.40q? It knows %d", e, name, spell.Nearest(name, p.Kinds), len(p.Kinds))
		}
	}
	return &datasets.Kinds{Names: p.Kinds, Of: of}, nil
}

// Shape returns what a network of a model reads of the data, for so many outputs: of edges what it can.
func (k *Data) Shape(m Model, outputs int) Shape {
	s, t := Shape{In: k.Rows.Shape()[1], Out: outputs, Codes: k.Codes}, TraitsOf(m)
	if t.Edges.Numbers() {
		s.EdgeIn = widthOf(k.Edges)
	}
	if s.EdgeIn > 0 || k.Pairing != nil && k.Pairing.Own != nil {
		s.EdgeCodes = k.EdgeCodes
	}
	if kinds := k.Kinds(); t.Edges.Kinds() && kinds > 0 {
		s.EdgeKinds = kinds + 1
	}
	return s
}

// Kinds returns how many kinds of edges there are, without that of loops.
func (k *Data) Kinds() int {
	if k.kindless == nil {
		return 0
	}
	return len(k.EdgeKinds.Names)
}

// GraphOf returns the graph that a network reads, with kinds if it reads them.
func (k *Data) GraphOf(n *Network) *graph.Graph {
	if n.Shape.EdgeKinds > 0 || k.kindless == nil {
		return k.Looped
	}
	return k.kindless
}

// Hop is the whole graph as a network's layers see it.
func (k *Data) Hop(n *Network) Hop {
	h := Hop{Graph: k.GraphOf(n), Edge: k.edgesOf(n, nil)}
	if n.Traits().Weighted && k.Strength != nil {
		h.Weight = k.symmetric()
	}
	return h
}

// Symmetric returns the weights of the looped graph's edges over the roots of their sums at both ends.
func (k *Data) Symmetric() *grad.Var { return k.symmetric() }

// edgesOf returns what a network reads of the edges of g, a part of the looped graph; of nil, of the whole one.
func (k *Data) edgesOf(n *Network, g *graph.Graph) *grad.Var {
	switch {
	case n.Shape.EdgeIn == 0:
		return nil
	case g == nil:
		return grad.Const(k.Edges)
	}
	return grad.Const(datasets.GatherRows(k.Edges, g.From().Edges))
}

// CheckWeights returns an error if a model divides by the roots of sums that may be negative.
func (k *Data) CheckWeights(m Traits) error {
	if !m.Weighted {
		return nil
	}
	to := k.Graph.Destinations()
	for e, w := range k.Dataset.Weights {
		if !(w >= 0) {
			return fmt.Errorf("the edge from node %d to node %d has the weight %v, and %s divides by roots of their sums: make them 0 or more, or take a model that reads no weights, such as gat",
				k.Graph.In().Cols[e], to[e], w, m.Title)
		}
	}
	return nil
}
