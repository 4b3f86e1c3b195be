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
	t.by = tileLength(k, max(packChunk/n, 64), 8)
	par.Run((k+t.by-1)/t.by, t)
	*t = packTask{}
	packTasks.Put(t)
}

// Chunk packs some steps of k in all panels.
func (t *packTask) Chunk(i int) {
	lo := i * t.by
	hi := min(lo+t.by, t.k)
	if t.b.cs == 1 {
		simdgemm.PackPanels(t.to[lo*nr:], t.b.from(lo, 0).data, t.b.rs, t.k*nr, [2]int{hi - lo, t.n})
		return
	}
	t.columns(lo, hi)
}

// columns packs steps of k where columns of b are contiguous.
func (t *packTask) columns(lo, hi int) {
	for j := 0; j < t.n; j += nr {
		panel, width := t.to[j*t.k+lo*nr:j*t.k+hi*nr], min(nr, t.n-j)
		if width < nr {
			clear(panel)
		}
		simdgemm.PackTransposed(panel, t.b.from(lo, j).data, nr, t.b.cs, [2]int{width, hi - lo})
	}
}
