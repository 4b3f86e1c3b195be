package sample

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Negatives draws pairs of nodes that no edge joins, for a model that predicts links.
// A node and itself are no pair.
type Negatives struct {
	Graph    *graph.Graph // whose edges are not drawn; homogeneous
	Directed bool         // u→v may be drawn where only v→u is an edge; else u and v are drawn once, the smaller as the source
	Users    int          // the nodes before it are users, the others items, and a pair is one of each; 0: any two nodes are one
	Seed     uint64
}

// Draw returns a graph of all nodes whose edges are so many pairs that no edge of Graph
// joins, no two alike, each set of them as likely as any other. It follows from Seed and
// step alone. The error says how many pairs there are.
func (n *Negatives) Draw(count int, step uint64) (*graph.Graph, error) {
	d, err := n.begin(step)
	if err != nil {
		return nil, err
	}
	w := drawingWorks.Get().(*drawingWork)
	defer drawingWorks.Put(w)
	d.room, d.work = w.room, w
	g, err := d.draw(count)
	if w.room = d.room; d.loose != nil {
		w.room = d.loose[:0]
	}
	return g, err
}

// Left returns how many pairs there are to draw from; 0 without a Graph of one set of nodes.
func (n *Negatives) Left() int {
	d, err := n.begin(0)
	if err != nil {
		return 0
	}
	return d.left()
}

// begin begins to draw.
func (n *Negatives) begin(step uint64) (*drawing, error) {
	if n.Graph == nil {
		return nil, fmt.Errorf("sample: the negatives have no Graph")
	}
	if n.Graph.Bipartite() {
		return nil, fmt.Errorf("sample: %v: negatives are drawn among the nodes of one set", n.Graph)
	}
	d := &drawing{nodes: n.Graph.NumNodes(), directed: n.Directed, users: n.Users, edges: pairsIn(n.Graph, n.Directed), chosen: newPairSet(0)}
	if err := checkUsers(n.Graph, n.Users, n.Directed); err != nil {
		return nil, err
	}
	d.at = mix(mix(n.Seed) ^ step)
	return d, nil
}

// checkUsers returns an error where there are users, if an edge joins two of them, or two items.
func checkUsers(g *graph.Graph, users int, directed bool) error {
	if users == 0 {
		return nil
	}
	if directed {
		return fmt.Errorf("sample: Users and Directed: a user and an item are one pair: leave one of them out")
	}
	if users < 0 || users >= g.NumNodes() {
		return fmt.Errorf("sample: %v: Users is %d; want so many of its nodes, and not all", g, users)
	}
	for e, v := range g.Destinations() {
		if u := g.In().Cols[e]; u != v && (int(u) < users) == (int(v) < users) {
			return fmt.Errorf("sample: %v: its edge %d joins %d and %d, and of the ends of an edge one is below Users, %d", g, e, u, v, users)
		}
	}
	return nil
}

// drawing draws pairs that are no edges, no pair twice.
type drawing struct {
	nodes    int
	directed bool
	users    int // 0: there are none
	edges    *pairSet
	taken    int      // pairs, in all
	loose    []uint64 // pairs that are taken, some of which are not in chosen yet
	chosen   *pairSet
	at       uint64
	room     []uint64     // of candidates
	work     *drawingWork // nil: none to reuse
}

// drawingWork is memory that drawings need as long as they draw.
type drawingWork struct {
	room          []uint64
	seen, doubted pairMarks
}

var drawingWorks = sync.Pool{New: func() any { return new(drawingWork) }}

// left returns how many pairs can still be drawn.
func (d *drawing) left() int {
	all := d.nodes * (d.nodes - 1)
	switch {
	case d.users > 0:
		all = d.users * (d.nodes - d.users)
	case !d.directed:
		all /= 2
	}
	return all - d.edges.n - d.taken
}

// below returns a number below n.
func (d *drawing) below(n int) int {
	d.at += golden
	return scaled(mix(d.at), n)
}

// scaled returns the number below n that 64 random bits stand for.
func scaled(random uint64, n int) int {
	k, _ := bits.Mul64(random, uint64(n))
	return int(k)
}

// draw draws the next so many pairs.
func (d *drawing) draw(count int) (*graph.Graph, error) {
	left := d.left()
	if count < 0 || count > left {
		return nil, fmt.Errorf("sample: %d pairs without an edge are asked for, and the graph has %d (left): ask for fewer", count, left)
	}
	var pairs []uint64
	switch {
	case count > left/2: // few are left out, so go through all
		d.settle(count)
		pairs = d.among(count, left)
	case d.taken == 0 && count > 0:
		pairs = d.first(count)
	}
	if len(pairs) < count {
		d.settle(count)
		pairs = d.further(pairs, count)
	}
	d.taken += count
	return d.graphOf(pairs)
}

