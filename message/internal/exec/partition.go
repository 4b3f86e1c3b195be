package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// ChunkWork is the least work of a chunk, in elements. Tests change it: sums of W are
// taken by chunks, so bits may depend on it.
var ChunkWork = 1 << 14

// A pass over the edges is cut into about chunksWanted chunks, of not less than
// ChunkWork elements and not more than chunkMost, or chunkEdges edges. A destination
// of more than two chunks is cut too, where the pass allows it.
const (
	chunksWanted = 64
	chunkMost    = 1 << 18
	chunkEdges   = 1024
)

func edgesPerChunk(p *plan.Plan, g *graph.Graph) int {
	width := 1
	for i := range p.Steps {
		width += p.Steps[i].Width
	}
	least, most := max(ChunkWork/width, 4), max(chunkMost/width, 32)
	return min(max(g.NumEdges()/chunksWanted, least), most, chunkEdges)
}

// partition is the chunks of a pass, the destinations in parts and, for a pass whose
// gradients go back to sources, how these are found. It follows from a graph and
// the size of the chunks, so a graph keeps it.
type partition struct {
	chunks []chunk
	hubs   []int
	orders keptOrders
}

type (
	partitionsKey struct{}
	partitionKey  struct {
		size  int  // edges a chunk
		parts bool // a destination may come in parts
	}
	// keptPartitions are those of one graph.
	keptPartitions struct {
		lock sync.RWMutex
		of   map[partitionKey]*partition
	}
)

// partitionOf cuts the edges of g into chunks for a plan, and destinations with very many
// into parts if cut says so.
func partitionOf(p *plan.Plan, g *graph.Graph, cut bool) *partition {
	kept := graph.Derive(g, partitionsKey{}, func() *keptPartitions { return &keptPartitions{of: map[partitionKey]*partition{}} })
	k := partitionKey{edgesPerChunk(p, g), cut}
	kept.lock.RLock()
	c := kept.of[k]
	kept.lock.RUnlock()
	if c == nil {
		c = newPartition(g, k)
		kept.lock.Lock()
		if other := kept.of[k]; other != nil {
			c = other
		}
		kept.of[k] = c
		kept.lock.Unlock()
	}
	return c
}

func newPartition(g *graph.Graph, k partitionKey) *partition {
	c := new(partition)
	off, n := g.In().Offsets, g.NumDst()
	for r0 := 0; r0 < n; {
		lo := int(off[r0])
		if deg := int(off[r0+1]) - lo; k.parts && deg > 2*k.size {
			for ; lo < int(off[r0+1]); lo += k.size {
				c.chunks = append(c.chunks, chunk{lo: lo, hi: min(lo+k.size, int(off[r0+1])), r0: r0, r1: r0 + 1, hub: len(c.hubs)})
			}
			c.hubs = append(c.hubs, r0)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < n && int(off[r1+1])-lo <= k.size {
			r1++
		}
		c.chunks = append(c.chunks, chunk{lo: lo, hi: int(off[r1]), r0: r0, r1: r1, hub: -1})
		r0 = r1
	}
	return c
}

// sourceOrder is the order in which the gradients of edges are added to their sources.
// The sources are cut into ranges, the buckets, each of which one thread adds: the
// edges of each window are sorted by bucket, and those of one bucket stand in their
// own order. For gradients that are kept in a compact form, see compactGrad, each
// chunk is such a window.
type sourceOrder struct {
	buckets int      // 1 if there is but one chunk
	order   []uint16 // the edges of each window, counted from its first
	ends    []int32  // where each bucket of a window ends there
}

// maxBuckets is the number of parts of the sources.
const maxBuckets = 64

// span returns where a bucket of window i begins and ends among the window's edges.
func (o *sourceOrder) span(i, bucket int) (from, to int) {
	at := i*o.buckets + bucket
	if bucket > 0 {
		from = int(o.ends[at-1])
	}
	return from, int(o.ends[at])
}

// WindowFloats is the size of a window: how many elements of gradients wait in it. Tests
// change it: bits may depend on it.
var WindowFloats = 1 << 20

const (
	windowChunks = 64      // the most chunks of a window
	windowEdges  = 1 << 16 // and edges: they are counted in 16 bits
)

// windowsOf tells the windows of a partition.
type windowsOf struct{ width, floats int }

// everyChunk is one that has each chunk for a window.
var everyChunk = windowsOf{floats: -1}

// keptOrders are those of one partition.
type keptOrders struct {
	lock sync.Mutex
	of   map[windowsOf]*sourceOrder
}

// order is that of windows that end at such chunks, or of every chunk.
func (o *keptOrders) order(g *graph.Graph, chunks []chunk, k windowsOf, ends []int) *sourceOrder {
	o.lock.Lock()
	defer o.lock.Unlock()
	found := o.of[k]
	if found == nil {
		if k == everyChunk {
			ends = make([]int, len(chunks))
			for i := range ends {
				ends[i] = i + 1
			}
		}
		found = newSourceOrder(g, chunks, ends)
		if o.of == nil {
			o.of = map[windowsOf]*sourceOrder{}
		}
		o.of[k] = found
	}
	return found
}

// newSourceOrder sorts the edges of windows that end at such chunks, which have no more
// than windowEdges.
func newSourceOrder(g *graph.Graph, chunks []chunk, ends []int) *sourceOrder {
	o := &sourceOrder{buckets: 1, order: make([]uint16, g.NumEdges())}
	var of []uint8
	if len(chunks) > 1 {
		o.buckets, of = maxBuckets, bucketsOf(g)
	}
	o.ends = make([]int32, len(ends)*o.buckets)
	if len(chunks) == 0 {
		return o
	}
	eachChunk(len(ends), func(i int) {
		lo, hi := 0, chunks[ends[i]-1].hi
		if i > 0 {
			lo = chunks[ends[i-1]].lo
		}
		sortByBucket(of, g.In().Cols[lo:hi], o.order[lo:hi], o.ends[i*o.buckets:(i+1)*o.buckets])
	})
	return o
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
	ends := par.Split(offsets, maxBuckets, nil)
	for k := range maxBuckets {
		for u := ends[k]; u < ends[k+1]; u++ {
			out[u] = uint8(k)
		}
	}
	return out
}

// sortByBucket sets order to the numbers of edges with such sources by the buckets of
// these, and ends to where each bucket ends there. Without buckets all are in one.
func sortByBucket(bucketOf []uint8, cols []int32, order []uint16, ends []int32) {
	if bucketOf == nil {
		for e := range order {
			order[e] = uint16(e)
		}
		ends[0] = int32(len(order))
		return
	}
	for _, u := range cols {
		ends[bucketOf[u]]++
	}
	at := int32(0)
	for k, n := range ends {
		ends[k] = at
		at += n
	}
	for e, u := range cols {
		k := bucketOf[u]
		order[ends[k]] = uint16(e)
		ends[k]++
	}
}
