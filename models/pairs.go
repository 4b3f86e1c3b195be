package models

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Pairs is the head of a network that tells edges apart. It gives edges their classes, labels or
// numbers, of what the layers make of both ends, h_u and h_v, and of the edge's own features e:
//
//	y = MLP(h_u ‖ h_v ‖ e),   and where direction means nothing   y = MLP(h_u + h_v ‖ |h_u − h_v| ‖ e),
//
// which is the same from v to u, to the bit. h is N×In and e is E×Own, or is not there; y has a row
// for each edge. An end without neighbours has the row that the layers give to such nodes.
type Pairs struct {
	In, Own  int  // In follows from the layers: [NewEdges] sets it
	Mirrored bool // direction means nothing

	MLP *layers.MLP `json:"-"`
}

// Ends are the two nodes of some edges, as rows of what a network's layers return, and the edges'
// own features.
type Ends struct {
	From, To []int32
	Own      *grad.Var // nil: none are read
}

// init makes the head's network, with a hidden layer as wide as the rows of nodes, for so many columns of an edge.
func (h *Pairs) init(rng *rand.Rand, drop float64, own, outputs int) {
	h.MLP = &layers.MLP{Widths: []int{2*h.In + own, h.In, outputs}, Drop: drop}
	h.MLP.Init(rng)
}

// Forward returns a row for each edge, of x, a row for each node.
func (h *Pairs) Forward(t *grad.Tape, x *grad.Var, of *Ends) *grad.Var {
	defer t.Label("the head")()
	u, v := x.Rows(of.From), x.Rows(of.To)
	parts := []*grad.Var{u, v}
	if h.Mirrored {
		parts = []*grad.Var{u.Add(v), u.Sub(v).Abs()}
	}
	if of.Own != nil {
		parts = append(parts, of.Own)
	}
	return h.MLP.Forward(t, grad.Concat(parts...))
}

// says is what a head is made of, in words.
func (h *Pairs) says() string {
	text := "both ends"
	if h.Mirrored {
		text = "the sum and the distance of both ends"
	}
	switch {
	case h.Own == 1:
		text += " and a feature"
	case h.Own > 1:
		text += fmt.Sprintf(" and %d features", h.Own)
	}
	return fmt.Sprintf("edges by %s, a layer of %d", text, h.In)
}

// check returns an error for a head that is not for rows of that width.
func (h *Pairs) check(in int) error {
	const most = 1 << 16
	if h.In != in || h.Own < 0 || h.Own > most {
		return fmt.Errorf("a head of edges for rows of %d and %d features, after layers of %d", h.In, h.Own, in)
	}
	return nil
}

// Pairing is the edges of a graph as a head reads them. Where direction means nothing, an edge and
// its reverse are one pair; else each edge is one.
type Pairing struct {
	Mirrored bool
	From, To []int32       // the ends of each pair; of a mirrored one From is the smaller node
	Edge     []int32       // the edge from From to To
	Of       []int32       // the pair of each edge
	Own      *tensor.Dense // features of each pair; nil: the head reads none
}

// plainPairing has a pair for each edge.
func plainPairing(d *datasets.Dataset) *Pairing {
	all := numbersTo(d.Graph.NumEdges())
	return &Pairing{From: d.Graph.In().Cols, To: d.Graph.Destinations(), Edge: all, Of: all}
}

// NewPairing returns the edges of a dataset. They are mirrored if each has a reverse and what is to
// be learnt of the two is the same; the error is of one that says otherwise, where both directions
// are meant.
func NewPairing(d *datasets.Dataset, g *Goal, undirected bool) (*Pairing, error) {
	p := mirrored(d)
	if p == nil {
		return plainPairing(d), nil
	}
	for e, pair := range p.Of {
		switch there, back := p.Edge[pair], int32(e); {
		case g.Same(there, back):
		case undirected:
			return nil, fmt.Errorf("of the edge between %s and %s %s is learnt in one direction, and %s in the other: correct one of them, or leave undirected out if direction means something",
				nodeNamed(d, p.From[pair]), nodeNamed(d, p.To[pair]), g.Shown(there), g.Shown(back))
		default:
			return plainPairing(d), nil
		}
	}
	return p, nil
}

