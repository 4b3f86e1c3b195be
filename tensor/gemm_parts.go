package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// A block is computed by several threads where it has about two chunks of work;
// a chunk is a multiple of the kernel's rows.
const (
	chunkWork = 1 << 19 // multiply-adds: some ten microseconds
	chunkRows = 12
	chunkMost = 64
)

// rowTask is a block of a product, cut by rows of c.
type rowTask struct {
	gemm
	blk  block
	step int
}

var rowTasks = sync.Pool{New: func() any { return new(rowTask) }}

// Chunk computes step rows.
func (t *rowTask) Chunk(i int) {
	w := workspaces.Get().(*workspace)
	blk := t.blk
	blk.lo = t.blk.lo + i*t.step
	blk.hi = min(blk.lo+t.step, t.blk.hi)
	t.strip(w, blk)
	workspaces.Put(w)
}

// rows computes a block, on several threads where that pays. The rows of c do
// not depend on each other, so how they are cut changes no bit.
func (g *gemm) rows(w *workspace, blk block) {
	m := blk.hi - blk.lo
	chunks := min(m*g.n*blk.kb/chunkWork, chunkMost, (m+chunkRows-1)/chunkRows)
	if chunks < 2 {
		g.strip(w, blk)
		return
	}
	step := ((m+chunks-1)/chunks + chunkRows - 1) / chunkRows * chunkRows
	t := rowTasks.Get().(*rowTask)
	*t = rowTask{gemm: *g, blk: blk, step: step}
	par.Run((m+step-1)/step, t)
	*t = rowTask{}
	rowTasks.Put(t)
}

// splitTask is a product with a long k, cut in parts of k. The first adds to c,
// the others each to a c of their own.
type splitTask struct {
	gemm
	parts   int
	private []Float
}

var splits = sync.Pool{New: func() any { return new(splitTask) }}

// Chunk computes one part.
func (t *splitTask) Chunk(i int) {
	lo, hi := i*t.k/t.parts, (i+1)*t.k/t.parts
	part := t.gemm
	part.k, part.a, part.b = hi-lo, t.a.from(0, lo), t.b.from(lo, 0)
	if i > 0 {
		part.c = t.private[(i-1)*t.m*t.n : i*t.m*t.n]
	}
	part.run()
}
