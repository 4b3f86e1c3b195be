package fused

import (
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sheet is rows lo to hi of one head of K or X in the layout of products. It holds more
// than a tile needs, so that the next ones find theirs.
type sheet struct {
	data   []tensor.Float
	lo, hi int
}

// sheetRows is how many rows a sheet takes at once.
const sheetRows = 4096

// operand is the right side of products: panels that are so many elements apart or, with a
// pitch of 0, rows that are ld apart.
type operand struct {
	x         []tensor.Float
	ld, pitch int
}

// times is the product p of which o is the right side.
func (o operand) times(p gemm.Product) {
	p.B, p.LDB = o.x, o.ld
	if o.pitch == 0 {
		p.MulAdd()
		return
	}
	p.Panels(o.pitch)
}

// before is times, where the next product takes what is so many elements on. With far that is
// fetched, and of a product's own columns those that come next.
func (o operand) before(next int, far bool, p gemm.Product) {
	p.Far, p.Next = far, next
	o.times(p)
}

// short reports whether rows of a head fill no panel, and are read as they stand.
func (h headOf) short() bool { return h.d < gemm.ProductPanel }

// holds makes s the place of rows, from lo on, of which a tile's end at hi. It
// reports whether they are there already.
func (s *sheet) holds(j *job, lo, hi, size int) bool {
	if s.lo <= lo && hi <= s.hi && s.hi > s.lo {
		return true
	}
	s.lo, s.hi = lo, max(hi, min(lo+sheetRows, j.to))
	s.data = room(s.data, (s.hi-s.lo+3*gemm.ProductPanel)*size)
	return false
}

// turned returns the tile's rows of x turned to columns, in panels of 16 of which the first
// begins skip before the tile.
func (s *sheet) turned(x []tensor.Float, j *job, r *rect, h headOf) operand {
	const panel = gemm.ProductPanel
	first := r.u - r.skip
	if !s.holds(j, first, r.u+r.nu, h.d) {
		n := s.hi - s.lo
		rows := (n + 2*panel - 1) / panel * panel // and one of zeros
		clear(s.data[n/panel*panel*h.d : rows*h.d])
		for i := 0; i < n; i += panel {
			gemm.PackTransposed(s.data[i*h.d:], x[(s.lo+i)*h.all+h.at:], panel, h.all, [2]int{min(panel, n-i), h.d})
		}
	}
	return operand{s.data[(first-s.lo)*h.d:], panel, panel * h.d}
}

// across returns the tile's rows of x, in panels of columns.
func (s *sheet) across(x []tensor.Float, j *job, r *rect, h headOf) operand {
	if h.short() {
		return operand{x[r.u*h.all+h.at:], h.all, 0}
	}
	width := (h.d + gemm.ProductPanel - 1) / gemm.ProductPanel * gemm.ProductPanel
	held := s.holds(j, r.u, r.u+r.nu, width)
	pitch := (s.hi - s.lo) * gemm.ProductPanel
	if !held {
		gemm.PackPanels(s.data, x[s.lo*h.all+h.at:], h.all, pitch, [2]int{s.hi - s.lo, h.d})
	}
	return operand{s.data[(r.u-s.lo)*gemm.ProductPanel:], gemm.ProductPanel, pitch}
}

// near is rows of a tile's destinations, of one head: d elements each, one after the
// other, and the same in panels.
type near struct {
	rows, panels []tensor.Float
	d, n         int
	packed       bool
}

// take copies n rows of x from v on.
func (a *near) take(x []tensor.Float, v, n int, h headOf) {
	a.d, a.n, a.packed = h.d, n, false
	a.rows = room(a.rows, n*h.d)
	for i := range n {
		copy(a.rows[i*h.d:(i+1)*h.d], x[(v+i)*h.all+h.at:])
	}
}

// across returns the rows as the right side of a product.
func (a *near) across() operand {
	h := headOf{d: a.d, all: a.d}
	if h.short() {
		return operand{a.rows, a.d, 0}
	}
	pitch := a.n * gemm.ProductPanel
	if !a.packed {
		a.panels = room(a.panels, (a.d+gemm.ProductPanel-1)/gemm.ProductPanel*pitch)
		gemm.PackPanels(a.panels, a.rows, a.d, pitch, [2]int{a.n, a.d})
		a.packed = true
	}
	return operand{a.panels, gemm.ProductPanel, pitch}
}
