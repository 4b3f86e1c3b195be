package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// generated makes many graphs of their lists of edges.
type generated struct {
	Graphs
	offsets  []int
	src, dst []int32
}

// begin begins a graph of n nodes and returns the number of its first.
func (g *generated) begin(n int) int {
	if g.offsets == nil {
		g.offsets = []int{0}
	}
	first := g.offsets[len(g.offsets)-1]
	g.offsets = append(g.offsets, first+n)
	return first
}

// join adds an edge each way between nodes of the graph that was begun last.
func (g *generated) join(u, v int) {
	g.src, g.dst = append(g.src, int32(u), int32(v)), append(g.dst, int32(v), int32(u))
}

// done returns the graphs.
func (g *generated) done() *Graphs {
	var err error
	if g.Graph, _, err = g.disjoint(g.src, g.dst, g.offsets); err != nil {
		panic(err) // more than 2³¹−1 edges
	}
	if err := g.Check(); err != nil {
		panic(err)
	}
	return &g.Graphs
}

// ones gives each node the feature 1.
func (g *generated) ones() {
	g.Features = tensor.New(g.offsets[len(g.offsets)-1], 1)
	g.Features.Fill(1)
}

// cslSkips are the classes of [CSL].
var cslSkips = []int{2, 3, 4, 5, 6, 9, 11, 12, 13, 16}

// CSL returns circular skip links: graphs of 41 nodes on a circle, each joined to its two
// neighbours and to the two that are R places away, with 10 classes by R and so many graphs
// of each, whose nodes are in random order. Features are 1, all nodes have four neighbours,
// and so a network of messages says the same of all graphs. The dataset of Murphy and
// others, "Relational Pooling for Graph Representations", ICML 2019, has 15 of each.
func CSL(rng *rand.Rand, each int) *Graphs {
	const n = 41
	g := &generated{Graphs: Graphs{Name: "CSL", Classes: len(cslSkips)}}
	for c, skip := range cslSkips {
		g.ClassNames = append(g.ClassNames, fmt.Sprint(skip))
		for range each {
			first, at := g.begin(n), rng.Perm(n)
			for v := range n {
				g.join(first+at[v], first+at[(v+1)%n])
				g.join(first+at[v], first+at[(v+skip)%n])
			}
			g.Labels = append(g.Labels, int32(c))
		}
	}
	g.ones()
	return g.done()
}

// Cycles returns graphs of 2·length nodes, half of them one cycle (class 0) and half two of
// the same length (class 1), whose nodes are in random order. Features are 1. No test by
// Weisfeiler and Leman tells them apart. The length is 3 at least.
func Cycles(rng *rand.Rand, graphs, length int) *Graphs {
	g := &generated{Graphs: Graphs{Name: "cycles", Classes: 2, ClassNames: []string{"one", "two"}}}
	for i := range graphs {
		first, at := g.begin(2*length), rng.Perm(2*length)
		for v := range 2 * length {
			next := (v + 1) % (2 * length)
			if i%2 == 1 {
				next = v/length*length + (v+1)%length
			}
			g.join(first+at[v], first+at[next])
		}
		g.Labels = append(g.Labels, int32(i%2))
	}
	g.ones()
	return g.done()
}

// TreeNeighbours returns trees of a depth whose leaves have each a number of neighbours, and
// a class: the class of a tree is that of the leaf whose number is the root's. All of it has
// to come to the root through the two nodes below. It is the task NeighborsMatch of Alon and
// Yahav, "On the Bottleneck of Graph Neural Networks and its Practical Implications", ICLR
// 2021. Edges lead from children to parents. Node 0 of a tree is its root. Features are
// one-hot: the number, from 1 to the 2^depth leaves, and then the class, of which the root
// has none; those between have neither.
func TreeNeighbours(rng *rand.Rand, graphs, depth int) *Graphs {
	leaves := 1 << depth
	g := &generated{Graphs: Graphs{Name: fmt.Sprintf("tree-neighbours-%d", depth), Classes: leaves}}
	n := 2*leaves - 1
	g.Features = tensor.New(graphs*n, 2*leaves)
	for range graphs {
		first := g.begin(n)
		for v := 1; v < n; v++ {
			g.src, g.dst = append(g.src, int32(first+v)), append(g.dst, int32(first+(v-1)/2))
		}
		numbers, classes, asked := rng.Perm(leaves), rng.Perm(leaves), rng.IntN(leaves)
		for i := range leaves {
			row := g.Features.Row(first + leaves - 1 + i)
			row[numbers[i]], row[leaves+classes[i]] = 1, 1
			if numbers[i] == asked {
				g.Labels = append(g.Labels, int32(classes[i]))
			}
		}
		g.Features.Row(first)[asked] = 1
	}
	return g.done()
}

