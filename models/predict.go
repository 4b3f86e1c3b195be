package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Predictor answers questions by a network that has learnt. The same row gets the same answer, to the bit, whatever other rows are there and in
// whatever order they stand, as long as its neighbourhood is the same.
type Predictor struct {
	*Trained
}

// Load reads the model file at path.
//
//	p, err := models.Load("model.safetensors")
//	answers, err := p.Predict(raw, models.Query{}) // of all rows that raw lists
func Load(path string) (p *Predictor, err error) {
	err = regular.Read(path, func(r io.ReaderAt, size int64) (err error) {
		p, err = Read(r, size)
		return err
	})
	return p, err
}

// Plan says what is computed. Answers are the same by each, to the bit.
type Plan string

// The plans. Without one the cheaper is taken.
const (
	Whole          Plan = "whole"          // the whole graph at once
	Layers         Plan = "layers"         // the whole graph one layer after another, some nodes at a time; for models whose layers look one hop far
	Neighbourhoods Plan = "neighbourhoods" // what the answers depend on, of rows in batches; for models whose layers look one hop far
)

// Query says what is asked.
type Query struct {
	IDs  []string  // nodes; of a model of edges, all edges of these. None: all rows that the data lists
	Rows []int32   // the same by their numbers among the rows that the data lists
	Base *form.Raw // rows that are known from before, which are neighbours and get no answer; a row that the data has too is that of the data

	Plan  Plan
	Batch int // rows that are answered at once, and of the plan Layers computed at once; 0: 4096, and of Layers as many as suit the sizes

	// Team is set where several processes answer together: each computes its share, and all have all answers. Each asks the same. With the plan
	// Whole, or where layers look several hops far, each computes everything.
	Team *ranks.Team

	Context context.Context // ends what is computed when it is cancelled, with its error; nil: nothing does
}

// check returns an error for what cannot be asked of a model.
func (q *Query) check(p *Predictor) error {
	m := p.Net.(*Network).Traits()
	switch plans := []Plan{Whole, Layers, Neighbourhoods}; {
	case q.Batch < 0:
		return fmt.Errorf("a query has a Batch of %d: rows that are answered at once must be 1 or more, or 0 for the usual number", q.Batch)
	case q.Plan != "" && !slices.Contains(plans, q.Plan):
		return fmt.Errorf("there is no plan %.40q; the choices are %s, %s and %s", q.Plan, Whole, Layers, Neighbourhoods)
	case q.Plan == Layers && m.far() != "":
		return fmt.Errorf("the plan %s is not for %s, which %s: leave it out, or write %s", Layers, m.Title, m.far(), Whole)
	case q.Context != nil:
		return q.Context.Err()
	}
	return nil
}

// within runs f, whose operations are on t, until the context ends.
func (q *Query) within(t *grad.Tape, f func()) error {
	if q.Context == nil {
		f()
		return nil
	}
	return t.Within(q.Context, f)
}

// plan is how a query about so many examples of a subject is answered. Ranks share what is computed layer by layer.
func (q *Query) plan(s *subject, n *Network, asked, batch int) Plan {
	plan := s.plans(n, q.Plan, asked, batch)
	if m := n.Traits(); plan == Whole && q.Plan == "" && q.Team.Size() > 1 && m.far() == "" {
		return Layers
	}
	return plan
}

// byLayers runs layers of a subject one after another, and end on what the last gives.
func (q *Query) byLayers(t *grad.Tape, n *Network, s *subject, depth int, end func(y *grad.Var) *grad.Var) (all *tensor.Dense, err error) {
	interrupted := q.within(t, func() {
		all, err = byLayers{whole: s.hop(n), depth: depth, rows: q.Batch, team: q.Team}.run(t, n, s.Rows, end)
	})
	return all, cmp.Or(interrupted, err)
}

// Answers are what a model says of some nodes, edges or graphs.
type Answers struct {
	Goal     *Goal
	IDs      []string // of nodes, edges or graphs; of edges without ids nil
	Types    []string // of nodes, where there are several
	Titles   []string // what people call nodes, where that is not their ids
	Rows     []int32  // where the nodes or graphs stand among the rows of their table
	Sources  []string // of edges the ids of the ends
	Targets  []string
	Classes  []int32       // the likeliest, or what the goal's threshold decides; nil of labels and numbers
	Values   *tensor.Dense // the probability of each class or label, or numbers in the data's own units
	Outputs  *tensor.Dense // what the network gives: logits, or standardised numbers
	Truth    *Goal         // what the data says of them; nil: nothing is known
	Warnings []string      // of the first batch: what was read in a way that may not be meant
}

