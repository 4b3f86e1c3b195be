package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	simdgemm "github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// A block is computed by several threads where it has about two chunks of work.
const (
	chunkWork = 1 << 19 // multiply-adds: some ten microseconds
	chunkLine = 1 << 15 // of a matrix and a vector: their time is that of reading it
	writeWork = 8       // of an element of c, in multiply-adds
	chunkMost = 64
	fairRows  = 4 * tileRows // what a panel of b is fetched for

	tileRows    = 2 * simdgemm.ProductGroup // of the kernel with the tallest tiles
	tileColumns = 2 * nr                    // which has two panels; one alone takes as long
)

// partTask is a block of a product, cut in chunks by rows and columns of c.
type partTask struct {
	gemm
	blk                     block
	rowChunks, columnChunks int  // chunks below and beside each other
	down                    bool // those below each other come one after the other
}

var partTasks = sync.Pool{New: func() any { return new(partTask) }}

// Chunk computes one part.
func (t *partTask) Chunk(i int) {
	w := workspaces.Get().(*workspace)
	blk := t.blk
	row, column := i/t.columnChunks, i%t.columnChunks
	if t.down {
		row, column = i%t.rowChunks, i/t.rowChunks
	}
	blk.lo, blk.hi = portion(t.m, t.unit(), row, t.rowChunks)
	blk.left, blk.right = portion(t.n, tileColumns, column, t.columnChunks)
	t.strip(w, blk)
	workspaces.Put(w)
}

// unit is what the rows of a chunk are a multiple of: the groups in which a is copied are
// not cut, and of few rows all threads have as many.
func (g *gemm) unit() int {
	switch {
	case g.n == 1:
		return simdgemm.ProductDots
	case g.small() && !g.grouped():
		return 4
	}
	return simdgemm.ProductGroup
}

// small reports whether the product is one of many of few rows with a b that came packed.
func (g *gemm) small() bool { return g.packed != nil && g.m < 16*tileRows }

// portion returns range i of so many that cut n into about the same lengths, at
// multiples of unit.
func portion(n, unit, i, parts int) (lo, hi int) {
	units := (n + unit - 1) / unit
	return i * units / parts * unit, min((i+1)*units/parts*unit, n)
}

// longest is how long the longest range of portion is.
func longest(n, unit, parts int) int { return ((n+unit-1)/unit + parts - 1) / parts * unit }

// rows computes a block of all rows and columns, on several threads where that
// pays. The elements of c do not depend on each other, so how they are cut
// changes no bit.
func (g *gemm) rows(blk block) {
	chunks := g.chunks(blk.kg)
	if chunks < 2 || g.part {
		w := workspaces.Get().(*workspace)
		g.strip(w, blk)
		workspaces.Put(w)
		return
	}
	threads := par.Threads()
	t := partTasks.Get().(*partTask)
	*t = partTask{gemm: *g, blk: blk}
	t.blk.far = blk.panel > nr && g.n*blk.kg > farWork
	switch t.down = g.wide(blk); {
	case blk.own:
		t.columnChunks = max(1, min(chunks, panels(g.n)*nr/ownColumns))
		t.rowChunks = max(1, min(chunks, 2*threads)/t.columnChunks) // each packs all of b's columns
		t.rowChunks = min(t.rowChunks, max(1, g.m/(2*tileRows)))
	case t.down:
		t.rowChunks, t.columnChunks = g.strips(chunks, blk.kg)
	default:
		t.rowChunks, t.columnChunks = g.share(chunks)
		if n := t.rowChunks * t.columnChunks; threads > 2 && n < chunks && n%threads != 0 {
			t.rowChunks, t.columnChunks = g.grid(1, chunks)
		}
	}
	par.Run(t.rowChunks*t.columnChunks, t)
	*t = partTask{}
	partTasks.Put(t)
}