// Blocks says how graphs are drawn by the stochastic block model: nodes of a block are
// joined with the probability Inside, others with Across.
type Blocks struct {
	Count          int // of blocks
	Least, Most    int // nodes of a block, each number as likely
	Inside, Across float64
}

// draw adds the edges of a graph whose nodes are of the given blocks.
func (b Blocks) draw(rng *rand.Rand, g *generated, first int, of []int32, inside, across func(block int32) float64) {
	for v := range of {
		for u := range v {
			p := 0.0
			if of[u] == of[v] {
				p = inside(of[v])
			} else {
				p = across(max(of[u], of[v]))
			}
			if rng.Float64() < p {
				g.join(first+u, first+v)
			}
		}
	}
}

// assign returns the block of each node, in random order.
func (b Blocks) assign(rng *rand.Rand) []int32 {
	var of []int32
	for k := range b.Count {
		of = append(of, slices.Repeat([]int32{int32(k)}, b.Least+rng.IntN(b.Most-b.Least+1))...)
	}
	rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

func always(p float64) func(int32) float64 { return func(int32) float64 { return p } }

// SBM returns graphs drawn by the stochastic block model, whose nodes are labelled with
// their blocks. Features are 1.
func SBM(rng *rand.Rand, graphs int, b Blocks) *Graphs {
	g := &generated{Graphs: Graphs{Name: "SBM", Classes: b.Count}}
	for range graphs {
		of := b.assign(rng)
		b.draw(rng, g, g.begin(len(of)), of, always(b.Inside), always(b.Across))
		g.NodeLabels = append(g.NodeLabels, of...)
	}
	g.ones()
	return g.done()
}

// Cluster returns graphs of 6 blocks of 5 to 35 nodes, joined with the probabilities 0.55
// and 0.25, in each of which one node's feature says which block it is: the others', their
// labels, are to be found. Features are one-hot, 0 for nodes that say nothing. That is how
// Dwivedi and others draw CLUSTER in "Benchmarking Graph Neural Networks", 2020.
func Cluster(rng *rand.Rand, graphs int) *Graphs {
	b := Blocks{Count: 6, Least: 5, Most: 35, Inside: 0.55, Across: 0.25}
	g := &generated{Graphs: Graphs{Name: "CLUSTER", Classes: b.Count}}
	var says []int
	for range graphs {
		of := b.assign(rng)
		first := g.begin(len(of))
		b.draw(rng, g, first, of, always(b.Inside), always(b.Across))
		said := make([]int, len(of))
		for k := range b.Count {
			said[slices.Index(of, int32(k))] = k + 1 // nodes are in random order
		}
		says = append(says, said...)
		g.NodeLabels = append(g.NodeLabels, of...)
	}
	g.Features = oneOfEach(says, b.Count+1)
	return g.done()
}

// Pattern returns graphs of 5 blocks of 5 to 35 nodes, joined with the probabilities 0.5 and
// 0.35, and 20 nodes that are joined with each other, and with the others, with the
// probability 0.5: these are to be found (class 1). Features are one of three, at random.
// That is how Dwivedi and others draw PATTERN in "Benchmarking Graph Neural Networks", 2020,
// but that there the pattern's features are the same in all graphs.
func Pattern(rng *rand.Rand, graphs int) *Graphs {
	const planted, values = 20, 3
	b := Blocks{Count: 5, Least: 5, Most: 35, Inside: 0.5, Across: 0.35}
	g := &generated{Graphs: Graphs{Name: "PATTERN", Classes: 2, ClassNames: []string{"background", "pattern"}}}
	var feature []int
	for range graphs {
		of := append(b.assign(rng), slices.Repeat([]int32{int32(b.Count)}, planted)...)
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		across := func(block int32) float64 {
			if int(block) == b.Count {
				return 0.5
			}
			return b.Across
		}
		b.draw(rng, g, g.begin(len(of)), of, always(b.Inside), across)
		for _, block := range of {
			g.NodeLabels = append(g.NodeLabels, int32(btoi(int(block) == b.Count)))
			feature = append(feature, rng.IntN(values))
		}
	}
	g.Features = oneOfEach(feature, values)
	return g.done()
}

// oneOfEach returns rows that are 1 where the list says.
func oneOfEach(at []int, width int) *tensor.Dense {
	x := tensor.New(len(at), width)
	for v, c := range at {
		x.Row(v)[c] = 1
	}
	return x
}

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
// The base is [random.BarabasiAlbert]: the nodes 0 to Base−1. House i is the nodes
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
	if h.Degree < 1 || h.Degree >= h.Base {
		return nil, fmt.Errorf("nodes that join %d others in a graph of %d nodes, want from 1 to below the number of nodes", h.Degree, h.Base)
	}
	if edges := 2 * int64(h.Degree) * int64(h.Base-h.Degree); edges > math.MaxInt32 {
		return nil, fmt.Errorf("%d nodes that join %d others have %d edges, at most %d", h.Base, h.Degree, edges, math.MaxInt32)
	}
	links := h.Degree*(h.Base-h.Degree) + 7*h.Houses
	if free := n*(n-1)/2 - links; h.Extra > free/2 {
		return nil, fmt.Errorf("%d extra edges: at most %d, half of the pairs that have none", h.Extra, free/2)
	}
	rng := rand.New(rand.NewPCG(h.Seed, 0x405e))
	g, err := h.build(rng, random.BarabasiAlbert(rng, h.Base, h.Degree))
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

// friends is Zachary's karate club: the friends of each member who have a
// higher number.
var friends = [34][]int32{
	0:  {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31},
	1:  {2, 3, 7, 13, 17, 19, 21, 30},
	2:  {3, 7, 8, 9, 13, 27, 28, 32},
	3:  {7, 12, 13},
	4:  {6, 10},
	5:  {6, 10, 16},
	6:  {16},
	8:  {30, 32, 33},
	9:  {33},
	13: {33},
	14: {32, 33},
	15: {32, 33},
	18: {32, 33},
	19: {33},
	20: {32, 33},
	22: {32, 33},
	23: {25, 27, 29, 32, 33},
	24: {25, 27, 31},
	25: {31},
	26: {29, 33},
	27: {33},
	28: {31, 33},
	29: {32, 33},
	30: {32, 33},
	31: {32, 33},
	32: {33},
}

// officers is who followed the club's officer.
var officers = []int32{9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33}

// Karate returns Zachary's karate club (1977): 34 members, 78 friendships in
// both directions, and the two clubs it split into. Class 0 is the instructor's,
// member 0; class 1 the officer's, member 33. These two train and the rest test.
// The features are the identity matrix.
func Karate() *Dataset {
	n := len(friends)
	var ends []int32
	for u, list := range friends {
		for _, v := range list {
			ends = append(ends, int32(u), v)
		}
	}
	g, err := graph.FromCSR(bothDirections(n, ends).in)
	if err != nil {
		panic(err) // the table above is wrong
	}
	labels := make([]int32, n)
	for _, u := range officers {
		labels[u] = 1
	}
	return &Dataset{
		Name: titleOf("karate"), Graph: g, Features: identity(n), Labels: labels, Classes: 2,
		Split:      Split{Train: []int32{0, int32(n - 1)}, Test: span(1, n-1)},
		ClassNames: []string{"Mr. Hi", "Officer"},
	}
}

// identity returns the identity matrix.
func identity(n int) *sparse.CSR {
	offsets := make([]int64, n+1)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	x, err := sparse.New(n, n, offsets, span(0, n), nil)
	if err != nil {
		panic(err) // an identity is a matrix
	}
	return x
}
