package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// passTask is a loop over the edges of a matrix by tiles of columns, blocks of the rows of x,
// or both. An element of the result is the chain of additions that it is otherwise: a tile
// has other columns, and a block the next nonzeros of each row.
type passTask struct {
	*blocks // nil: one, in the order of the matrix
	a       *CSR
	bounds  []int // of the panels
	kernel  panelKernel
	f       int
	x, room []tensor.Float // of room the tile's columns; nil: x is in none
	left    int            // the tile's first column
	width   int            // its columns
	packing bool
}

// panelKernel is what runs over the edges. Of each panel it gets the blocks of the first tile,
// then of the next.
type panelKernel interface {
	// begin and end are called before and after all tiles and blocks of a panel's rows.
	begin(t *passTask, panel int)
	end(t *passTask, panel int)
	block(t *passTask, panel, block int, g spmm.Gather)
}

var passTasks = sync.Pool{New: func() any { return new(passTask) }}

// packRows is how many rows of a tile are laid out at once.
const packRows = 1 << 10

// pass runs a kernel over a's edges in another way than the plain one.
func (a *CSR) pass(way Way, x []tensor.Float, f int, k panelKernel) {
	t := passTasks.Get().(*passTask)
	*t = passTask{a: a, bounds: t.bounds, kernel: k, f: f, x: x, width: f}
	if way.Block > 0 {
		t.blocks = a.inBlocks(way.Block, a.shape(f).Panels())
		t.bounds = append(t.bounds[:0], t.blocks.bounds...)
	} else {
		t.bounds = par.Split(a.Offsets, partsOf(a.NNZ()*leastWidth), t.bounds)
	}
	panels := len(t.bounds) - 1
	if way.Tile == 0 || way.Tile >= f {
		par.Run(panels, t)
	} else {
		room := scratch.Borrow(a.NumCols * way.Tile)
		for t.room = *room; t.left < f; t.left += way.Tile {
			t.width, t.packing = min(way.Tile, f-t.left), true
			par.Run((a.NumCols-1)/packRows+1, t)
			t.packing = false
			par.Run(panels, t)
		}
		scratch.Repay(room)
	}
	*t = passTask{bounds: t.bounds}
	passTasks.Put(t)
}

// Chunk lays out some rows of a tile, or runs over a panel.
func (t *passTask) Chunk(i int) {
	if t.packing {
		for r := i * packRows; r < min((i+1)*packRows, t.a.NumCols); r++ {
			copy(t.room[r*t.width:(r+1)*t.width], t.x[r*t.f+t.left:])
		}
		return
	}
	lo, hi := t.bounds[i], t.bounds[i+1]
	if lo == hi {
		return
	}
	if t.left == 0 {
		t.kernel.begin(t, i)
	}
	g := spmm.Gather{X: t.x, F: t.width, Far: 4*t.a.NumCols*t.width > farFrom}
	if t.room != nil {
		g.X = t.room
	}
	if t.blocks == nil {
		g.Offsets, g.Cols = t.a.Offsets[lo:hi+1], t.a.Cols
		t.kernel.block(t, i, 0, g)
	} else {
		for b := range t.count {
			g.Offsets, g.Cols = t.part(i, b), t.cols
			t.kernel.block(t, i, b, g)
		}
	}
	if t.left+t.width == t.f {
		t.kernel.end(t, i)
	}
}

// tiledSum is a sum by such a pass.
type tiledSum struct {
	sumKernel
	w *[]tensor.Float // the weights in the order of the blocks; nil: they are where they were
}

var tiledSums = sync.Pool{New: func() any { return new(tiledSum) }}

// pass runs the sum over t's edges in a way that is not the plain one.
func (k *sumKernel) pass(t *CSR, way Way) {
	s := tiledSums.Get().(*tiledSum)
	s.sumKernel = *k
	if s.values != nil || s.of != nil {
		s.sum.W, s.sum.Heads = s.values, 1
	}
	s.sum.YStep, s.sum.WStep = s.sum.F, s.sum.Heads
	if s.sum.Heads > 0 && (way.Block > 0 || s.perm != nil || s.of != nil) {
		s.w = scratch.Borrow(t.NNZ() * s.sum.Heads)
	}
	t.pass(way, s.sum.X, s.sum.F, s)
	if s.w != nil {
		scratch.Repay(s.w)
	}
	*s = tiledSum{}
	tiledSums.Put(s)
}

// begin puts the weights of a panel in order, and its rows where their sums begin.
func (s *tiledSum) begin(t *passTask, panel int) {
	if s.w != nil {
		s.order(t, panel)
	}
	if s.own != nil && !s.after {
		s.ownBefore(t.bounds[panel], t.bounds[panel+1])
	}
}

// order puts the weights of a panel's nonzeros in order.
func (s *tiledSum) order(t *passTask, panel int) {
	w, heads := *s.w, int64(s.sum.Heads)
	perm := s.perm
	if perm == nil {
		perm = s.sum.Edges
	}
	place := func(to, from, n int64) {
		switch {
		case perm == nil && s.of == nil:
			copy(w[to*heads:(to+n)*heads], s.sum.W[from*heads:])
		case heads == 1:
			for j := range n {
				v := tensor.Float(1)
				if s.sum.W != nil {
					v = s.sum.W[perm[from+j]]
				}
				if c := t.a.Cols[from+j]; s.of != nil {
					v /= tensor.Float(s.of[c+1] - s.of[c])
				}
				w[to+j] = v
			}
		default:
			for j := range n {
				copy(w[(to+j)*heads:(to+j+1)*heads], s.sum.W[int64(perm[from+j])*heads:])
			}
		}
	}
	if t.blocks != nil {
		t.each(t.a, panel, place)
		return
	}
	from := t.a.Offsets[t.bounds[panel]]
	place(from, from, t.a.Offsets[t.bounds[panel+1]]-from)
}

// block adds up what a panel has in a block and a tile.
func (s *tiledSum) block(t *passTask, panel, block int, g spmm.Gather) {
	lo, n := t.bounds[panel], len(g.Offsets)-1
	sum := s.sum
	sum.Gather, sum.Y = g, s.sum.Y[lo*t.f+t.left:]
	sum.Set = s.set && block == 0 && (s.own == nil || s.after)
	sum.Stream = s.sum.Stream && sum.Set && t.blocks == nil
	if s.w != nil {
		sum.W, sum.Edges = *s.w, nil
	}
	if sum.Heads > 1 { // those of the tile
		d := t.f / sum.Heads
		sum.W, sum.Heads = sum.W[t.left/d:], max(t.width/d, 1)
	}
	sum.AddRows(0, n)
}

// end divides the rows of a panel, or adds what is added after them.
func (s *tiledSum) end(t *passTask, panel int) {
	lo, hi, f := t.bounds[panel], t.bounds[panel+1], t.f
	if s.mean {
		y := s.sum.Y[lo*f : hi*f]
		spmm.Rows(f).DivideRanges(y, y, t.a.Offsets[lo:hi+1])
	}
	if s.own != nil && s.after {
		s.ownAfter(lo, hi)
	}
}
