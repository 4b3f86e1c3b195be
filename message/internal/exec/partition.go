package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
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
	kept := g.Derived(partitionsKey{}, func() any { return &keptPartitions{of: map[partitionKey]*partition{}} }).(*keptPartitions)
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
