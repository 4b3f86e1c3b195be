package sample

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// Negatives draws pairs of nodes that no edge joins, for a model that predicts links.
// A node and itself are no pair.
type Negatives struct {
	Graph    *graph.Graph // whose edges are not drawn; homogeneous
	Directed bool         // u→v may be drawn where only v→u is an edge; else u and v are drawn once, the smaller as the source
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
	return d.draw(count)
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
	d := &drawing{nodes: n.Graph.NumNodes(), directed: n.Directed, edges: pairsIn(n.Graph, n.Directed), chosen: newPairSet(0)}
	d.at = mix(mix(n.Seed) ^ step)
	return d, nil
}

// drawing draws pairs that are no edges, no pair twice.
type drawing struct {
	nodes    int
	directed bool
	edges    *pairSet
	chosen   *pairSet
	at       uint64
	room     []uint64 // of candidates
}

// left returns how many pairs can still be drawn.
func (d *drawing) left() int {
	all := d.nodes * (d.nodes - 1)
	if !d.directed {
		all /= 2
	}
	return all - d.edges.n - d.chosen.n
}

// below returns a number below n.
func (d *drawing) below(n int) int {
	d.at += golden
	k, _ := bits.Mul64(mix(d.at), uint64(n))
	return int(k)
}

// draw draws the next so many pairs.
func (d *drawing) draw(count int) (*graph.Graph, error) {
	left := d.left()
	if count < 0 || count > left {
		return nil, fmt.Errorf("sample: %d pairs without an edge are asked for, and the graph has %d (left): ask for fewer", count, left)
	}
	src, dst := make([]int32, 0, count), make([]int32, 0, count)
	take := func(u, v int32) {
		if !d.directed && u > v {
			u, v = v, u
		}
		src, dst = append(src, u), append(dst, v)
	}
	d.chosen.reserve(d.chosen.n + count)
	if count > left/2 { // few are left out, so go through all
		d.among(count, left, take)
	} else {
		for len(src) < count {
			for _, pair := range d.candidates(count - len(src)) {
				if pair != noPair && d.chosen.add(pair) {
					take(int32(pair>>32), int32(uint32(pair)))
				}
			}
		}
	}
	return graph.New(d.nodes, src, dst)
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
		of := drawing{at: d.at + 2*uint64(lo)*golden} // each takes two numbers
		for i := lo; i < hi; i++ {
			u, v := int32(of.below(d.nodes)), int32(of.below(d.nodes))
			if d.room[i] = pairOf(u, v, d.directed); u == v || d.edges.has(d.room[i]) {
				d.room[i] = noPair
			}
		}
	})
	d.at += 2 * uint64(n) * golden
	return d.room
}

// among takes count of the left pairs, one after another: each with the likelihood
// that it is one of those still wanted.
func (d *drawing) among(count, left int, take func(u, v int32)) {
	for u := range int32(d.nodes) {
		for v := range int32(d.nodes) {
			pair := pairOf(u, v, d.directed)
			if u == v || !d.directed && u > v || d.edges.has(pair) || d.chosen.has(pair) {
				continue
			}
			if d.below(left) < count {
				d.chosen.add(pair)
				take(u, v)
				count--
			}
			left--
		}
	}
}