// chunks returns into about how many chunks a block of so many steps of k is cut: a multiple of the
// threads if there are more than those, since they wait for the last ones. Where there is less than a
// chunk for each, every other thread has half a one.
func (g *gemm) chunks(steps int) int {
	threads := par.Threads()
	if g.m == 1 || g.n == 1 {
		return min(g.m*g.n*(steps+writeWork)/chunkLine, chunkMost) &^ 1
	}
	work := g.m * panels(g.n) * nr * (steps + writeWork)
	chunks := min(max(work/chunkWork, min(2*work/chunkWork, threads/2)), max(chunkMost, 4*threads))
	if chunks > threads {
		chunks -= chunks % threads
	}
	return chunks
}

// share returns how many chunks there are below and beside each other, of about
// so many: columns are cut where there are too few rows. A few more than the
// threads are a multiple of them if they can: the last would wait for one. Where b came
// packed the product is one of many small ones, of rows that another loop cuts, too: then
// what a thread reads of a is what it wrote.
func (g *gemm) share(chunks int) (rowChunks, columnChunks int) {
	least := fairRows
	switch {
	case g.grouped():
		least = 2 * fairRows // pieces of a's rows that memory likes
	case g.n <= 4*nr:
		least = tileRows
	case g.small():
		least = 2 * tileRows
	}
	rowChunks, columnChunks = max(1, min(chunks, g.m/least)), 1
	if rowChunks < 16 {
		narrow := 2 // panels
		switch {
		case g.grouped():
			narrow = 16 // all rows of a are packed for each
		case g.then.ends() || g.copies():
			narrow = 8 // what comes after it is done row by row, and rows of a are copied for each
		}
		columnChunks = max(1, min((chunks+rowChunks-1)/rowChunks, panels(g.n)/narrow))
	}
	if rowChunks > 4 {
		rowChunks -= rowChunks % 4
	}
	return rowChunks, columnChunks
}

// What the rows and columns of a tile take at each step of k, in multiply-adds: one that is
// packed, one of a packed b that is read, and one that is read where it is.
const (
	packWork  = 11
	panelWork = 6
	placeWork = 2
)

// grid returns how many tiles of c there are below and beside each other, at most so many, in each
// of so many parts that the threads share: as many as end first. The smaller a tile, the more of
// its time goes into reading a and b. But threads wait where chunks are not a multiple of them,
// and the more there are, the longer one of them is late.
func (g *gemm) grid(parts, most int) (rows, columns int) {
	threads := par.Threads()
	perRow, perColumn := placeWork, panelWork
	if g.grouped() || g.copies() {
		perRow = packWork
	}
	switch {
	case g.part && !g.narrow() && !g.inPlace():
		perColumn = packWork
	case g.part:
		perColumn = placeWork
	}
	most = min(most, max(1, 4*threads/parts))
	least := 0
	for r := 1; r == 1 || r <= most && r*tileRows <= g.m; r++ {
		for c := 1; c == 1 || r*c <= most && c*tileColumns <= g.n; c++ {
			tall, wide := longest(g.m, simdgemm.ProductGroup, r), longest(g.n, tileColumns, c)
			rounds := (parts*r*c + threads - 1) / threads
			time := (64*rounds + max(0, threads-2)) * (tall*wide + perRow*tall + perColumn*wide)
			if least == 0 || time < least {
				least, rows, columns = time, r, c
			}
		}
	}
	return rows, columns
}

// Where a packed b has more than farWork elements the second cache does not keep it beside
// the rest. Of one with more than wideWork a chunk of many rows has so many columns that it
// reads stripWork, which stay for the chunk below it. Few rows are not cut, so that b comes
// once; the columns are, in pieces of fewPanels, or less where the threads are many.
const (
	farWork   = 1 << 18
	wideWork  = 1 << 19
	stripWork = 3 << 17
	fewRows   = 2 * mc
	fewPanels = 8
)

// wide reports whether a block is cut in strips: by all of its b for few rows, else by as
// many steps of k as are computed together.
func (g *gemm) wide(blk block) bool {
	steps := blk.kg
	if g.m >= fewRows {
		steps = min(steps, kc)
	}
	return blk.panel > 0 && g.m > 1 && g.n*steps > wideWork
}

