package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"

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
