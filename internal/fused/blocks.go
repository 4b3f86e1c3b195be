package fused

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Blocks is dot-product attention on a graph of blocks, where no edge is listed:
// products of blocks of rows, and a softmax that goes along.
//
//	y[v,h,:] = Σ_u drop(softmax_u(Scale·⟨K[u,h,:], Q[v,h,:]⟩ + Bias[e,h]))·X[u,h,:]
//
// Every element of Q, K and X is finite: what is not would leak from a source into
// destinations that do not hear it.
type Blocks struct {
	Spans      []graph.Span
	Q, K, X    []tensor.Float // rows of Heads × KeyWidth, as many, and Heads × ValueWidth elements
	Heads      int
	KeyWidth   int
	ValueWidth int
	Scale      tensor.Float
	Bias       BlockBias
	Drop       *tensor.Mask // nil: none
	Stats      BlockStats   // set by Forward, read by Backward
}

// BlockStats is what Forward keeps of the softmax: the largest logit of each
// destination and head, and the sum of the weights under it. The sums are zero at
// first.
type BlockStats struct{ Top, Sum []tensor.Float }

// A tile has so many destinations, and one alone in its span up to so many. A result is
// summed over so many sources at a time, or longSrc where all hear longFrom at least.
const (
	blockDst = 48
	aloneDst = 64
	blockSrc = 64
	longSrc  = 2 * blockSrc
	longFrom = 512
)

// sumStep is over how many sources at a time the result of those is summed that hear n, or, unless
// all of a block do, some of n.
func sumStep(all bool, n int) int {
	if all && n >= longFrom {
		return longSrc
	}
	return blockSrc
}

// Forward sets out, which is zero, to the result, and fills Stats.
func (m *Blocks) Forward(out []tensor.Float) {
	m.each(m.Spans, 0, destinations, func(b *block, j job) { b.forward(m, j, out) })
}

// job is a range of the destinations and one of the sources of a block, and a head.
type job struct {
	graph.Span
	first     int // the block's first edge
	h, lo, hi int
	from, to  int // sources, by their numbers in the graph
}

// tileMost is how many destinations a tile has. Those of bands stay small, since a tile
// reads all that one of its destinations hears.
func tileMost(s *graph.Span) int {
	if s.NumDst <= aloneDst && !banded(s) {
		return aloneDst
	}
	return blockDst
}

func banded(s *graph.Span) bool { return s.Mask == graph.BandMask || s.Mask == graph.CausalBandMask }

// tileEnd is where the tile of destinations ends that begins at lo.
func tileEnd(s *graph.Span, lo int) int { return min(lo+tileMost(s), s.NumDst) }

// widest is how many sources the destinations of a tile hear at most.
func widest(s *graph.Span) int {
	switch s.Mask {
	case graph.BandMask:
		return min(s.NumSrc, 2*s.Width+tileMost(s))
	case graph.CausalBandMask:
		return min(s.NumSrc, s.Width+tileMost(s))
	}
	return s.NumSrc
}

// A side says how blocks and heads are cut into jobs.
type side int

const (
	whole        side = iota // not
	destinations             // by tiles of destinations, as many as keep the threads busy
	tiles                    // by destinations, blockDst of them; only of the first head
	sources                  // by sources, as many as keep the threads busy
)

var jobLists = sync.Pool{New: func() any { return new([]job) }}

// each calls f with the jobs of some blocks, of which the edges count from first, on
// several threads.
func (m *Blocks) each(spans []graph.Span, first int, cut side, f func(b *block, j job)) {
	list := jobLists.Get().(*[]job)
	all := m.jobs((*list)[:0], spans, first, cut)
	eachPart(len(all), func(i int) {
		b := blocks.Get().(*block)
		b.begin()
		f(b, all[i])
		blocks.Put(b)
	})
	*list = all
	jobLists.Put(list)
}

// jobsPerThread is how many jobs a thread gets at least, if a block and a head can be cut.
const jobsPerThread = 4

// jobs appends the jobs of some blocks.
func (m *Blocks) jobs(all []job, spans []graph.Span, first int, cut side) []job {
	heads, parts := m.Heads, 1
	if cut == tiles {
		heads = 1
	} else if threads := par.Threads(); threads > 1 && cut != whole && len(spans) > 0 {
		parts = (jobsPerThread*threads-1)/(len(spans)*heads) + 1
	}
	for _, s := range spans {
		for h := range heads {
			all = cut.append(all, job{s, first, h, 0, s.NumDst, s.Src, s.Src + s.NumSrc}, parts)
		}
		first += s.NumEdges()
	}
	return all
}

// append cuts a block and a head into about so many jobs.
func (cut side) append(all []job, j job, parts int) []job {
	if j.NumDst == 0 {
		return all
	}
	switch cut {
	case destinations:
		each := (j.NumDst/blockDst + parts) / parts // tiles
		for lo := 0; lo < j.NumDst; lo = j.hi {
			j.lo, j.hi = lo, lo
			for k := 0; k < each && j.hi < j.NumDst; k++ {
				j.hi = tileEnd(&j.Span, j.hi)
			}
			all = append(all, j)
		}
		return all
	case tiles:
		for lo := 0; lo < j.NumDst; lo += blockDst {
			j.lo, j.hi = lo, min(lo+blockDst, j.NumDst)
			all = append(all, j)
		}
		return all
	case sources:
		each := max((j.NumSrc/parts+blockSrc-1)/blockSrc, 1) * blockSrc
		for lo := 0; lo < j.NumSrc; lo += each {
			j.from, j.to = j.Src+lo, j.Src+min(lo+each, j.NumSrc)
			all = append(all, j)
		}
		return all
	}
	return append(all, j)
}

// partLoop is a loop over parts.
type partLoop func(i int)

// Chunk does one part.
func (f partLoop) Chunk(i int) { f(i) }

// eachPart calls f with 0 to n−1, on several threads.
func eachPart(n int, f partLoop) {
	if n == 1 {
		f(0)
		return
	}
	par.Run(n, f)
}

// reach returns the job's sources that any destination of a tile may hear.
func (j *job) reach(lo, hi int) (from, to int) {
	from, to = j.to, j.from
	for i := lo; i < hi; i++ {
		if a, z, _ := j.Sources(i); a < z {
			from, to = min(from, a), max(to, z)
		}
	}
	return max(from, j.from), min(to, j.to)
}

// headOf is where a head stands in rows of all elements: d of them from at on.
type headOf struct{ at, d, all int }

func (m *Blocks) ofKeys(h int) headOf {
	return headOf{h * m.KeyWidth, m.KeyWidth, m.Heads * m.KeyWidth}
}
func (m *Blocks) ofValues(h int) headOf {
	return headOf{h * m.ValueWidth, m.ValueWidth, m.Heads * m.ValueWidth}
}

// stat is where the statistics of a destination and a head are.
func (m *Blocks) stat(v, h int) int { return v*m.Heads + h }

// add is y += x.
func add(y, x []tensor.Float) { vec.Add.Forward(y, y, x, 1, 1) }

// drop returns the dropout of the weights, or nil.
func (m *Blocks) drop() *vec.Dropout { return (*vec.Dropout)(m.Drop) }