// strips is share for a wide b.
func (g *gemm) strips(chunks, kg int) (rowChunks, columnChunks int) {
	if g.m < fewRows {
		most := max(panels(g.n)/fewPanels, min(4*par.Threads(), panels(g.n)/2))
		return 1, max(1, min(chunks, (most+3)/4*4))
	}
	columnChunks = (g.n*kg + stripWork - 1) / stripWork
	rowChunks = max(1, min(chunks/columnChunks, g.m/mc))
	if rowChunks%2 > 0 {
		columnChunks += columnChunks % 2 // an odd one is what the other threads wait for
	}
	for r := rowChunks; r > rowChunks*3/4; r-- {
		if r*columnChunks%par.Threads() == 0 {
			return r, columnChunks
		}
	}
	return rowChunks, columnChunks
}

// Where k is at least splitFrom in a product with TransA, a gradient of weights,
// it is cut into parts of about splitPart rows, but not more than splitMost. A
// narrow result, which costs little to add, is cut in two from splitPart on.
const (
	splitFrom   = 4096
	splitPart   = 2048
	splitMost   = 8
	splitNarrow = 512
)

// splits returns into how many parts k is cut.
func (g *gemm) splits() int {
	switch {
	case g.k >= splitFrom:
		return min(splitMost, g.k/splitPart)
	case g.k >= SplitRows(g.n):
		return 2
	}
	return 1
}

// SplitRows returns from how many rows on a product with [TransA], whose result has so many columns,
// is the sum of parts. Below that, rows of zeros in front change nothing.
func SplitRows(columns int) int {
	if columns <= splitNarrow {
		return splitPart
	}
	return splitFrom
}

// splitTask is a product with a long k, cut in parts of k. The first has c, the
// others each a c of their own.
type splitTask struct {
	gemm
	parts   int
	tiles   [2]int // of a part's c, below and beside each other: each is a chunk
	private []Float
	columns []Float // and sums of b, with room for a few rows, if they are wanted
}

var splitTasks = sync.Pool{New: func() any { return new(splitTask) }}

// Chunk computes a tile of one part. Those of a part come one after the other, so that threads
// read the same rows of a and b at about the same time.
func (t *splitTask) Chunk(i int) {
	tiles := t.tiles[0] * t.tiles[1]
	i, tile := i/tiles, i%tiles
	lo, hi := i*t.k/t.parts, (i+1)*t.k/t.parts
	part := t.gemm
	part.k, part.a, part.b = hi-lo, t.a.from(0, lo), t.b.from(lo, 0)
	part.then = Epilogue{}
	if t.sums != nil {
		part.sums = t.columns[2*i*t.n : 2*(i+1)*t.n]
	}
	if i > 0 {
		part.c, part.set = t.private[(i-1)*t.m*t.n:i*t.m*t.n], true
	}
	var in block
	in.lo, in.hi = portion(t.m, simdgemm.ProductGroup, tile/t.tiles[1], t.tiles[0])
	in.left, in.right = portion(t.n, tileColumns, tile%t.tiles[1], t.tiles[1])
	part.window(in)
}

// split computes a product with a long k in parts, each with a c of its own,
// which are added in order. How many depends on k and n alone.
func (g *gemm) split(parts int) {
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	t := splitTasks.Get().(*splitTask)
	*t = splitTask{gemm: *g, parts: parts, private: room(&w.c, (parts-1)*g.m*g.n)}
	if g.sums != nil {
		t.columns = room(&w.sums, 2*parts*g.n)
		clear(t.columns)
	}
	t.part = true
	t.tiles[0], t.tiles[1] = t.grid(parts, g.m*g.n*(g.k/parts)/chunkWork)
	par.Run(parts*t.tiles[0]*t.tiles[1], t)
	for i := 0; i < len(t.columns); i += 2 * g.n {
		vec.AddRows(g.sums, t.columns[i:i+g.n])
	}
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
		vec.Add.Forward(c, c, t.private[p*size+blk.lo*t.n:p*size+blk.hi*t.n], 1, 1)
	}
	t.finish(blk)
}
