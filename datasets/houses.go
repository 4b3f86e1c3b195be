package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Houses is a graph whose explanations are known: houses of five nodes that hang on a
// random base, BA-Shapes of GNNExplainer's paper (Ying and others, NeurIPS 2019). The
// class of a node is its role, and what gives a node of a house its role is the house:
//
//	  4           4 the roof
//	 / \
//	0 - 1         0, 1 the middle; 0 hangs on the base by one edge
//	|   |
//	3 - 2         2, 3 the bottom
//
// The base is [graph.BarabasiAlbert]: the nodes 0 to Base−1. House i is the nodes
// Base+5i to Base+5i+4 and has six edges. Extra edges then join pairs of nodes, of base
// or houses, that had none. Edges go both ways, so there are
//
//	2·(Degree·(Base−Degree) + 7·Houses + Extra)
//
// of them. The paper's graph is the zero value: 300, 5, 80 and a tenth as many extra
// edges as nodes, 70.
type Houses struct {
	Base, Degree, Houses int    // 0: 300, 5, 80
	Extra                int    // 0: a tenth as many as nodes; −1: none
	Degrees              bool   // the feature of a node is its degree; else ten ones, as in PyG
	Seed                 uint64 // of everything that is drawn
}

// The classes of [Houses.Dataset], in their order.
var roles = []string{"base", "middle", "bottom", "roof"}

// houseRoles are the classes of a house's nodes, and houseEdges its edges.
var (
	houseRoles = [5]int32{1, 1, 2, 2, 3}
	houseEdges = [6][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}}
)

// filled returns h with what its zeros stand for.
func (h Houses) filled() Houses {
	if h.Base == 0 {
		h.Base = 300
	}
	if h.Degree == 0 {
		h.Degree = 5
	}
	if h.Houses == 0 {
		h.Houses = 80
	}
	switch h.Extra {
	case 0:
		h.Extra = (h.Base + 5*h.Houses) / 10
	case -1:
		h.Extra = 0
	}
	return h
}

// House returns the house of a node, −1 if it is of the base.
func (h Houses) House(v int32) int {
	if h = h.filled(); int(v) < h.Base {
		return -1
	}
	return (int(v) - h.Base) / 5
}

// Planted reports whether an edge is one of a house.
func (h Houses) Planted(u, v int32) bool {
	i := h.House(u)
	if i < 0 || i != h.House(v) {
		return false
	}
	first := int32(h.filled().Base + 5*i)
	return slices.Contains(houseEdges[:], [2]int32{u - first, v - first}) || slices.Contains(houseEdges[:], [2]int32{v - first, u - first})
}

// Dataset draws the graph, with 80 % of the nodes for training and 10 % each for
// validation and testing. The error says which number cannot be.
func (h Houses) Dataset() (*Dataset, error) {
	h = h.filled()
	const most = 1 << 24 // nodes
	n := h.Base + 5*h.Houses
	if h.Houses < 1 || h.Extra < 0 || h.Base > most || h.Houses > most/5 {
		return nil, fmt.Errorf("%d houses on %d nodes with %d extra edges: want at least one house, no negative number, and at most %d nodes", h.Houses, h.Base, h.Extra, most)
	}
	links := h.Degree*(h.Base-h.Degree) + 7*h.Houses
	if free := n*(n-1)/2 - links; h.Extra > free/2 {
		return nil, fmt.Errorf("%d extra edges: at most %d, half of the pairs that have none", h.Extra, free/2)
	}
	rng := rand.New(rand.NewPCG(h.Seed, 0x405e))
	base, err := graph.BarabasiAlbert(rng, h.Base, h.Degree)
	if err != nil {
		return nil, err
	}
	g, err := h.build(rng, base)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: "BA houses", Graph: g, Labels: make([]int32, n), Classes: len(roles), ClassNames: slices.Clone(roles)}
	for v := h.Base; v < n; v++ {
		d.Labels[v] = houseRoles[(v-h.Base)%5]
	}
	d.Features, d.Split = h.features(g), shares(rng, n)
	return d, nil
}

// build hangs the houses on the base, at nodes that are drawn, and adds extra edges.
func (h Houses) build(rng *rand.Rand, base *graph.Graph) (*graph.Graph, error) {
	n := h.Base + 5*h.Houses
	var src, dst []int32
	there := map[[2]int32]bool{}
	join := func(u, v int32) bool {
		if pair := [2]int32{min(u, v), max(u, v)}; u != v && !there[pair] {
			there[pair] = true
			src, dst = append(src, u, v), append(dst, v, u)
			return true
		}
		return false
	}
	to := base.Destinations()
	for e, u := range base.In().Cols {
		join(u, to[e]) // the second of both ways is there already
	}
	for i := range h.Houses {
		first := int32(h.Base + 5*i)
		for _, e := range houseEdges {
			join(first+e[0], first+e[1])
		}
		join(first, int32(rng.IntN(h.Base)))
	}
	for left := h.Extra; left > 0; {
		if join(int32(rng.IntN(n)), int32(rng.IntN(n))) {
			left--
		}
	}
	return graph.New(n, src, dst)
}

// features returns the degree of each node, or ten ones.
func (h Houses) features(g *graph.Graph) *tensor.Dense {
	if !h.Degrees {
		x := tensor.New(g.NumNodes(), 10)
		x.Fill(1)
		return x
	}
	x := tensor.New(g.NumNodes(), 1)
	for v, d := range g.InDegrees() {
		x.Data[v] = tensor.Float(d)
	}
	return x
}

// shares draws a split of 80, 10 and 10 % of n nodes.
func shares(rng *rand.Rand, n int) Split {
	nodes := span(0, n)
	rng.Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	tenth := n / 10
	s := Split{Val: nodes[:tenth], Test: nodes[tenth : 2*tenth], Train: nodes[2*tenth:]}
	for _, p := range s.parts() {
		slices.Sort(p.ids)
	}
	return s
}
