package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
)

// LinkSplit says how the links of a graph are divided into those to learn from and
// those to predict. A link is a pair of nodes that edges join, in either direction unless
// Directed: parallel edges, and an edge and its reverse, are one link and never end up in
// two parts. Self-loops are no links and stay.
type LinkSplit struct {
	Val, Test float64 // shares of the links, rounded down
	Apart     float64 // share of the training links that are predicted and carry no messages; 0: all training links do both
	Directed  bool    // u→v and v→u are two links
	Users     int     // the nodes before it are users, the others items, which negatives join; 0: they join any two nodes
	Seed      uint64
}

// Links are a graph whose links are divided.
type Links struct {
	Graph *graph.Graph // what messages go along: the training links, both of their edges, and loops
	Train *graph.Graph // the training links that are predicted, an edge for each
	Val   Pairs
	Test  Pairs
	Draw  Negatives // pairs that no training link joins, for the loss: other ones each step
}

// Pairs are links, and as many pairs that are none in the whole graph.
type Pairs struct{ Links, Negatives *graph.Graph }

// Of divides the links of g, a homogeneous graph; without Directed each edge has a
// reverse. All graphs that it returns have the nodes of g, and From says which edges of g
// theirs are. A link of which g has both edges is the one from the smaller node unless
// Directed. The error says which part would have no links, and what is wrong with the
// shares or the graph.
func (s LinkSplit) Of(g *graph.Graph) (*Links, error) {
	if err := s.check(g); err != nil {
		return nil, err
	}
	links := linksOf(g, s.Directed)
	val, test := int(s.Val*float64(len(links))), int(s.Test*float64(len(links)))
	predicted := links[val+test:]
	apart := int(s.Apart * float64(len(predicted)))
	for _, p := range []struct {
		name   string
		share  float64
		n, all int
	}{{"Val", s.Val, val, len(links)}, {"Test", s.Test, test, len(links)}, {"Apart", s.Apart, apart, len(predicted)}} {
		if p.share > 0 && p.n == 0 {
			return nil, fmt.Errorf("sample: %v: %s %v of %d links is none: enlarge it, or set it to 0", g, p.name, p.share, p.all)
		}
	}
	if len(predicted)-apart == 0 {
		return nil, fmt.Errorf("sample: %v: Val %v, Test %v and Apart %v leave no edges to send messages along: it has %d links", g, s.Val, s.Test, s.Apart, len(links))
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x6c696e6b73))
	rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return s.parts(g, parted{val: links[:val], test: links[val : val+test], apart: predicted[:apart], rest: predicted[apart:]})
}