// Bundles returns edges, those between the same two nodes in either direction together, in the order of the first of each.
func (p *Pairing) Bundles(ids []int32) (list [][]int32) {
	number := map[[2]int32]int{}
	for _, e := range ids {
		pair := p.Of[e]
		key := [2]int32{min(p.From[pair], p.To[pair]), max(p.From[pair], p.To[pair])}
		i, ok := number[key]
		if !ok {
			i, number[key] = len(list), len(list)
			list = append(list, nil)
		}
		list[i] = append(list[i], e)
	}
	return list
}

// mirrored returns the edges of a dataset in pairs, an edge and its reverse; nil if an edge has no reverse or is repeated.
func mirrored(d *datasets.Dataset) *Pairing {
	if !d.Graph.Symmetric() {
		return nil
	}
	from, to := d.Graph.In().Cols, d.Graph.Destinations()
	p := &Pairing{Mirrored: true, Of: make([]int32, len(from))}
	number := make(map[[2]int32]int32, len(from)/2)
	for e, u := range from {
		if v := to[e]; u < v {
			if _, there := number[[2]int32{u, v}]; there {
				return nil // several edges from u to v have no reverse of their own
			}
			number[[2]int32{u, v}] = int32(len(p.Edge))
			p.From, p.To, p.Edge = append(p.From, u), append(p.To, v), append(p.Edge, int32(e))
		}
	}
	for e, u := range from {
		p.Of[e] = number[[2]int32{min(u, to[e]), max(u, to[e])}]
	}
	return p
}

// nodeNamed is a node as errors call it.
func nodeNamed(d *datasets.Dataset, v int32) string {
	if int(v) < len(d.NodeNames) {
		return fmt.Sprintf("%.40q", d.NodeNames[v])
	}
	return fmt.Sprint(v)
}

// Describe gives the pairs the features of the edges, a row each; of a mirrored pair the mean of
// both, and of columns that hold codes the larger.
func (p *Pairing) Describe(x *tensor.Dense, codes ...columns.Code) {
	if p.Own = x; x == nil || !p.Mirrored {
		return
	}
	p.Own = tensor.New(len(p.Edge), x.Dim(1))
	for e, pair := range p.Of {
		row := p.Own.Row(int(pair))
		for j, v := range x.Row(e) {
			row[j] += v / 2
		}
	}
	for _, c := range codes {
		for pair := range p.Own.Rows() {
			p.Own.Row(pair)[c.At] = 0
		}
		for e, pair := range p.Of {
			row := p.Own.Row(int(pair))
			row[c.At] = max(row[c.At], x.Row(e)[c.At])
		}
	}
}

// All returns the ends of every pair.
func (p *Pairing) All() *Ends {
	e := &Ends{From: p.From, To: p.To}
	if p.Own != nil {
		e.Own = grad.Const(p.Own)
	}
	return e
}

// Some returns the ends of some edges, among nodes whose rows are in that order; of nil in their
// own.
func (p *Pairing) Some(edges, nodes []int32) *Ends {
	rows := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		rows[v] = int32(i)
	}
	e := &Ends{make([]int32, len(edges)), make([]int32, len(edges)), p.Features(edges)}
	for i, edge := range edges {
		pair := p.Of[edge]
		u, v := p.From[pair], p.To[pair]
		if nodes != nil {
			u, v = rows[u], rows[v]
		}
		e.From[i], e.To[i] = u, v
	}
	return e
}

// Features returns the features of some edges; nil: the head reads none.
func (p *Pairing) Features(edges []int32) *grad.Var {
	if p.Own == nil {
		return nil
	}
	rows := make([]int32, len(edges))
	for i, e := range edges {
		rows[i] = p.Of[e]
	}
	return grad.Const(datasets.GatherRows(p.Own, rows))
}

// Nodes returns the ends of some edges, each once, ascending.
func (p *Pairing) Nodes(edges []int32) []int32 {
	most := int32(-1)
	for _, e := range edges {
		most = max(most, p.From[p.Of[e]], p.To[p.Of[e]])
	}
	seen := make([]bool, most+1)
	for _, e := range edges {
		seen[p.From[p.Of[e]]], seen[p.To[p.Of[e]]] = true, true
	}
	var list []int32
	for v, is := range seen {
		if is {
			list = append(list, int32(v))
		}
	}
	return list
}
