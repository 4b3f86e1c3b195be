package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	simdgemm "github.com/edgewise-ml/edgewise/internal/simd/gemm"
)

// Packed is the second operand of products, laid out as the kernel reads it:
// worth making where one matrix is used in many small products, as a recurrent
// network's weights are. It is a copy: [Packed.Set] follows a change.
type Packed struct {
	data []Float // panels of rows×nr, one after the other
	rows int
	cols int
}

// Pack returns b, or with [TransB] its transpose, packed.
func Pack(b *Dense, f Flags) *Packed {
	p := new(Packed)
	p.Set(b, f)
	return p
}

// Set makes p the packed b, or with [TransB] its transpose. It allocates only
// where p has been smaller.
func (p *Packed) Set(b *Dense, f Flags) {
	p.rows, p.cols = sides("Pack", b, f&TransB != 0)
	p.data = room(&p.data, panels(p.cols)*p.rows*nr)
	packAll(p.data, viewOf(b, f&TransB != 0), p.rows, p.cols)
}

// Shape returns the rows and columns of the matrix.
func (p *Packed) Shape() []int { return []int{p.rows, p.cols} }

// panels returns how many panels n columns fill.
func panels(n int) int { return (n + nr - 1) / nr }

// A packTask packs steps of k; packChunk is about how many elements make a
// chunk.
type packTask struct {
	to       []Float
	b        view
	k, n, by int
}

const packChunk = 1 << 15

var packTasks = sync.Pool{New: func() any { return new(packTask) }}

// packAll lays k×n elements of b out in panels of nr columns. What the last
// panel lacks is zero.
func packAll(to []Float, b view, k, n int) {
	if k == 0 || n == 0 {
		return
	}
	t := packTasks.Get().(*packTask)
	*t = packTask{to: to, b: b, k: k, n: n}
	most, least := packChunk, 64
	if threads := par.Threads(); threads > 2 { // a few microseconds for each
		most, least = max(packChunk/4, min(packChunk, k*n/threads)), 32
	}
	t.by = tileLength(k, max(most/n, least), 8)
	par.Run((k+t.by-1)/t.by, t)
	*t = packTask{}
	packTasks.Put(t)
}

// Chunk packs some steps of k in all panels.
func (t *packTask) Chunk(i int) {
	lo := i * t.by
	t.pack(lo, min(lo+t.by, t.k))
}

// pack packs steps of k in all panels.
func (t *packTask) pack(lo, hi int) {
	if t.b.cs == 1 {
		simdgemm.PackPanels(t.to[lo*nr:], t.b.from(lo, 0).data, t.b.rs, t.k*nr, [2]int{hi - lo, t.n})
		return
	}
	t.columns(lo, hi)
}

// columnSteps is how many steps of a panel the first cache keeps until all its columns came.
const columnSteps = 128

// columns packs steps of k where columns of b are contiguous.
func (t *packTask) columns(lo, hi int) {
	for j := 0; j < t.n; j += nr {
		width := min(nr, t.n-j)
		for k := lo; k < hi; k += columnSteps {
			end := min(k+columnSteps, hi)
			part := t.to[j*t.k+k*nr : j*t.k+end*nr]
			if width < nr {
				clear(part)
			}
			simdgemm.PackTransposed(part, t.b.from(k, j).data, nr, t.b.cs, [2]int{width, end - k})
		}
	}
}

// A processor fetches long runs of memory ahead by itself, but a block of a is
// many short ones. So the kernel asks, while it computes a block, for what the
// block after it reads.

// fetchNext asks for what comes after p.K steps of a block, from step l of its own: of a
// far b the panels of the steps that follow or, after the last, of the columns that do.
func (g *gemm) fetchNext(p *simdgemm.Product, blk block, l int) {
	if p.Far = blk.far; !p.Far {
		g.fetchA(p, blk, l)
		return
	}
	if p.Next = p.K * nr; l+p.K == blk.kg {
		p.Next = panels(blk.right-blk.left)*blk.panel - l*nr
	}
}

// fetchA asks for the part of a that comes after p.K steps of a block, from step
// l of its own: the next rows, or of a transposed a the next steps.
func (g *gemm) fetchA(p *simdgemm.Product, blk block, l int) {
	next := view{}
	rows := blk.hi - blk.lo
	switch {
	case g.a.rs == g.k:
		next = g.a.from(blk.hi, l*rows) // rows*k elements lie together, and each step asks for its part of them
	case g.a.rs == 1 && rows == g.a.cs:
		next = g.a.from(0, blk.k0+l+p.K)
	}
	g.fetch(p, blk, next.data, rows*p.K)
}

// fetchB asks for what of b is packed next, to take the place of these steps.
func (g *gemm) fetchB(p *simdgemm.Product, blk block, l int) {
	if g.b.rs == g.n {
		g.fetch(p, blk, g.b.from(blk.k0+blk.kg+l, 0).data, p.K*g.n)
	}
}

// fetch has the kernel ask for n elements of x in the course of a block, or of
// half of it where a and b are to be fetched.
func (g *gemm) fetch(p *simdgemm.Product, blk block, x []Float, n int) {
	p.Ahead, p.AheadStep = 0, 0
	asks := p.M / simdgemm.ProductGroup * panels(blk.right-blk.left) * (p.K / 4)
	if g.part {
		asks /= 2
	}
	if n = min(n, len(x)); n <= 0 || asks == 0 {
		return
	}
	p.Fetch(x[:n], asks)
}
