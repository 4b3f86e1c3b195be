package message

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// cuts are the chunks of a pass, the destinations in parts and, for a pass whose
// gradients go back to sources, how these are found. They follow from a graph and
// the size of the chunks, so a graph keeps them.
type cuts struct {
	all    []chunk
	hubs   []int
	routed sync.Once
	route  route // of what is kept of the edges of two; see sink.two
	sync.Mutex
	returns map[windowsOf]*returns
}

// route is the order in which the gradients of a window's edges go back: each part
// of the sources, a bucket, takes what is its own, chunk by chunk. All edges of a
// single chunk are in one bucket.
type route struct {
	buckets int
	order   []uint16 // of each chunk its edges by bucket, counted from its first
	ends    []uint16 // where each chunk's run of each bucket ends there
}

// maxBuckets is the number of parts of the sources.
const maxBuckets = 64

type (
	cutsKey struct{}
	cutOf   struct {
		size  int
		parts bool
	}
	// keptCuts are those of one graph.
	keptCuts struct {
		sync.RWMutex
		of map[cutOf]*cuts
	}
)

// chunks cuts the edges into chunks, and destinations with very many into parts
// if cut says so.
func (r *run) chunks(cut bool) *cuts {
	kept := r.g.Derived(cutsKey{}, func() any { return &keptCuts{of: map[cutOf]*cuts{}} }).(*keptCuts)
	k := cutOf{r.edgesPerChunk(), cut}
	kept.RLock()
	c := kept.of[k]
	kept.RUnlock()
	if c == nil {
		c = newCuts(r.g, k)
		kept.Lock()
		if other := kept.of[k]; other != nil {
			c = other
		}
		kept.of[k] = c
		kept.Unlock()
	}
	return c
}

func newCuts(g *graph.Graph, k cutOf) *cuts {
	c := new(cuts)
	off, n := g.In().Offsets, g.NumDst()
	for r0 := 0; r0 < n; {
		lo := int(off[r0])
		if deg := int(off[r0+1]) - lo; k.parts && deg > 2*k.size {
			for ; lo < int(off[r0+1]); lo += k.size {
				c.all = append(c.all, chunk{lo: lo, hi: min(lo+k.size, int(off[r0+1])), r0: r0, r1: r0 + 1, hub: len(c.hubs)})
			}
			c.hubs = append(c.hubs, r0)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < n && int(off[r1+1])-lo <= k.size {
			r1++
		}
		c.all = append(c.all, chunk{lo: lo, hi: int(off[r1]), r0: r0, r1: r1, hub: -1})
		r0 = r1
	}
	return c
}

// way is the route of cuts with parts, whose chunks are of at most 2·chunkEdges edges.
func (c *cuts) way(g *graph.Graph) *route {
	c.routed.Do(func() {
		w := &c.route
		w.buckets = 1
		var of []uint8
		if len(c.all) > 1 {
			w.buckets, of = maxBuckets, bucketsOf(g)
		}
		w.order, w.ends = make([]uint16, g.NumEdges()), make([]uint16, len(c.all)*w.buckets)
		eachChunk(len(c.all), func(i int) { w.sort(i, c.all[i], g.In().Cols, of) })
	})
	return &c.route
}

// sort puts the edges of a chunk in order by the buckets of their sources.
func (w *route) sort(i int, c chunk, cols []int32, of []uint8) {
	sortBy(of, cols[c.lo:c.hi], w.order[c.lo:c.hi], w.ends[i*w.buckets:(i+1)*w.buckets])
}

// run returns where a chunk's run of a bucket begins and ends among its edges.
func (w *route) run(i, bucket int) (from, to int) {
	at := i*w.buckets + bucket
	if bucket > 0 {
		from = int(w.ends[at-1])
	}
	return from, int(w.ends[at])
}

// returns is the order in which the edges of each window give back to their sources: by
// bucket, and those of one bucket in their own order.
type returns struct {
	buckets int      // 1 if there is but one chunk
	order   []uint16 // the edges of each window, counted from its first
	ends    []int32  // where each bucket of a window ends there
}

// of returns the edges of a bucket of window i, the first of which is edge base.
func (r *returns) of(i, base, bucket int) []uint16 {
	at, from := i*r.buckets+bucket, int32(0)
	if bucket > 0 {
		from = r.ends[at-1]
	}
	return r.order[base:][from:r.ends[at]]
}

// windowsOf tells the windows of cuts.
type windowsOf struct{ width, floats int }

// back is the returns of windows that end at such chunks.
func (c *cuts) back(g *graph.Graph, k windowsOf, ends []int) *returns {
	c.Lock()
	defer c.Unlock()
	r := c.returns[k]
	if r == nil {
		r = c.newReturns(g, ends)
		if c.returns == nil {
			c.returns = map[windowsOf]*returns{}
		}
		c.returns[k] = r
	}
	return r
}

// bases returns the first edge of each window, and last the number of edges.
func (c *cuts) bases(ends []int, edges int) []int {
	out, first := make([]int, 0, len(ends)+1), 0
	for _, end := range ends {
		if first < end {
			out = append(out, c.all[first].lo)
		}
		first = end
	}
	return append(out, edges)
}

func (c *cuts) newReturns(g *graph.Graph, ends []int) *returns {
	bases := c.bases(ends, g.NumEdges())
	windows := len(bases) - 1
	r := &returns{buckets: maxBuckets, order: make([]uint16, g.NumEdges())}
	of := []uint8(nil)
	if len(c.all) > 1 {
		of = bucketsOf(g)
	} else {
		r.buckets = 1
	}
	r.ends = make([]int32, windows*r.buckets)
	eachChunk(windows, func(i int) {
		lo, hi := bases[i], bases[i+1]
		sortBy(of, g.In().Cols[lo:hi], r.order[lo:hi], r.ends[i*r.buckets:(i+1)*r.buckets])
	})
	return r
}

// bucketsOf cuts the sources into parts of about equal numbers of edges, and
// returns that of each.
func bucketsOf(g *graph.Graph) []uint8 {
	offsets := make([]int64, g.NumSrc()+1)
	for _, u := range g.In().Cols {
		offsets[u+1]++
	}
	for u := range g.NumSrc() {
		offsets[u+1] += offsets[u]
	}
	out := make([]uint8, g.NumSrc())
	cuts := par.Split(offsets, maxBuckets, nil)
	for k := range maxBuckets {
		for u := cuts[k]; u < cuts[k+1]; u++ {
			out[u] = uint8(k)
		}
	}
	return out
}

// sortBy sets order to the numbers of edges with such sources by the buckets of these,
// and ends to where each bucket ends there. All are in one if nothing tells.
func sortBy[T uint16 | int32](of []uint8, cols []int32, order []uint16, ends []T) {
	if of == nil {
		for e := range order {
			order[e] = uint16(e)
		}
		ends[0] = T(len(order))
		return
	}
	for _, u := range cols {
		ends[of[u]]++
	}
	at := T(0)
	for k, n := range ends {
		ends[k] = at
		at += n
	}
	for e, u := range cols {
		k := of[u]
		order[ends[k]] = uint16(e)
		ends[k]++
	}
}