// Len returns how many there are.
func (a *Answers) Len() int { return a.Values.Rows() }

// Best returns the name of the class that an answer gives, or its number if classes have no names, and the probability of that class. It is the
// likeliest class, or of two the one that the goal's threshold decides for, which may be less likely than the other. Of labels and
// numbers it returns "" and 0.
func (a *Answers) Best(i int) (class string, probability float64) {
	if a.Classes == nil {
		return "", 0
	}
	c := a.Classes[i]
	if class = fmt.Sprint(c); len(a.Goal.Names) > 0 {
		class = a.Goal.Names[c]
	}
	return class, float64(a.Values.Row(i)[c])
}

// Predict answers a query all at once.
func (p *Predictor) Predict(raw *form.Raw, q Query) (*Answers, error) {
	var out *Answers
	for a, err := range p.Each(raw, q) {
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = a
		} else {
			out.add(a)
		}
	}
	return out, nil
}

// add appends answers.
func (a *Answers) add(b *Answers) {
	a.IDs, a.Types, a.Titles, a.Rows = append(a.IDs, b.IDs...), append(a.Types, b.Types...), append(a.Titles, b.Titles...), append(a.Rows, b.Rows...)
	a.Sources, a.Targets = append(a.Sources, b.Sources...), append(a.Targets, b.Targets...)
	a.Classes = append(a.Classes, b.Classes...)
	a.Values, a.Outputs = below(a.Values, b.Values), below(a.Outputs, b.Outputs)
	if t := a.Truth; t != nil && b.Truth != nil {
		own := *t
		own.Labels = append(slices.Clip(t.Labels), b.Truth.Labels...)
		own.Tags, own.Numbers = below(t.Tags, b.Truth.Tags), below(t.Numbers, b.Truth.Numbers)
		a.Truth = &own
	}
}

// below returns the rows of x and then those of y; nil of nil.
func below(x, y *tensor.Dense) *tensor.Dense {
	if x == nil || y == nil {
		return nil
	}
	return tensor.Of(append(x.Data, y.Data...), x.Rows()+y.Rows(), x.Dim(1))
}

// Each answers a query in batches, so that not all answers are held at once. There is a batch at least; the first has the warnings.
func (p *Predictor) Each(raw *form.Raw, q Query) iter.Seq2[*Answers, error] {
	if err := p.answers(Nodes, Edges); err != nil {
		return func(yield func(*Answers, error) bool) { yield(nil, err) }
	}
	return p.about(q, func() (*subject, error) { return p.read(raw, q) })
}

