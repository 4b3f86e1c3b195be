package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
)

// A block is computed by several threads where it has about two chunks of work;
// a chunk is a multiple of the kernel's rows and of a panel's columns.
const (
	chunkWork = 1 << 19 // multiply-adds: some ten microseconds
	chunkMost = 64
	chunkRows = 2 * simd.ProductGroup
	fairRows  = 4 * chunkRows // what a panel of b is fetched for
)

// partTask is a block of a product, cut by rows and columns of c.
type partTask struct {
	gemm
	blk     block
	down    int // rows of a chunk
	across  int // columns of a chunk
	columns int // chunks beside each other
}

var partTasks = sync.Pool{New: func() any { return new(partTask) }}

// Chunk computes one part.
func (t *partTask) Chunk(i int) {
	w := workspaces.Get().(*workspace)
	blk := t.blk
	blk.lo = i / t.columns * t.down
	blk.left = i % t.columns * t.across
	blk.hi, blk.right = min(blk.lo+t.down, t.m), min(blk.left+t.across, t.n)
	t.strip(w, blk)
	workspaces.Put(w)
}

// rows computes a block of all rows and columns, on several threads where that
// pays. The elements of c do not depend on each other, so how they are cut
// changes no bit.
func (g *gemm) rows(blk block) {
	chunks := min(g.m*g.n*blk.kg/chunkWork, chunkMost)
	if chunks < 2 || g.part {
		w := workspaces.Get().(*workspace)
		g.strip(w, blk)
		workspaces.Put(w)
		return
	}
	t := partTasks.Get().(*partTask)
	*t = partTask{gemm: *g, blk: blk}
	t.down, t.across = g.share(chunks)
	t.columns = (g.n + t.across - 1) / t.across
	par.Run((g.m+t.down-1)/t.down*t.columns, t)
	*t = partTask{}
	partTasks.Put(t)
}

// share returns the rows and columns of a chunk, of which there are to be about
// so many: columns are cut where there are too few rows.
func (g *gemm) share(chunks int) (rows, columns int) {
	least := fairRows
	switch {
	case g.grouped():
		least = 2 * fairRows // pieces of a's rows that memory likes
	case g.n <= 4*nr:
		least = chunkRows
	}
	down := max(1, min(chunks, g.m/least))
	beside := max(1, min((chunks+down-1)/down, panels(g.n)/2))
	if down >= 16 {
		beside = 1
	}
	return even(g.m, (g.m+down-1)/down, chunkRows), even(panels(g.n), (panels(g.n)+beside-1)/beside, 1) * nr
}

// Where k is at least splitFrom in a product with TransA, a gradient of weights,
// it is cut into parts of about splitPart rows, but not more than splitMost.
const (
	splitFrom = 4096
	splitPart = 2048
	splitMost = 8
)

// splitTask is a product with a long k, cut in parts of k. The first has c, the
// others each a c of their own.
type splitTask struct {
	gemm
	parts   int
	private []Float
}

var splitTasks = sync.Pool{New: func() any { return new(splitTask) }}

// Chunk computes one part.
func (t *splitTask) Chunk(i int) {
	lo, hi := i*t.k/t.parts, (i+1)*t.k/t.parts
	part := t.gemm
	part.k, part.a, part.b = hi-lo, t.a.from(0, lo), t.b.from(lo, 0)
	part.part, part.then = true, Epilogue{}
	if i > 0 {
		part.c, part.set = t.private[(i-1)*t.m*t.n:i*t.m*t.n], true
	}
	part.run()
}

// split computes a product with a long k in parts, each with a c of its own,
// which are added in order. How many depends on k alone.
func (g *gemm) split() {
	parts := min(splitMost, g.k/splitPart)
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	t := splitTasks.Get().(*splitTask)
	*t = splitTask{gemm: *g, parts: parts, private: room(&w.c, (parts-1)*g.m*g.n)}
	par.Run(parts, t)
	par.Run((g.m+sumRows(g.n)-1)/sumRows(g.n), (*sumTask)(t))
	*t = splitTask{}
	splitTasks.Put(t)
}

// sumTask adds the parts of a split product.
type sumTask splitTask

// sumRows is how many rows of n a chunk of it has.
func sumRows(n int) int { return max(1, 1<<14/max(n, 1)) }

// Chunk adds some rows of all parts, in order.
func (t *sumTask) Chunk(i int) {
	by, size := sumRows(t.n), t.m*t.n
	blk := block{lo: i * by, hi: min((i+1)*by, t.m), right: t.n}
	c := t.c[blk.lo*t.n : blk.hi*t.n]
	for p := range t.parts - 1 {
		simd.Add.Forward(c, c, t.private[p*size+blk.lo*t.n:p*size+blk.hi*t.n], 1, 1)
	}
	t.finish(blk)
}