// By divides the links of g by lists of its edges, as a split by time has them, in place of the
// shares of Val and Test. A link is in the first part that one of its edges is in; one that is
// in none is left out of all that By returns, but it is no negative. The error says which part
// is empty.
func (s LinkSplit) By(g *graph.Graph, train, val, test []int32) (*Links, error) {
	s.Val, s.Test = 0, 0
	if err := s.check(g); err != nil {
		return nil, err
	}
	of := make([]int, g.NumEdges())
	for part, list := range [][]int32{test, val, train} {
		for _, e := range list {
			if e < 0 || int(e) >= len(of) {
				return nil, fmt.Errorf("sample: %v: edge %d of a list is not there", g, e)
			}
			of[e] = part + 1
		}
	}
	var parts [4][][]int32 // none, test, val, train
	for _, l := range linksOf(g, s.Directed) {
		first := 0
		for _, e := range l {
			first = max(first, of[e])
		}
		parts[first] = append(parts[first], l)
	}
	for i, name := range []string{"test", "val", "train"} {
		if len(parts[i+1]) == 0 {
			return nil, fmt.Errorf("sample: %v: no link is in the list %s alone", g, name)
		}
	}
	rest := parts[3]
	rand.New(rand.NewPCG(s.Seed, 0x6c696e6b73)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	apart := int(s.Apart * float64(len(rest)))
	if s.Apart > 0 && apart == 0 || apart == len(rest) {
		return nil, fmt.Errorf("sample: %v: Apart %v of %d training links is none, or all", g, s.Apart, len(rest))
	}
	return s.parts(g, parted{val: parts[2], test: parts[1], apart: rest[:apart], rest: rest[apart:], out: parts[0]})
}

// parted is links in parts, each the edges that are one.
type parted struct {
	val, test   [][]int32
	apart, rest [][]int32 // of training: those that are predicted and carry no messages, and the others
	out         [][]int32 // in no part
}

// parts makes the graphs of links in parts.
func (s LinkSplit) parts(g *graph.Graph, p parted) (*Links, error) {
	held, predicted := slices.Concat(p.val, p.test), p.rest
	if len(p.apart) > 0 {
		predicted = p.apart
	}
	l := &Links{Graph: without(g, slices.Concat(held, p.apart, p.out)), Train: firsts(g, predicted)}
	l.Draw = Negatives{Graph: l.Graph, Directed: s.Directed, Users: s.Users, Seed: s.Seed}
	if len(p.apart)+len(p.out) > 0 { // these are edges all the same
		l.Draw.Graph = without(g, held)
	}
	d, err := (&Negatives{Graph: g, Directed: s.Directed, Users: s.Users, Seed: s.Seed}).begin(math.MaxUint64)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		into  *Pairs
		links [][]int32
	}{{&l.Val, p.val}, {&l.Test, p.test}} {
		part.into.Links = firsts(g, part.links)
		if part.into.Negatives, err = d.draw(len(part.links)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (s LinkSplit) check(g *graph.Graph) error {
	for _, p := range []struct {
		name  string
		share float64
	}{{"Val", s.Val}, {"Test", s.Test}, {"Apart", s.Apart}} {
		if !(p.share >= 0 && p.share <= 1) {
			return fmt.Errorf("sample: %s is %v; want a share of the links, from 0 to 1", p.name, p.share)
		}
	}
	switch {
	case s.Val+s.Test > 1:
		return fmt.Errorf("sample: Val %v and Test %v are more than all links", s.Val, s.Test)
	case g == nil:
		return fmt.Errorf("sample: there is no graph whose links could be divided")
	case g.Bipartite():
		return fmt.Errorf("sample: %v: links are divided in a graph of one set of nodes", g)
	case !s.Directed && !g.Symmetric():
		return fmt.Errorf("sample: %v: not each edge has a reverse: set Directed, or take its Undirected", g)
	}
	return nil
}

// linksOf returns the links of g, each the edges that are one, the first of which
// stands for it: one from the smaller node unless they are directed.
func linksOf(g *graph.Graph, directed bool) [][]int32 {
	in := g.In()
	number := make(map[uint64]int, g.NumEdges())
	var links [][]int32
	for _, forward := range []bool{true, false} {
		for v := range int32(g.NumNodes()) {
			for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
				u := in.Cols[e]
				if u == v || (directed || u < v) != forward {
					continue
				}
				pair := pairOf(u, v, directed)
				k, known := number[pair]
				if !known {
					k = len(links)
					number[pair], links = k, append(links, nil)
				}
				links[k] = append(links[k], int32(e))
			}
		}
	}
	return links
}

// without returns g without some links.
func without(g *graph.Graph, links [][]int32) *graph.Graph {
	gone := make([]bool, g.NumEdges())
	for _, l := range links {
		for _, e := range l {
			gone[e] = true
		}
	}
	left := make([]int32, 0, g.NumEdges())
	for e := range gone {
		if !gone[e] {
			left = append(left, int32(e))
		}
	}
	return graph.Must(graph.EdgeSubgraph(g, left))
}

// firsts returns g with an edge for each of some links.
func firsts(g *graph.Graph, links [][]int32) *graph.Graph {
	edges := make([]int32, len(links))
	for i, l := range links {
		edges[i] = l[0]
	}
	return graph.Must(graph.EdgeSubgraph(g, edges))
}
