package sample

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// All is the fan-out of a layer that reads all in-edges.
const All = math.MaxInt

// Sampler draws in-neighbours: what a layer reads of a node is Fanout of its
// in-edges, all if it has no more, and its loop besides. Each is as likely as any other
// unless there are Odds.
type Sampler struct {
	Graph   *graph.Graph   // whose destinations are sources
	Fanout  []int          // in-edges of a node for each layer, the first layer's first; [All] of them
	Kinds   [][]int        // in its place: for each layer the in-edges of each kind of the graph's; 0: none of it
	Replace bool           // draw with replacement: exactly Fanout, some perhaps twice
	Odds    []tensor.Float // of each edge, in proportion to which it is drawn; 0: never. nil: all alike
	Times   []int64        // of each edge: only those before the time of a seed are drawn, for its neighbours' sake, too; nil: all
	Seed    uint64

	made *order
}

// Check returns an error for a graph, fan-outs, odds or times that cannot be.
func (s *Sampler) Check() error {
	if s.Graph == nil {
		return fmt.Errorf("sample: the sampler has no Graph")
	}
	if s.Graph.Bipartite() && s.Graph.DstRows() == nil {
		return fmt.Errorf("sample: %v: its destinations are no sources, so they have no neighbours of neighbours", s.Graph)
	}
	if err := s.checkFanouts(); err != nil {
		return err
	}
	if o := s.made; o != nil && o.of(s) {
		return nil
	}
	if err := s.checkEdges(); err != nil {
		return err
	}
	s.made = newOrder(s)
	return nil
}

// checkFanouts checks how many edges are to be drawn.
func (s *Sampler) checkFanouts() error {
	switch {
	case len(s.Fanout) > 0 && len(s.Kinds) > 0:
		return fmt.Errorf("sample: Fanout and Kinds are given: leave one of them out")
	case len(s.Fanout)+len(s.Kinds) == 0:
		return fmt.Errorf("sample: no Fanout: it has an element for each layer, sample.All for all neighbours")
	}
	for i, k := range s.Fanout {
		if k < 1 {
			return fmt.Errorf("sample: the fan-out of layer %d is %d: it must be at least 1, and is sample.All for all neighbours", i+1, k)
		}
	}
	for i, ks := range s.Kinds {
		if len(ks) == 0 || slices.Max(ks) < 1 || slices.Min(ks) < 0 {
			return fmt.Errorf("sample: the fan-outs of layer %d are %v: none may be negative, and one of them must be at least 1; sample.All is all neighbours by a kind", i+1, ks)
		}
	}
	return nil
}

// checkEdges checks what is given for each edge.
func (s *Sampler) checkEdges() error {
	edges := s.Graph.NumEdges()
	if len(s.Kinds) > 0 {
		if err := s.checkKinds(); err != nil {
			return err
		}
	}
	if s.Times != nil && len(s.Times) != edges {
		return fmt.Errorf("sample: %d Times for %d edges", len(s.Times), edges)
	}
	if s.Odds != nil && len(s.Odds) != edges {
		return fmt.Errorf("sample: %d Odds for %d edges", len(s.Odds), edges)
	}
	for e, w := range s.Odds {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return fmt.Errorf("sample: the odds of edge %d are %v: they are finite numbers, 0 for an edge that is never drawn", e, w)
		}
	}
	return nil
}

