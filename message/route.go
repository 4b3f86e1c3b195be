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
	all  []chunk
	hubs []int
	sync.Mutex
	returns map[windowsOf]*returns
}

// returns is the order in which edges give back to their sources, of which each part, a
// bucket, takes what is its own: the edges of each window by bucket, and those of one
// bucket in their own order. For edges that are kept in their places, see sink.two, each
// chunk is such a window.
type returns struct {
	buckets int      // 1 if there is but one chunk
	order   []uint16 // the edges of each window, counted from its first
	ends    []int32  // where each bucket of a window ends there
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

// run returns where a bucket of window i begins and ends among the window's edges.
func (r *returns) run(i, bucket int) (from, to int) {
	at := i*r.buckets + bucket
	if bucket > 0 {
		from = int(r.ends[at-1])
	}
	return from, int(r.ends[at])
}

// windowsOf tells the windows of cuts.
type windowsOf struct{ width, floats int }

// everyChunk is one that has each chunk for a window.
var everyChunk = windowsOf{floats: -1}

// back is the returns of windows that end at such chunks, or of every chunk.
func (c *cuts) back(g *graph.Graph, k windowsOf, ends []int) *returns {
	c.Lock()
	defer c.Unlock()
	r := c.returns[k]
	if r == nil {
		if k == everyChunk {
			ends = make([]int, len(c.all))
			for i := range ends {
				ends[i] = i + 1
			}
		}
		r = c.newReturns(g, ends)
		if c.returns == nil {
			c.returns = map[windowsOf]*returns{}
		}
		c.returns[k] = r
	}
	return r
}

// newReturns sorts the edges of windows that end at such chunks, which have no more than
// windowEdges.
func (c *cuts) newReturns(g *graph.Graph, ends []int) *returns {
	r := &returns{buckets: 1, order: make([]uint16, g.NumEdges())}
	var of []uint8
	if len(c.all) > 1 {
		r.buckets, of = maxBuckets, bucketsOf(g)
	}
	r.ends = make([]int32, len(ends)*r.buckets)
	if len(c.all) == 0 {
		return r
	}
	eachChunk(len(ends), func(i int) {
		lo, hi := 0, c.all[ends[i]-1].hi
		if i > 0 {
			lo = c.all[ends[i-1]].lo
		}
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
func sortBy(of []uint8, cols []int32, order []uint16, ends []int32) {
	if of == nil {
		for e := range order {
			order[e] = uint16(e)
		}
		ends[0] = int32(len(order))
		return
	}
	for _, u := range cols {
		ends[of[u]]++
	}
	at := int32(0)
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
