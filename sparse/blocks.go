package sparse

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/pages"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/tiling"
)

// blocks are the nonzeros of a matrix in another order: by panels of rows, then blocks of
// columns, then rows. The rows of x that a block points at stay in a cache while a panel
// uses them. The nonzeros of a panel are at the places that they have in the matrix, and
// those of a row in their order, which is that of their columns.
type blocks struct {
	size    int     // columns of a block
	count   int     // blocks
	bounds  []int   // of the panels
	offsets []int64 // of each panel, block and row, and the end
	cols    []int32
}

// part returns the offsets of a panel's rows in a block.
func (b *blocks) part(panel, block int) []int64 {
	lo, n := b.bounds[panel], b.bounds[panel+1]-b.bounds[panel]
	at := lo*b.count + block*n
	return b.offsets[at : at+n+1]
}

// kept is what a matrix keeps of how products run over it.
type kept struct {
	sync.Mutex
	blocks []*blocks    // the latest last
	wanted atomic.Int32 // products that would have run by blocks

	sorted  sync.Once
	ascends bool // set by sorted
	walked  sync.Once
	curve   tiling.Curve // set by walked
}

// structure is what the choice of a way asks of a matrix.
type structure CSR

// Ordered reports whether the columns of each row ascend. It is looked up once.
func (s *structure) Ordered() bool {
	r := (*CSR)(s).root()
	r.kept.sorted.Do(func() {
		r.kept.ascends = r.NumRows == first(r.NumRows, func(lo, hi int) int {
			for i := lo; i < hi; i++ {
				if !slices.IsSorted(r.Cols[r.Offsets[i]:r.Offsets[i+1]]) {
					return i
				}
			}
			return hi
		})
	})
	return r.kept.ascends
}

// Curve says how often the matrix comes back to a column. It is made once.
func (s *structure) Curve() tiling.Curve {
	r := (*CSR)(s).root()
	r.kept.walked.Do(func() { r.kept.curve = tiling.Walk(r.Cols, r.NumCols) })
	return r.kept.curve
}

// keptMost is how many orders in blocks a matrix keeps: products of several widths have
// blocks of several sizes.
const keptMost = 2

// inBlocks returns the nonzeros in blocks of so many columns or somewhat fewer, and so many
// panels, which are made once.
func (a *CSR) inBlocks(size, panels int) *blocks {
	r := a.root()
	r.kept.Lock()
	defer r.kept.Unlock()
	for _, b := range r.kept.blocks {
		if b.size <= size && 2*b.size > size && len(b.bounds) == panels+1 {
			return b
		}
	}
	b := &blocks{size: size, count: (r.NumCols-1)/size + 1, cols: pages.Make[int32](r.NNZ(), r.NNZ())}
	b.bounds = par.Split(r.Offsets, panels, nil)
	b.offsets = pages.Make[int64](r.NumRows*b.count+1, r.NumRows*b.count+1)
	b.offsets[r.NumRows*b.count] = int64(r.NNZ())
	par.For(panels, 1, func(from, to int) {
		for p := from; p < to; p++ {
			b.order(r, p)
		}
	})
	if r.kept.blocks = append(r.kept.blocks, b); len(r.kept.blocks) > keptMost {
		r.kept.blocks = r.kept.blocks[1:]
	}
	return b
}

// order puts the nonzeros of a panel in order.
func (b *blocks) order(a *CSR, panel int) {
	lo, hi := b.bounds[panel], b.bounds[panel+1]
	n := hi - lo
	at := b.offsets[lo*b.count : hi*b.count]
	for i := range n {
		k, end := a.Offsets[lo+i], a.Offsets[lo+i+1]
		for block := range b.count {
			from, beyond := k, (block+1)*b.size
			for k < end && int(a.Cols[k]) < beyond {
				k++
			}
			at[block*n+i] = k - from
		}
	}
	sum := a.Offsets[lo]
	for j, m := range at {
		at[j] = sum
		sum += m
	}
	b.each(a, panel, func(to, from, m int64) { copy(b.cols[to:to+m], a.Cols[from:]) })
}

// each calls f for the nonzeros of each row and block of a panel: where they are in blocks,
// where in the matrix, and how many.
func (b *blocks) each(a *CSR, panel int, f func(to, from, n int64)) {
	lo, n := b.bounds[panel], b.bounds[panel+1]-b.bounds[panel]
	if n == 0 {
		return
	}
	at := b.offsets[lo*b.count : (lo+n)*b.count]
	ends := a.Offsets[lo+n]
	for i := range n {
		from := a.Offsets[lo+i]
		for j := i; j < len(at); j += n {
			end := ends
			if j+1 < len(at) {
				end = at[j+1]
			}
			if m := end - at[j]; m > 0 {
				f(at[j], from, m)
				from += m
			}
		}
	}
}
