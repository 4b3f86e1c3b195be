package sample

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// Sampler draws in-neighbours: what a layer reads of a node is Fanout of its
// in-edges, all if it has no more, and its loop besides.
type Sampler struct {
	Graph   *graph.Graph // whose destinations are sources
	Fanout  []int        // in-edges of a node for each layer, the first layer's first; 0: all
	Replace bool         // draw with replacement: exactly Fanout, some perhaps twice
	Seed    uint64
}

// Check returns an error for a graph or a fan-out that cannot be.
func (s *Sampler) Check() error {
	if s.Graph == nil {
		return fmt.Errorf("sample: the sampler has no Graph")
	}
	if s.Graph.Bipartite() && s.Graph.DstRows() == nil {
		return fmt.Errorf("sample: %v: its destinations are no sources, so they have no neighbours of neighbours", s.Graph)
	}
	if len(s.Fanout) == 0 {
		return fmt.Errorf("sample: no Fanout: it has an element for each layer, 0 for all neighbours")
	}
	for i, k := range s.Fanout {
		if k < 0 {
			return fmt.Errorf("sample: the fan-out of layer %d is %d; 0 means all neighbours", i+1, k)
		}
	}
	return nil
}

// Blocks returns a block for each layer, as [graph.Graph.Blocks] does, of the
// neighbours that are drawn in an epoch. The error names a seed that is repeated or
// not a node.
func (s *Sampler) Blocks(seeds []int32, epoch uint64) ([]*graph.Graph, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	blocks := make([]*graph.Graph, len(s.Fanout))
	for i := len(blocks) - 1; i >= 0; i-- {
		b, err := s.block(seeds, epoch, i)
		if err != nil {
			return nil, err
		}
		blocks[i], seeds = b, b.From().Src
	}
	return blocks, nil
}

// block returns the block of one layer.
func (s *Sampler) block(seeds []int32, epoch uint64, layer int) (*graph.Graph, error) {
	if s.Fanout[layer] == 0 {
		return s.Graph.Block(seeds)
	}
	d := s.draws(epoch, layer)
	offsets := make([]int64, len(seeds)+1)
	for i, v := range seeds {
		if v < 0 || int(v) >= s.Graph.NumDst() {
			return nil, fmt.Errorf("sample: seed %d is node %d of %d", i, v, s.Graph.NumDst())
		}
		offsets[i+1] = offsets[i] + int64(d.row(v).size())
	}
	edges := make([]int32, offsets[len(seeds)])
	par.For(len(seeds), seedGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d.draw(d.row(seeds[i]), edges[offsets[i]:offsets[i]:offsets[i+1]])
		}
	})
	return s.Graph.BlockOf(seeds, offsets, edges)
}

// seedGrain is how many seeds a thread takes at a time.
const seedGrain = 512

// draws is what one layer draws in one epoch.
type draws struct {
	offsets []int64
	loops   []int32 // the loop of each node, −1 where there is none; nil: there are none at all
	fanout  int
	replace bool
	key     uint64 // of seed, epoch and layer
}

func (s *Sampler) draws(epoch uint64, layer int) draws {
	key := mix(mix(mix(s.Seed)^epoch) ^ uint64(layer))
	return draws{s.Graph.In().Offsets, loopsOf(s.Graph), s.Fanout[layer], s.Replace, key}
}

// row is the in-edges of a node, of which some are drawn.
type row struct {
	node    int32
	first   int // its first in-edge
	others  int // its in-edges but for the loop
	loop    int // the place of its loop among them; −1: it has none
	drawn   int // how many of the others are drawn
	whole   bool
	replace bool
}

// size is how many edges are kept.
func (r row) size() int {
	if r.loop >= 0 {
		return r.drawn + 1
	}
	return r.drawn
}

// scale is how many edges each drawn one stands for.
func (r row) scale() float64 {
	if r.whole {
		return 1
	}
	return float64(r.others) / float64(r.drawn)
}

// row returns the in-edges of a node.
func (d draws) row(v int32) row {
	r := row{node: v, first: int(d.offsets[v]), loop: -1, replace: d.replace}
	r.others = int(d.offsets[v+1]) - r.first
	if d.loops != nil && d.loops[v] >= 0 {
		r.loop = int(d.loops[v]) - r.first
		r.others--
	}
	r.drawn = d.fanout
	if r.others == 0 || !d.replace && r.others <= d.fanout {
		r.drawn, r.whole = r.others, true
	}
	return r
}

// draw appends the edges of r that are kept to places, ascending.
func (d draws) draw(r row, places []int32) {
	at := mix(d.key ^ uint64(r.node))
	below := func(n int) int32 {
		at += golden
		k, _ := bits.Mul64(mix(at), uint64(n))
		return int32(k)
	}
	switch {
	case r.whole:
		for i := range r.others {
			places = append(places, int32(i))
		}
	case r.replace:
		for range r.drawn {
			places = append(places, below(r.others))
		}
		slices.Sort(places)
	default: // each set of so many is as likely as any other (R. W. Floyd)
		for n := r.others - r.drawn; n < r.others; n++ {
			k := below(n + 1)
			at, found := slices.BinarySearch(places, k)
			if found {
				k, at = int32(n), len(places)
			}
			places = append(places, 0)
			copy(places[at+1:], places[at:])
			places[at] = k
		}
	}
	r.number(places)
}

// number turns places among the others into edges, and adds the loop.
func (r row) number(places []int32) {
	for i, k := range places {
		if r.loop >= 0 && int(k) >= r.loop {
			k++
		}
		places[i] = int32(r.first) + k
	}
	if r.loop < 0 {
		return
	}
	loop := int32(r.first + r.loop)
	at, _ := slices.BinarySearch(places, loop)
	places = append(places, 0)
	copy(places[at+1:], places[at:])
	places[at] = loop
}

const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// loopsKey is the key of what loopsOf keeps.
type loopsKey struct{}

// loopsOf returns the first loop of each node, −1 where there is none, or nil if
// there are none at all. The graph keeps it.
func loopsOf(g *graph.Graph) []int32 {
	return g.Derived(loopsKey{}, func() any {
		in, own := g.In(), g.DstRows()
		loops, any := make([]int32, g.NumDst()), false
		for v := range loops {
			loops[v] = -1
			lo, hi := in.Offsets[v], in.Offsets[v+1]
			if i := slices.Index(in.Cols[lo:hi], own[v]); i >= 0 {
				loops[v], any = int32(lo)+int32(i), true
			}
		}
		if !any {
			return []int32(nil)
		}
		return loops
	}).([]int32)
}
