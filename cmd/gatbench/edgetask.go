package main

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// taskEdge is what --task says where edges are told apart. Its task is one of nodes whose
// examples are edges: a network of nodes, and a head that reads the rows of both ends.
const taskEdge = "edge"

// pairs are the edges of a graph as a head reads them. Where direction means nothing, an edge and
// its reverse are one pair; else each edge is one.
type pairs struct {
	mirrored bool
	from, to []int32       // the ends of each pair; of a mirrored one from is the smaller node
	edge     []int32       // the edge from from to to
	of       []int32       // the pair of each edge
	own      *tensor.Dense // features of each pair; nil: the head reads none
}

// newPairs returns the edges of a dataset. They are mirrored if each has a reverse and what is to
// be learnt of the two is the same; the error is of one that says otherwise, where both directions
// are meant.
func newPairs(d *datasets.Dataset, g *goal, undirected bool) (*pairs, error) {
	from, to := d.Graph.In().Cols, d.Graph.Destinations()
	all := numbersTo(len(from))
	plain := &pairs{from: from, to: to, edge: all, of: all}
	if !d.Graph.Symmetric() {
		return plain, nil
	}
	p := &pairs{mirrored: true, of: make([]int32, len(from))}
	number := make(map[[2]int32]int32, len(from)/2)
	for e, u := range from {
		if v := to[e]; u < v {
			number[[2]int32{u, v}] = int32(len(p.edge))
			p.from, p.to, p.edge = append(p.from, u), append(p.to, v), append(p.edge, int32(e))
		}
	}
	for e, u := range from {
		pair := number[[2]int32{min(u, to[e]), max(u, to[e])}]
		p.of[e] = pair
		switch there, back := p.edge[pair], int32(e); {
		case g.same(there, back):
		case undirected:
			return nil, fmt.Errorf("of the edge between %s and %s %s is learnt in one direction, and %s in the other: correct one of them, or leave undirected out if direction means something",
				nodeNamed(d, p.from[pair]), nodeNamed(d, p.to[pair]), g.shown(there, d.ClassNames), g.shown(back, d.ClassNames))
		default:
			return plain, nil
		}
	}
	return p, nil
}

// nodeNamed is a node as errors call it.
func nodeNamed(d *datasets.Dataset, v int32) string {
	if int(v) < len(d.NodeNames) {
		return fmt.Sprintf("%.40q", d.NodeNames[v])
	}
	return fmt.Sprint(v)
}

// describe gives the pairs the features of the edges, a row each; of a mirrored pair the mean of
// both.
func (p *pairs) describe(x *tensor.Dense) {
	if p.own = x; x == nil || !p.mirrored {
		return
	}
	p.own = tensor.New(len(p.edge), x.Dim(1))
	for e, pair := range p.of {
		row := p.own.Row(int(pair))
		for j, v := range x.Row(e) {
			row[j] += v / 2
		}
	}
}

// ends are the two nodes of some edges, as rows of what a network's layers return, and the edges'
// own features.
type ends struct {
	from, to []int32
	own      *grad.Var // nil: none are read
}

// all returns the ends of every pair.
func (p *pairs) all() *ends {
	e := &ends{from: p.from, to: p.to}
	if p.own != nil {
		e.own = grad.Const(p.own)
	}
	return e
}

// some returns the ends of some edges, among nodes whose rows are in that order; of nil in their
// own.
func (p *pairs) some(edges, nodes []int32) *ends {
	rows := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		rows[v] = int32(i)
	}
	e := &ends{make([]int32, len(edges)), make([]int32, len(edges)), p.features(edges)}
	for i, edge := range edges {
		pair := p.of[edge]
		u, v := p.from[pair], p.to[pair]
		if nodes != nil {
			u, v = rows[u], rows[v]
		}
		e.from[i], e.to[i] = u, v
	}
	return e
}

// features returns the features of some edges; nil: the head reads none.
func (p *pairs) features(edges []int32) *grad.Var {
	if p.own == nil {
		return nil
	}
	rows := make([]int32, len(edges))
	for i, e := range edges {
		rows[i] = p.of[e]
	}
	return grad.Const(datasets.GatherRows(p.own, rows))
}

// nodes returns the ends of some edges, each once, ascending.
func (p *pairs) nodes(edges []int32) []int32 {
	most := int32(-1)
	for _, e := range edges {
		most = max(most, p.from[p.of[e]], p.to[p.of[e]])
	}
	seen := make([]bool, most+1)
	for _, e := range edges {
		seen[p.from[p.of[e]]], seen[p.to[p.of[e]]] = true, true
	}
	var list []int32
	for v, is := range seen {
		if is {
			list = append(list, int32(v))
		}
	}
	return list
}

// edgesLearnt makes the edges of a dataset the examples of its task.
func (k *task) edgesLearnt(undirected bool) (err error) {
	_, columns := datasets.CutColumns(k.name)
	for word := range strings.SplitSeq(columns, ",") {
		undirected = undirected || strings.TrimSpace(word) == "undirected"
	}
	k.goal = newGoal("edge", k.Classes, k.EdgeLabels, nil, k.EdgeTargets)
	if k.pairs, err = newPairs(k.Dataset, k.goal, undirected); err != nil {
		return misuse("--dataset %s: %w", k.name, err)
	}
	return nil
}

// learnable returns an error for a dataset that has nothing to learn of what a task is about; an
// empty one stands for nodes or edges, as the data has it.
func learnable(d *datasets.Dataset, what, name string) error {
	edges := d.LearnsEdges()
	switch nodes := len(d.Labels) > 0 || d.MultiLabels != nil || d.Targets != nil; {
	case what == taskNode && edges:
		return misuse("--dataset %s: the column after the # is one of its edges: use --task edge, or name a column of the nodes after the #", name)
	case what == taskEdge && !edges:
		file, _ := datasets.CutColumns(name)
		return misuse("--dataset %s: its edges have no classes, labels or numbers to predict: name the column to predict, in the table of edges, after a #, as in %s", name, word(file+"#COLUMN"))
	case !edges && !nodes && len(d.FeatureNames) > 0:
		file, _ := datasets.CutColumns(name)
		return misuse("--dataset %s: its nodes have no classes, labels or numbers to predict: name the column to predict after a #, as in %s", name, word(file+"#COLUMN"))
	case !edges && !nodes:
		return misuse("--dataset %s: its nodes have no classes, labels or numbers to predict", name)
	case d.Classes == 1 && (d.Labels != nil || d.EdgeLabels != nil):
		noun := "nodes"
		if edges {
			noun = "edges"
		}
		return misuse("--dataset %s: all its %s are of one class, so there is nothing to learn", name, noun)
	}
	return nil
}
