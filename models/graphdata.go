package models

import (
	"errors"
	"fmt"
	"iter"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// mostDegrees is up to how many neighbours a node's degree is a feature of its own.
const mostDegrees = 64

// PrepareGraphs makes of many graphs what networks of a model read, once p says it, which it fits first if that has not been done, on the
// graphs that train in d.Split, or on all: features of nodes, of which attributes are standardised unless p has another form, or where there
// are none how many neighbours they have, encodings beside them, and loops or kinds of edges if the model wants them.
func PrepareGraphs(d *datasets.Graphs, m Model, p *Preparation) (_ *datasets.Graphs, err error) {
	traits := TraitsOf(m).Graphs
	if traits == nil {
		return nil, fmt.Errorf("models: %s has no form for graphs", TraitsOf(m).Title)
	}
	if !p.Fitted {
		if d, err = d.Fit(trainingGraphs(d)); err != nil {
			return nil, err
		}
		p.Degrees = d.Features == nil
	}
	if labels := d.WithoutAttributes(); p.OnlyLabels || p.Fitted && labels.Features != nil && labels.Features.Dim(1) == p.Width {
		d = labels
	}
	if p.Degrees {
		own := *d
		own.Features = nil
		d = own.WithDegrees(mostDegrees)
	}
	if d.Features == nil {
		return nil, errors.New("nodes have no features, and the model was made for some: use data whose columns are those of its training")
	}
	width, kinds := d.Features.Dim(1), 0
	if !p.Fitted {
		if err := p.fitAttributes(d); err != nil {
			return nil, err
		}
	} else if width != p.Width {
		return nil, fmt.Errorf("nodes have %d features, and the model was made for %d: use data whose columns are those of its training", width, p.Width)
	}
	scaled := *d
	y, err := p.Features.Apply(d.Features)
	if err != nil {
		return nil, err
	}
	scaled.Features = y.(*tensor.Dense)
	d = &scaled
	x, err := encoded(d.Graph, p.Encoding)
	if err != nil {
		return nil, err
	}
	if x != nil {
		d = d.WithFeatures(x)
	}
	of, there := d.EdgeKinds()
	if traits.Edges.Kinds() && !p.NoEdges && there > 0 {
		kinds = there
	}
	if !p.Fitted {
		p.Width, p.Own, p.Kinds, p.Fitted = width, widthOf(d.EdgeFeatures), nil, true
		for i := range kinds {
			p.Kinds = append(p.Kinds, fmt.Sprint(i))
		}
	}
	switch {
	case traits.Edges.Numbers() && !p.NoEdges && widthOf(d.EdgeFeatures) != p.Own:
		return nil, fmt.Errorf("edges have %d features, and the model was made for %d: use data whose columns are those of its training", widthOf(d.EdgeFeatures), p.Own)
	case kinds != len(p.Kinds):
		return nil, fmt.Errorf("edges are of %d kinds, and the model was made for %d", kinds, len(p.Kinds))
	}
	out := *d
	if kinds > 0 {
		order, list := d.Graph.EdgeOrder(), make([]int32, len(of))
		for e, kind := range of {
			list[order[e]] = kind
		}
		if out.Graph, err = graph.WithKinds(d.Graph, list); err != nil {
			return nil, err
		}
	}
	if traits.Loops {
		out.Graph, out.EdgeFeatures, out.EdgeCodes, out.EdgeNumbers = graph.WithSelfLoops(d.Graph), nil, nil, 0
	}
	return &out, nil
}

// trainingGraphs returns the graphs that train, or all.
func trainingGraphs(d *datasets.Graphs) []int32 {
	if len(d.Split.Train) > 0 {
		return d.Split.Train
	}
	return numbersTo(d.Len())
}

// fitAttributes learns the scale of the attributes of the nodes of the graphs that train, if they are to be standardised. Labels, codes and
// attributes that are 0 or 1 stay as they are; if all are, there is nothing to scale.
func (p *Preparation) fitAttributes(d *datasets.Graphs) error {
	if p.Features.Form == "" {
		p.Features.Form = columns.Standard
	}
	if p.Features.Except = columns.PlacesOf(d.Codes); p.Features.Form != columns.Standard {
		return p.Features.Fit(d.Features, nil)
	}
	at, nodes := d.Graph.NodeOffsets(), []int32(nil)
	for _, g := range trainingGraphs(d) {
		for v := at[g]; v < at[g+1]; v++ {
			nodes = append(nodes, int32(v))
		}
	}
	other := make([]bool, d.Features.Dim(1)) // what is neither 0 nor 1 stands there
	for _, v := range nodes {
		for j, f := range d.Features.Row(int(v))[:d.Attributes] {
			other[j] = other[j] || f != 0 && f != 1
		}
	}
	for _, j := range p.Features.Except {
		other[j] = false
	}
	p.Features.Except = nil
	for j, is := range other {
		if !is {
			p.Features.Except = append(p.Features.Except, j)
		}
	}
	if len(p.Features.Except) == len(other) {
		p.Features = columns.Scaling{Form: columns.Raw}
	}
	return p.Features.Fit(d.Features, nodes)
}

// OfGraphs answers a query about many graphs. A graph gets the same answer, to the bit, whatever others are there.
func (p *Predictor) OfGraphs(d *datasets.Graphs, q Query) iter.Seq2[*Answers, error] {
	return func(yield func(*Answers, error) bool) {
		if err := p.answers(Graphs); err != nil {
			yield(nil, err)
			return
		}
		ids, k, err := p.graphsAsked(d, q)
		if err != nil {
			yield(nil, fmt.Errorf("models: %w", err))
			return
		}
		const usual = 64
		size := q.Batch
		if size <= 0 {
			size = usual
		}
		for lo := 0; lo == 0 || lo < len(ids); lo += size {
			some := ids[lo:min(lo+size, len(ids))]
			y := tensor.New(0, p.Goal.Outputs)
			if len(some) > 0 {
				y = p.graphRows(k, some)
			}
			a := &Answers{Goal: p.Goal, Values: p.Goal.Values(y), Outputs: y, Truth: p.truth(GoalOfGraphs(d), some), Rows: some, Classes: p.Goal.Decide(y)}
			for _, i := range some {
				a.IDs = append(a.IDs, graphName(d, i))
			}
			if lo == 0 {
				a.Warnings = d.Warnings
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// graphName is what a graph is called, or its number.
func graphName(d *datasets.Graphs, i int32) string {
	if int(i) < len(d.GraphNames) && d.GraphNames[i] != "" {
		return d.GraphNames[i]
	}
	return fmt.Sprint(i)
}

// graphsAsked returns the graphs that are asked about, and all as the network reads them.
func (p *Predictor) graphsAsked(d *datasets.Graphs, q Query) ([]int32, *datasets.Graphs, error) {
	n := p.Net.(*GraphNetwork)
	m, err := Named(n.Model)
	if err != nil {
		return nil, nil, err
	}
	ids := q.Rows
	if len(q.IDs) > 0 {
		at := map[string]int32{}
		for i := range int32(d.Len()) {
			at[graphName(d, i)] = i
		}
		for _, id := range q.IDs {
			i, ok := at[id]
			if !ok {
				return nil, nil, fmt.Errorf("there is no graph %.40q", id)
			}
			ids = append(ids, i)
		}
	} else if len(ids) == 0 {
		ids = numbersTo(d.Len())
	}
	for _, i := range ids {
		if i < 0 || int(i) >= d.Len() {
			return nil, nil, fmt.Errorf("there is no graph %d: they are numbered from 0 to %d", i, d.Len()-1)
		}
	}
	own := *d
	if !p.keepsOrder() {
		sorted := canonical(&datasets.Dataset{Graph: d.Graph, EdgeFeatures: d.EdgeFeatures})
		own.Graph, own.EdgeFeatures = sorted.Graph, sorted.EdgeFeatures
	}
	k, err := PrepareGraphs(&own, m, &p.Preparation)
	if err == nil && k.Features.Dim(1) != n.Shape.In {
		err = fmt.Errorf("nodes have %d features, and the network reads %d", k.Features.Dim(1), n.Shape.In)
	}
	return ids, k, err
}

// graphRows returns what the network says of some graphs.
func (p *Predictor) graphRows(k *datasets.Graphs, some []int32) *tensor.Dense {
	b, in := k.Batch(some), layers.In{}
	in.Src = grad.Const(b.Features)
	if p.Net.(*GraphNetwork).Shape.EdgeIn > 0 {
		in.Edge = grad.Const(b.EdgeFeatures)
	}
	return p.Net.(*GraphNetwork).Forward(grad.NewEval(), b.Graph, in).Value()
}
