package sample

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
)

// Drawn says how the other ends of negatives are drawn.
type Drawn string

// The ways in which they are.
const (
	ByDegree Drawn = "degree" // in proportion to the edges that train which lead to a node
	InBatch  Drawn = "batch"  // among the destinations of the other edges of the batch
)

// checkLinks checks what is drawn and read beside edges that train.
func (l *Loader) checkLinks() error {
	switch {
	case l.Negatives < 0:
		return fmt.Errorf("sample: Negatives is %d; it is how many are drawn for each edge", l.Negatives)
	case l.Others != "" && l.Others != ByDegree && l.Others != InBatch:
		return fmt.Errorf("sample: Others is %q; want %q, %q or nothing, for all nodes alike", string(l.Others), ByDegree, InBatch)
	case l.Edges == nil && (l.Negatives > 0 || l.Hide):
		return fmt.Errorf("sample: Negatives and Hide are for Edges that train, and there are none")
	}
	return nil
}

// ends is the graph whose edges train.
func (l *Loader) ends() *graph.Graph {
	if l.Ends != nil {
		return l.Ends
	}
	return l.Graph
}

// timesOf are the times of what trains: of each node, or of each edge of Ends.
func (l *Loader) timesOf() []int64 {
	if l.Before == nil && l.Edges != nil && l.ends() == l.Graph {
		return l.Times
	}
	return l.Before
}

// withTime is of how many nodes, or edges of Ends, there is a time.
func (l *Loader) withTime() int {
	if l.Edges != nil {
		return l.ends().NumEdges()
	}
	return l.Graph.NumDst()
}

// seat is a node that is read at a time.
type seat struct {
	node int32
	time int64
}

// seats gives nodes their places among the seeds of a batch, or the sources of a block: each once for each
// time, in the order in which they are asked for.
type seats struct {
	places map[seat]int32
	nodes  []int32
	times  []int64 // nil: there are none
}

func (s *seats) of(v int32, time int64) int32 {
	i, known := s.places[seat{v, time}]
	if !known {
		i = int32(len(s.nodes))
		s.places[seat{v, time}], s.nodes = i, append(s.nodes, v)
		if s.times != nil {
			s.times = append(s.times, time)
		}
	}
	return i
}

// seat makes the ends of the batch's edges its seeds, and draws the negatives of each. It
// returns what is asked of the sampler.
func (l *Loader) seat(b *Batch, epoch uint64) (asked, error) {
	g, times := l.ends(), l.timesOf()
	s := &seats{places: make(map[seat]int32, (2+l.Negatives)*len(b.Edges))}
	if l.Times == nil {
		times = nil
	} else {
		s.times = []int64{}
	}
	when := func(e int32) int64 {
		if times == nil {
			return 0
		}
		return times[e]
	}
	b.From, b.To = make([]int32, len(b.Edges)), make([]int32, len(b.Edges))
	for i, e := range b.Edges {
		b.From[i], b.To[i] = s.of(g.In().Cols[e], when(e)), s.of(g.Destinations()[e], when(e))
	}
	if l.Negatives > 0 {
		not := others{l: l, edges: b.Edges, key: mix(mix(mix(l.Seed^0x6e6567) ^ epoch))}
		b.Not = make([]int32, 0, l.Negatives*len(b.Edges))
		for i, e := range b.Edges {
			for j := range l.Negatives {
				v, err := not.draw(i, j)
				if err != nil {
					return asked{}, err
				}
				b.Not = append(b.Not, s.of(v, when(e)))
			}
		}
	}
	b.Seeds = s.nodes
	a := asked{seeds: s.nodes, times: s.times, epoch: epoch}
	if l.Hide {
		a.hidden = l.hide(b)
	}
	return a, nil
}

// others draws the other destinations of a batch's edges.
type others struct {
	l     *Loader
	edges []int32
	key   uint64
}

// tries is how often a destination is drawn before all are looked at in turn.
const tries = 32

// draw returns the j-th other destination of the batch's edge i: a node that its source
// has no edge with.
func (o *others) draw(i, j int) (int32, error) {
	g, e := o.l.ends(), o.edges[i]
	u, at := g.In().Cols[e], mix(o.key^uint64(e))+uint64(j)*0x9fb21c651e98df25
	for range tries {
		at += golden
		if v := o.any(mix(at)); o.may(u, v) {
			return v, nil
		}
	}
	lo, hi := o.l.span()
	n := int(hi - lo)
	for k, first := 0, int(below(mix(at+golden), n)); k < n; k++ {
		if v := lo + int32((first+k)%n); o.may(u, v) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("sample: node %d has an edge with every other node, so edge %d has no negative: leave its edges out of Edges, or set Negatives to 0", u, e)
}

// any returns a node.
func (o *others) any(random uint64) int32 {
	g := o.l.ends()
	switch o.l.Others {
	case ByDegree:
		return g.Destinations()[o.l.Edges[below(random, len(o.l.Edges))]]
	case InBatch:
		return g.Destinations()[o.edges[below(random, len(o.edges))]]
	}
	lo, hi := o.l.span()
	return lo + below(random, int(hi-lo))
}

// may reports whether u and v are a pair without an edge.
func (o *others) may(u, v int32) bool {
	if u == v {
		return false
	}
	pair := pairOf(u, v, o.l.Directed)
	return (o.l.typed != nil || !pairsIn(o.l.Graph, o.l.Directed).has(pair)) && !pairsIn(o.l.ends(), o.l.Directed).has(pair)
}

// hidden are edges that carry no messages: those whose ends are a pair of the set, among the
// first rows of each hop, which are the seeds'.
type hidden struct {
	pairs    *pairSet
	directed bool
	graph    *graph.Graph
	seeds    int
}

// hide returns the edges of a batch as those that are left out.
func (l *Loader) hide(b *Batch) *hidden {
	h := &hidden{newPairSet(len(b.Edges)), l.Directed, l.Graph, len(b.Seeds)}
	for i := range b.Edges {
		h.pairs.add(pairOf(b.Seeds[b.From[i]], b.Seeds[b.To[i]], l.Directed))
	}
	return h
}

// leaveOut removes hidden edges from those that were drawn for seeds.
func (h *hidden) leaveOut(d *draws, seeds []int32) {
	cols, kept := h.graph.In().Cols, 0
	for i, v := range seeds {
		lo, hi := d.offsets[i], d.offsets[i+1]
		if d.offsets[i] = int64(kept); i >= h.seeds && kept == int(lo) {
			return // nothing was left out, and nothing will be
		}
		for k := lo; k < hi; k++ {
			e := d.edges[k]
			if i < h.seeds && cols[e] != v && h.pairs.has(pairOf(cols[e], v, h.directed)) {
				continue
			}
			d.edges[kept] = e
			if d.scales != nil {
				d.scales[kept] = d.scales[k]
			}
			kept++
		}
	}
	d.offsets[len(seeds)] = int64(kept)
	d.edges = d.edges[:kept]
	if d.scales != nil {
		d.scales = d.scales[:kept]
	}
}
