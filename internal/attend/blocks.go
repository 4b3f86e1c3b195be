package attend

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
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

// A block has so many destinations and sources.
const (
	blockDst = 48
	blockSrc = 64
)

// Forward sets out, which is zero, to the result, and fills Stats.
func (m *Blocks) Forward(out []tensor.Float) {
	m.each(destinationsOf, func(b *block, j job) { b.forward(m, j, out) })
}

// job is a range of the destinations, or of the sources, of a block and a head.
type job struct {
	graph.Span
	first     int // the block's first edge
	h, lo, hi int
}

// A side of a block is cut into ranges of so many rows.
type side func(s graph.Span) (n, step int)

func destinationsOf(s graph.Span) (n, step int) { return s.NumDst, blockDst }
func sourcesOf(s graph.Span) (n, step int)      { return s.NumSrc, blockSrc }

var jobLists = sync.Pool{New: func() any { return new([]job) }}

// each calls f with the ranges of one side of all blocks, for each head, on
// several threads.
func (m *Blocks) each(cut side, f func(b *block, j job)) {
	list := jobLists.Get().(*[]job)
	all := m.jobs((*list)[:0], cut, m.Heads)
	eachPart(len(all), func(i int) {
		b := blocks.Get().(*block)
		b.spoil()
		f(b, all[i])
		blocks.Put(b)
	})
	*list = all
	jobLists.Put(list)
}

// jobs appends the ranges of one side of all blocks, for so many heads.
func (m *Blocks) jobs(all []job, cut side, heads int) []job {
	first := 0
	for _, s := range m.Spans {
		n, step := cut(s)
		for h := range heads {
			for lo := 0; lo < n; lo += step {
				all = append(all, job{s, first, h, lo, min(lo+step, n)})
			}
		}
		first += s.NumEdges()
	}
	return all
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

// block is the scratch of a block of destinations and sources.
type block struct {
	p, dp [blockDst * blockSrc]tensor.Float // the logits, then weights; their gradients
	kept  [blockDst * blockSrc]tensor.Float // what dropout multiplies weights with
	turn  []tensor.Float                    // rows of sources, turned to columns
	heard [blockDst]run                     // of each row of p, where it may hold something
	along []tensor.Float                    // p and dp of all blocks of some destinations
}

// run is a range of a row of a block, from a multiple of eight to another.
type run struct{ from, to int }

// hears notes that row i of p is logits from lo to hi, of which the whole registers that they
// stand in are read; the rest of these becomes −∞.
func (b *block) hears(i, lo, hi int) {
	row := b.p[i*blockSrc : (i+1)*blockSrc]
	if lo >= hi {
		b.heard[i] = run{}
		return
	}
	h := run{lo &^ 7, (hi + 7) &^ 7}
	vec.NoTop(row[h.from:lo])
	vec.NoTop(row[hi:h.to])
	b.heard[i] = h
}

// exponentials turns row i of p from logits into exp(logit − top), and what nobody hears
// into zeros. It returns the part that holds something.
func (b *block) exponentials(i int, top []tensor.Float) []tensor.Float {
	row, h := b.p[i*blockSrc:(i+1)*blockSrc], b.heard[i]
	clear(row[:h.from])
	clear(row[h.to:])
	row = row[h.from:h.to]
	vec.ExpRows(row, row, top)
	return row
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// spoil spoils what holds anything until it is set.
func (b *block) spoil() {
	spoil.Floats(b.p[:])
	spoil.Floats(b.dp[:])
	spoil.Floats(b.kept[:])
	spoil.Floats(b.turn)
}

// rect is a block: destinations v to v+nv and sources u to u+nu.
type rect struct{ v, nv, u, nu int }

// reach returns the sources that any destination from lo to hi may hear.
func reach(s graph.Span, lo, hi int) (from, to int) {
	from, to = s.Src+s.NumSrc, s.Src
	for j := lo; j < hi; j++ {
		if a, z, _ := s.Sources(j); a < z {
			from, to = min(from, a), max(to, z)
		}
	}
	return from, to
}

// headOf is where a head stands in rows of all elements: d of them from at on.
type headOf struct{ at, d, all int }

func (m *Blocks) ofKeys(h int) headOf {
	return headOf{h * m.KeyWidth, m.KeyWidth, m.Heads * m.KeyWidth}
}
func (m *Blocks) ofValues(h int) headOf {
	return headOf{h * m.ValueWidth, m.ValueWidth, m.Heads * m.ValueWidth}
}

// columnsOf turns a block of rows of an array, of head h, to columns.
func (b *block) columnsOf(x []tensor.Float, u, n int, h headOf) {
	if cap(b.turn) < h.d*blockSrc {
		b.turn = make([]tensor.Float, h.d*blockSrc)
	}
	b.turn = b.turn[:h.d*blockSrc]
	if n > 0 {
		gemm.PackTransposed(b.turn, x[u*h.all+h.at:], blockSrc, h.all, [2]int{n, h.d})
	}
}

// add is y += x.
func add(y, x []tensor.Float) { vec.Add.Forward(y, y, x, 1, 1) }

// drop returns the dropout of the weights, or nil.
func (m *Blocks) drop() *vec.Dropout { return (*vec.Dropout)(m.Drop) }