// graphOf returns the graph of pairs, each destination's in the order in which they were drawn.
func (d *drawing) graphOf(pairs []uint64) (*graph.Graph, error) {
	in := &sparse.CSR{NumRows: d.nodes, NumCols: d.nodes, Offsets: make([]int64, d.nodes+1), Cols: make([]int32, len(pairs))}
	ends := in.Offsets[1:] // first the counts, then where each destination's next one goes
	for _, pair := range pairs {
		ends[uint32(pair)]++
	}
	at := int64(0)
	for v, n := range ends {
		ends[v] = at
		at += n
	}
	for _, pair := range pairs {
		end := &ends[uint32(pair)]
		in.Cols[*end] = int32(pair >> 32)
		*end++
	}
	return graph.FromCSR(in)
}

// settle puts all pairs that are taken into chosen, which gets room for so many more.
func (d *drawing) settle(more int) {
	d.chosen.reserve(d.taken + more)
	for _, pair := range d.loose {
		d.chosen.add(pair)
	}
	d.loose = nil
}

// first draws the first pairs of a drawing, so many unless some hundredth of the candidates
// are no pairs. Most candidates are the only one with their mark. The others, in doubt, are
// looked up in chosen, which they are few enough to keep near.
func (d *drawing) first(count int) []uint64 {
	begin := d.at
	all := d.candidates(count + count/64 + 8)
	w := d.work
	if w == nil {
		w = new(drawingWork)
	}
	w.seen.reset(marksEach * count)
	w.doubted.reset(count)
	seen, doubted := w.seen, w.doubted
	for _, pair := range all {
		if pair != noPair && seen.put(pair) {
			doubted.put(pair)
		}
	}
	n := 0
	for i, pair := range all {
		if pair == noPair || doubted.has(pair) && !d.chosen.add(pair) {
			continue
		}
		all[n] = pair // they take the candidates' place
		if n++; n == count {
			d.at = begin + 2*uint64(i+1)*golden // those behind are drawn again
			break
		}
	}
	d.loose, d.room = all[:n], nil
	return d.loose
}

// further draws until there are count pairs. All that are taken are in chosen.
func (d *drawing) further(pairs []uint64, count int) []uint64 {
	pairs = slices.Grow(pairs, count-len(pairs))
	for len(pairs) < count {
		for _, pair := range d.candidates(count - len(pairs)) {
			if pair != noPair && d.chosen.add(pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// noPair is no pair: a node and itself.
const noPair = math.MaxUint64

// candidateGrain is how many candidates a thread draws at a time.
const candidateGrain = 1 << 11

// candidates draws the next n pairs; those that are edges, or a node and itself, are noPair.
// Most of the time goes into looking for edges, which threads share.
func (d *drawing) candidates(n int) []uint64 {
	d.room = slices.Grow(d.room[:0], n)[:n]
	par.For(n, candidateGrain, func(lo, hi int) {
		step := uint64(golden)
		at := d.at + 2*uint64(lo)*step // each takes two numbers, as from below
		us, from, vs := d.ends()
		directed, edges := d.directed, d.edges
		room := d.room[lo:hi]
		for i := range room {
			u, v := int32(scaled(mix(at+step), us)), int32(from+scaled(mix(at+2*step), vs))
			at += 2 * step
			pair := pairOf(u, v, directed)
			if u == v || edges.marks.has(pair) && edges.has(pair) {
				pair = noPair
			}
			room[i] = pair
		}
	})
	d.at += 2 * uint64(n) * golden
	return d.room
}

// ends says among which nodes a candidate is drawn: u of the first us, v of the vs from the one
// called from on.
func (d *drawing) ends() (us, from, vs int) {
	if d.users == 0 {
		return d.nodes, 0, d.nodes
	}
	return d.users, d.users, d.nodes - d.users
}

// among returns count of the left pairs, one after another: each with the likelihood
// that it is one of those still wanted. All that are taken are in chosen.
func (d *drawing) among(count, left int) (pairs []uint64) {
	for u := range int32(d.nodes) {
		for v := range int32(d.nodes) {
			pair := pairOf(u, v, d.directed)
			if u == v || !d.directed && u > v || d.users > 0 && (int(u) < d.users) == (int(v) < d.users) || d.edges.has(pair) || d.chosen.has(pair) {
				continue
			}
			if d.below(left) < count {
				d.chosen.add(pair)
				pairs = append(pairs, pair)
				count--
			}
			left--
		}
	}
	return pairs
}