// checkKinds checks that the fan-outs by kind are of the graph's kinds.
func (s *Sampler) checkKinds() error {
	if s.Graph.Kinds() == nil {
		return fmt.Errorf("sample: Kinds for %v, whose edges have no kinds: give Fanout", s.Graph)
	}
	var seen []bool
	for e, k := range s.Graph.Kinds() {
		for len(seen) <= int(k) {
			seen = append(seen, false)
		}
		if seen[k] = true; int(k) >= len(s.Kinds[0]) {
			return fmt.Errorf("sample: edge %d is of kind %d, and Kinds has fan-outs for %d: give one for each, 0 for a kind that is not read", e, k, len(s.Kinds[0]))
		}
	}
	for i, ks := range s.Kinds {
		if len(ks) != len(s.Kinds[0]) {
			return fmt.Errorf("sample: Kinds has %d fan-outs for layer %d and %d for the first", len(ks), i+1, len(s.Kinds[0]))
		}
		for k, n := range ks {
			if n > 0 && (k >= len(seen) || !seen[k]) {
				return fmt.Errorf("sample: Kinds has a fan-out of %d for kind %d in layer %d, and no edge is of it: make it 0", n, k, i+1)
			}
		}
	}
	return nil
}

// EachKind returns fan-outs of layers as those of each kind of edge that there is, for [Sampler.Kinds]: a
// layer that takes the mean of what a node hears by each kind would else hear nothing by the rare ones.
func EachKind(g *graph.Graph, fanout []int) [][]int {
	given("sample.EachKind", g)
	var there []bool
	for _, k := range g.Kinds() {
		for len(there) <= int(k) {
			there = append(there, false)
		}
		there[k] = true
	}
	out := make([][]int, len(fanout))
	for i, n := range fanout {
		out[i] = make([]int, len(there))
		for k := range there {
			if there[k] {
				out[i][k] = n
			}
		}
	}
	return out
}

// layers is the number of layers.
func (s *Sampler) layers() int { return max(len(s.Fanout), len(s.Kinds)) }

// Blocks returns a block for each layer, as [graph.Blocks] does, of the
// neighbours that are drawn in an epoch. The error names a seed that is repeated or
// not a node. With Times it is [Sampler.BlocksBefore].
func (s *Sampler) Blocks(seeds []int32, epoch uint64) ([]*graph.Graph, error) {
	if s.Times != nil {
		return nil, fmt.Errorf("sample: the sampler has Times, and the seeds have none: use BlocksBefore")
	}
	return s.blocks(seeds, nil, epoch)
}

// BlocksBefore is Blocks of seeds of which each has a time. Only edges before it are read
// for its sake, by all layers; so a node that is read for two seeds of different times is
// two rows, and a seed may be there more than once.
func (s *Sampler) BlocksBefore(seeds []int32, times []int64, epoch uint64) ([]*graph.Graph, error) {
	if s.Times == nil || len(times) != len(seeds) {
		return nil, fmt.Errorf("sample: %d seeds with %d times, and Times for %d edges: give one for each", len(seeds), len(times), len(s.Times))
	}
	return s.blocks(seeds, times, epoch)
}

func (s *Sampler) blocks(seeds []int32, times []int64, epoch uint64) ([]*graph.Graph, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	hops := make([]hop, s.layers())
	if err := s.hops(hops, asked{seeds: seeds, times: times, epoch: epoch}); err != nil {
		return nil, err
	}
	blocks := make([]*graph.Graph, len(hops))
	for i, h := range hops {
		blocks[i] = h.block
	}
	return blocks, nil
}

// asked is whose neighbours are drawn.
type asked struct {
	ctx     context.Context // nil: none
	seeds   []int32
	times   []int64 // of each; nil: none
	epoch   uint64
	inPlace bool    // the sources of the first layer are all nodes
	hidden  *hidden // edges that are left out; nil: none
	scales  bool    // how many edges each drawn one stands for is asked, too
}

// hop is what one layer reads.
type hop struct {
	block  *graph.Graph
	times  []int64   // of its sources
	scales []float64 // of its edges: for how many each stands; nil: for one
}

// hops draws all layers, the last one first.
func (s *Sampler) hops(hops []hop, a asked) (err error) {
	for i := len(hops) - 1; i >= 0; i-- {
		if a.ctx != nil && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if hops[i], err = s.hop(a, i); err != nil {
			return err
		}
		a.seeds, a.times = hops[i].block.From().Src, hops[i].times
	}
	return nil
}