// about answers a query about what open returns.
func (p *Predictor) about(q Query, open func() (*subject, error)) iter.Seq2[*Answers, error] {
	return func(yield func(*Answers, error) bool) {
		s, err := open()
		if err != nil {
			yield(nil, fmt.Errorf("models: %w", err))
			return
		}
		for a, err := range p.each(s, q) {
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// answers returns an error unless the model is of one of these tasks.
func (p *Predictor) answers(tasks ...Task) error {
	if !slices.Contains(tasks, p.Task) {
		return fmt.Errorf("models: it is a model of the task %s, which another method answers", p.Task)
	}
	return nil
}

// Of answers a query about a dataset that was read before, in which nodes are known by their numbers, or by their names if they have
// some.
func (p *Predictor) Of(d *datasets.Dataset, q Query) iter.Seq2[*Answers, error] {
	return p.about(q, func() (*subject, error) { return p.subjectOf(d, q) })
}

// subjectOf prepares a dataset that was read before.
func (p *Predictor) subjectOf(d *datasets.Dataset, q Query) (*subject, error) {
	if err := p.answers(Nodes, Edges); err != nil {
		return nil, err
	}
	if err := q.check(p); err != nil {
		return nil, err
	}
	if q.Base != nil {
		return nil, errors.New("a dataset that was read before cannot be joined with others: read it as form.Raw")
	}
	s := &subject{plan: q.Plan, warnings: slices.Clone(d.Warnings)}
	var err error
	if p.Preparation.Undirected {
		d = d.Undirected()
	}
	if s.Data, err = p.prepare(d); err != nil {
		return nil, err
	}
	all := idsOf(d)
	s.nodes = q.Rows
	switch {
	case len(q.IDs) > 0:
		at := map[string]int32{}
		for v := range int32(d.Graph.NumNodes()) {
			at[all[v]] = v
		}
		for _, id := range q.IDs {
			v, ok := at[id]
			if !ok {
				return nil, unknownNode(id, all, len(d.NodeIDs) > 0)
			}
			s.nodes = append(s.nodes, v)
		}
	case len(q.Rows) == 0:
		s.nodes = numbersTo(d.Graph.NumNodes())
	}
	some := make([]bool, d.Graph.NumNodes())
	for _, v := range s.nodes {
		if v < 0 || int(v) >= len(some) {
			return nil, fmt.Errorf("there is no node %d: they are numbered from 0 to %d", v, len(some)-1)
		}
		some[v] = true
		s.ids, s.rows = append(s.ids, all[v]), append(s.rows, v)
	}
	if d.Graph.NumEdges() == 0 && !p.Net.(*Network).Traits().Alone {
		s.warnings = append(s.warnings, noEdges(d.Name, len(s.nodes)))
	}
	if p.Task == Edges {
		at, to := numbersTo(d.Graph.NumEdges()), d.Graph.Destinations() // where each edge is in the order of s
		if s.Graph != d.Graph {
			for e, own := range s.Graph.From().Edges {
				at[own] = int32(e)
			}
		}
		for e, u := range d.Graph.In().Cols {
			if some[u] || some[to[e]] {
				a := edgeAsked{source: all[u], target: all[to[e]], edge: at[e]}
				if len(d.EdgeNames) > 0 {
					a.id = d.EdgeNames[e]
				}
				s.edges = append(s.edges, a)
			}
		}
	}
	return s, nil
}

// prepare makes of a dataset what the network reads, in an order that does not depend on where it came from.
func (p *Predictor) prepare(d *datasets.Dataset) (*Data, error) {
	if p.Preparation.Undirected {
		d = d.Undirected()
	}
	if !p.keepsOrder() {
		d = canonical(d)
	}
	k, err := Prepare(d, &p.Preparation)
	if err != nil {
		return nil, err
	}
	n := p.Net.(*Network)
	if k.Rows.Shape()[1] != n.Shape.In {
		return nil, fmt.Errorf("nodes have %d features, and the network reads %d: use data whose columns are those of its training", k.Rows.Shape()[1], n.Shape.In)
	}
	if err := k.CheckWeights(n.Traits()); err != nil {
		return nil, err
	}
	if n.Head == nil {
		return k, nil
	}
	if k.Pairing = plainPairing(k.Dataset); n.Head.Mirrored {
		if k.Pairing = mirrored(k.Dataset); k.Pairing == nil {
			return nil, errors.New("it is a model of edges without direction, and these have one: say that both directions of each are meant (undirected)")
		}
	}
	if k.Pairing.Describe(k.Own, n.Shape.EdgeCodes...); widthOf(k.Pairing.Own) != n.Head.Own {
		return nil, fmt.Errorf("its head is for %d features of edges, and these have %d", n.Head.Own, widthOf(k.Pairing.Own))
	}
	return k, nil
}

// reach is over how many edges a part of the graph has to go that has all that an answer depends on.
func (p *Predictor) reach() int {
	n := p.Net.(*Network)
	switch m := n.Traits(); {
	case m.Alone && n.Head == nil:
		return 0
	case m.Alone:
		return 1
	case m.Symmetric: // it reads the degrees of the farthest nodes
		return len(n.Layers) + 1
	}
	return len(n.Layers)
}

// choose returns the plan of a query: what is asked for, or the cheaper.
func (p *Predictor) choose(raw *form.Raw, asked []form.Row, q Query) (Plan, error) {
	n := p.Net.(*Network)
	why := n.Traits().Whole
	if p.Preparation.Encoding != "" {
		why = "reads encodings of the whole graph"
	}
	if p.identity() {
		why = "has a feature for each node of the whole graph"
	}
	rows := 0
	for t := range raw.Nodes {
		rows += raw.Nodes[t].Rows
	}
	switch {
	case q.Plan == Neighbourhoods && why != "":
		return "", fmt.Errorf("the plan %s is not for a model that %s: leave it out, or write %s", Neighbourhoods, why, Whole)
	case q.Plan != "":
		return q.Plan, nil
	case why == "" && 4*len(asked) < rows:
		return Neighbourhoods, nil
	}
	return Whole, nil
}

// each answers what is asked about a subject, in batches.
func (p *Predictor) each(s *subject, q Query) iter.Seq2[*Answers, error] {
	return func(yield func(*Answers, error) bool) {
		examples := s.nodes
		if p.Task == Edges {
			examples = nil
			for _, e := range s.edges {
				examples = append(examples, e.edge)
			}
		}
		const usual = 4096
		size := q.Batch
		if size <= 0 {
			size = usual
		}
		of, err := p.outputs(s, q, examples, size)
		if err != nil {
			yield(nil, fmt.Errorf("models: %w", err))
			return
		}
		for lo := 0; lo == 0 || lo < len(examples); lo += size {
			hi := min(lo+size, len(examples))
			y := tensor.New(0, p.Goal.Outputs)
			if hi > lo {
				if y, err = of(examples[lo:hi]); err != nil {
					yield(nil, fmt.Errorf("models: %w", err))
					return
				}
			}
			a := p.batch(s, y, examples, lo, hi)
			if lo == 0 {
				a.Warnings = s.warnings
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// outputs returns what gives the outputs of the examples that are asked about, one batch of a size after another.
func (p *Predictor) outputs(s *subject, q Query, examples []int32, size int) (of func(some []int32) (*tensor.Dense, error), err error) {
	n, t := p.Net.(*Network), grad.NewEval()
	if len(examples) == 0 {
		return nil, nil
	}
	var all *tensor.Dense
	switch plan := q.plan(s, n, len(examples), size); {
	case plan == Whole:
		err = q.within(t, func() { all = n.Run(t, s.all(n)).Value() })
	case plan == Layers && n.Head == nil:
		all, err = q.byLayers(t, n, s, len(n.Layers), func(y *grad.Var) *grad.Var { return n.finish(t, Pass{}, y) })
	case plan == Layers:
		if all, err = q.byLayers(t, n, s, len(n.Layers), nil); err != nil {
			return nil, err
		}
		rows := grad.Const(all)
		return func(some []int32) (y *tensor.Dense, err error) {
			t.Reset()
			err = q.within(t, func() { y = n.finish(t, Pass{Ends: s.Pairing.Some(some, nil)}, rows).Value().Clone() })
			return y, err
		}, nil
	default:
		of = func(some []int32) (y *tensor.Dense, err error) {
			different, at := distinctOf(some)
			t.Reset()
			err = q.within(t, func() { y = pick(n.Run(t, s.needed(n, different)).Value(), at) })
			return y, err
		}
		if q.Team.Size() > 1 {
			of = p.inTurn(of, q.Team, examples, size)
		}
		return of, nil
	}
	return func(some []int32) (*tensor.Dense, error) { return pick(all, some), nil }, err
}

// inTurn returns of for the ranks of a team, which compute the batches in turn: each computes one of as many as there are ranks,
// and gets the others' outputs.
func (p *Predictor) inTurn(of func([]int32) (*tensor.Dense, error), team *ranks.Team, examples []int32, size int) func([]int32) (*tensor.Dense, error) {
	next, ready := 0, []*tensor.Dense(nil)
	return func([]int32) (*tensor.Dense, error) {
		if len(ready) == 0 {
			var own []tensor.Float
			sizes, all := make([]int, team.Size()), tensor.New(min(team.Size()*size, len(examples)-next), p.Goal.Outputs)
			for i := range sizes {
				lo, hi := min(next+i*size, len(examples)), min(next+(i+1)*size, len(examples))
				sizes[i] = (hi - lo) * p.Goal.Outputs
				ready = append(ready, tensor.Of(all.Data[(lo-next)*p.Goal.Outputs:(hi-next)*p.Goal.Outputs], hi-lo, p.Goal.Outputs))
				if i == team.Rank() && hi > lo {
					y, err := of(examples[lo:hi])
					if err != nil {
						return nil, err
					}
					own = y.Data
				}
			}
			if err := ranks.Share(team, own, all.Data, sizes); err != nil {
				return nil, err
			}
			next += team.Size() * size
		}
		y := ready[0]
		ready = ready[1:]
		return y, nil
	}
}

// distinctOf returns what is in a list, ascending, and where each of the list is there.
func distinctOf(list []int32) (different, at []int32) {
	different, at = slices.Compact(slices.Sorted(slices.Values(list))), make([]int32, len(list))
	for i, v := range list {
		k, _ := slices.BinarySearch(different, v)
		at[i] = int32(k)
	}
	return different, at
}

// batch answers what is asked about the examples from lo to hi, whose outputs are y.
func (p *Predictor) batch(s *subject, y *tensor.Dense, examples []int32, lo, hi int) *Answers {
	some := examples[lo:hi]
	a := &Answers{Goal: p.Goal, Values: p.Goal.Values(y), Outputs: y, Truth: p.truth(s.Goal, some)}
	if p.Task == Edges {
		for _, e := range s.edges[lo:hi] {
			a.Sources, a.Targets = append(a.Sources, e.source), append(a.Targets, e.target)
			if e.id != "" {
				a.IDs = append(a.IDs, e.id)
			}
		}
	} else {
		a.IDs, a.Rows = s.ids[lo:hi:hi], s.rows[lo:hi:hi]
		if s.types != nil {
			a.Types = s.types[lo:hi:hi]
		}
		if names := s.NodeNames; len(names) > 0 && !slices.Equal(names, s.NodeIDs) {
			for _, v := range s.nodes[lo:hi] {
				a.Titles = append(a.Titles, names[v])
			}
		}
	}
	a.Classes = p.Goal.Decide(y)
	return a
}

// truth is what the data says of some examples, whose classes are numbered as the model's; nil: nothing, or of something else.
func (p *Predictor) truth(all *Goal, some []int32) *Goal {
	if all == nil || all.Of != p.Goal.Of || all.Kind != p.Goal.Kind || all.Kind != columns.OneClass && all.Outputs != p.Goal.Outputs {
		return nil
	}
	out := all.Only(some)
	out.Scale = p.Goal.Scale
	if all.Kind != columns.OneClass {
		return out
	}
	out.Outputs = p.Goal.Outputs
	if len(all.Names) > 0 && len(p.Goal.Names) > 0 && !slices.Equal(all.Names, p.Goal.Names) {
		for i, c := range out.Labels {
			if c >= 0 {
				out.Labels[i] = int32(slices.Index(p.Goal.Names, all.Names[c]))
			}
		}
		out.Names = p.Goal.Names
	}
	for i, c := range out.Labels {
		if int(c) >= out.Outputs {
			out.Labels[i] = -1
		}
	}
	return out
}

// hop is the whole graph as the layers see it: weights of edges are normalised on their own, as they are in a part of the graph.
func (s *subject) hop(n *Network) Hop {
	h := s.Hop(n)
	if n.Traits().Symmetric {
		h.Weight = s.Symmetric()
	}
	return h
}

// all is a pass over the whole graph that gives a row for each node, or for each edge.
func (s *subject) all(n *Network) Pass {
	p := s.All(n)
	p.Hops = n.Whole(s.hop(n), nil).Hops
	return p
}

// needed is a pass that gives the rows of different nodes, or edges, in their order.
func (s *subject) needed(n *Network, examples []int32) Pass {
	seeds := examples
	if s.Pairing != nil {
		seeds = s.Pairing.Nodes(examples)
	}
	p := s.pass(n, s.blocksOf(n, seeds))
	if s.Pairing != nil {
		p.Ends = s.Pairing.Some(examples, seeds)
	}
	return p
}

// blocksOf returns a block for each layer.
func (s *subject) blocksOf(n *Network, seeds []int32) []*graph.Graph {
	return graph.Must(graph.Blocks(s.seen(n), seeds, len(n.Layers)))
}