// hop draws one layer.
func (s *Sampler) hop(a asked, layer int) (hop, error) {
	first := a.inPlace && layer == 0
	if s.reads(layer) && a.hidden == nil {
		if first {
			b, err := graph.Dst(s.Graph, a.seeds)
			return hop{block: b}, err
		}
		b, err := graph.Block(s.Graph, a.seeds)
		return hop{block: b}, err
	}
	d := s.draws(a, layer)
	if err := d.all(a.seeds); err != nil {
		return hop{}, err
	}
	if a.hidden != nil {
		a.hidden.leaveOut(d, a.seeds)
	}
	h := hop{scales: d.scales}
	var err error
	switch {
	case first:
		h.block, err = graph.DstOf(s.Graph, a.seeds, d.offsets, d.edges)
	case a.times != nil:
		h.block, h.times, err = s.timed(a, d)
	default:
		h.block, err = graph.BlockOf(s.Graph, a.seeds, d.offsets, d.edges)
	}
	return h, err
}

// reads reports whether a layer reads all in-edges of all times.
func (s *Sampler) reads(layer int) bool {
	return s.Times == nil && s.Odds == nil && !s.byKind() && s.Fanout[layer] == All
}

func (s *Sampler) byKind() bool { return len(s.Kinds) > 0 }

// timed returns the block of seeds that have times: a node is a source once for each
// time at which it is read.
func (s *Sampler) timed(a asked, d *draws) (*graph.Graph, []int64, error) {
	src := &seats{places: make(map[seat]int32, 2*len(d.edges)), times: []int64{}}
	for i, v := range a.seeds {
		if int(src.of(s.Graph.DstRows()[v], a.times[i])) != i {
			return nil, nil, fmt.Errorf("sample: seed %d, node %d at time %d, is there twice", i, v, a.times[i])
		}
	}
	cols := make([]int32, len(d.edges))
	for i, when := range a.times {
		for k := d.offsets[i]; k < d.offsets[i+1]; k++ {
			cols[k] = src.of(s.Graph.In().Cols[d.edges[k]], when)
		}
	}
	b, err := graph.BlockFrom(s.Graph, a.seeds, src.nodes, d.offsets, d.edges, cols)
	return b, src.times, err
}

func gatherOf(x, at []int32) []int32 {
	y := make([]int32, len(at))
	for i, j := range at {
		y[i] = x[j]
	}
	return y
}

// Needed returns what the layers of a network have to compute for the sake of some
// nodes, such as those of a loss: a block for each layer, of which the last gives the
// nodes' rows. Loss and gradients are those of the whole graph. It returns nil where
// the blocks have more than three quarters of the edges of all layers, so that the
// whole graph may as well be run.
//
// The first block's sources are the nodes whose features are read; where these are
// more than three quarters of all, it has all of the graph's sources under their own
// numbers (NumSrc is the graph's), and the features are read where they are.
//
// The error names a node that is repeated or not one of g's.
func Needed(g *graph.Graph, nodes []int32, layers int) ([]*graph.Graph, error) {
	given("sample.Needed", g)
	blocks, err := graph.Blocks(g, nodes, layers)
	if err != nil || layers == 0 {
		return nil, err
	}
	edges := 0
	for _, b := range blocks {
		edges += b.NumEdges()
	}
	if most(edges, layers*g.NumEdges()) {
		return nil, nil
	}
	if most(blocks[0].NumSrc(), g.NumSrc()) {
		blocks[0], err = graph.Dst(g, blocks[0].From().Dst)
	}
	return blocks, err
}

// most reports whether n is more than three quarters of all.
func most(n, all int) bool { return 4*n > 3*all }

// given panics if there is no graph.
func given(op string, g *graph.Graph) {
	if g == nil {
		panic(&tensor.ShapeError{Op: op, Why: "the graph is nil"})
	}
}
