package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Heads are products of rows that are cut into heads, of Width elements each:
// H of them, one after the other. The kernels on the edges of a CSR matrix have
// numbers in slots as a [Tile] has, of WStride numbers, or without gaps if
// Filler is zero.
type Heads struct {
	Offsets []int64 // of the rows and the end
	Cols    []int32 // of all edges of the matrix

	X, Y []Float // rows of H·Width elements
	W    []Float // H numbers an edge, or a row
	S    []Float // Sum, Both: H factors a row

	XStride, YStride, WStride, SStride int

	Width  int
	rows   int
	Filler int // slots come in groups of Filler+1, a power of two, in each row
	Ahead  int // how many edges ahead to ask memory for rows of X; 0: not
	Last   int // the last edge of the matrix
	//lint:ignore U1000 the assembly keeps the edges of a row here
	scrap int
	left  int // elements in a head's last register

	V []Float // Both, Dots: rows of H·Width elements, YStride apart
	G []Float // Both, Dots: H numbers an edge, as W

	Set   int // 1: Sum and Both set Y, which they else add to
	Early int // 1: the first three lines of each row of X have been asked for; 2: four

	H int
}

// lattice is a block of heads and of the registers of each, for one kernel.
type lattice struct {
	h, j   int // the first
	nh, nv int // how many; nv is 0 at the end
	cut    bool
}

// next returns the block after b, of kernels for wide blocks or for few.
func (k *Heads) next(b lattice, wide bool) lattice {
	regs := (k.Width + 7) / 8
	b.h += b.nh
	if b.nv == 0 || b.h == k.H {
		b.h, b.j = 0, b.j+b.nv
		b.nv = floor(regs-b.j, 8)
	}
	most := 1
	switch {
	case b.nv == 1:
		most = 8
	case b.nv == 2 && wide:
		most = 4
	}
	b.nh = floor(k.H-b.h, most)
	if b.nh < most && (!wide || b.nv == 2) {
		b.nh = min(b.nh, 1)
	}
	b.cut = k.Width%8 != 0 && b.j+b.nv == regs
	return b
}

// floor returns the largest power of two up to n and most; of n < 1 zero.
func floor(n, most int) int {
	for most > max(n, 0) {
		most /= 2
	}
	return most
}

// block returns k for the kernel of a block: it starts at its first element.
func (k *Heads) block(b lattice) Heads {
	c := *k
	at := b.h*k.Width + 8*b.j
	c.X = k.X[at:]
	for _, p := range []*[]Float{&c.Y, &c.V} {
		if *p != nil {
			*p = (*p)[at:]
		}
	}
	for _, p := range []*[]Float{&c.W, &c.G, &c.S} {
		if *p != nil {
			*p = (*p)[b.h:]
		}
	}
	if at > 0 {
		c.Early = 0
	}
	c.left = k.Width - 8*(b.j+b.nv-1)
	return c
}

// check panics if a slice is too short for rows and edges.
func (k *Heads) check(rows, edges int) {
	f := k.H * k.Width
	for _, x := range [][]Float{k.Y, k.V} {
		if x != nil {
			inside(x, rows, k.YStride, f)
		}
	}
	for _, x := range [][]Float{k.W, k.G} {
		if x != nil {
			inside(x, edges, k.WStride, k.H)
		}
	}
	if k.S != nil {
		inside(k.S, rows, k.SStride, k.H)
	}
}

// slots returns the number of slots before each row's.
func (k *Heads) slots(f func(r, lo, hi, slot int)) {
	slot := 0
	for r := range len(k.Offsets) - 1 {
		lo, hi := int(k.Offsets[r]), int(k.Offsets[r+1])
		f(r, lo, hi, slot)
		slot += (hi - lo + k.Filler) &^ k.Filler
	}
}

// checkEdges is check of a kernel on edges, and reports whether there is
// anything to do.
func (k *Heads) checkEdges() bool {
	rows, n := len(k.Offsets)-1, 0
	if rows < 1 || k.Width*k.H == 0 {
		return false
	}
	for r := range rows {
		n += (int(k.Offsets[r+1]-k.Offsets[r]) + k.Filler) &^ k.Filler
	}
	_ = k.Cols[:k.Offsets[rows]]
	k.rows = rows
	if n == 0 { // only Y is touched
		c := *k
		c.W, c.G = nil, nil
		c.check(rows, 0)
		return true
	}
	k.check(rows, n-k.Filler)
	return true
}

// Sum adds to each row of Y what its edges carry, or sets it to that:
//
//	Y[r,h,:] += S[r,h]·Σ_e W[e,h]·X[Cols[e],h,:]
func (k *Heads) Sum() {
	if !k.checkEdges() {
		return
	}
	if cpu.Fast && k.sumFast() {
		return
	}
	d := k.Width
	k.slots(func(r, lo, hi, slot int) {
		for h := range k.H {
			y, s := k.Y[r*k.YStride+h*d:][:d], k.S[r*k.SStride+h]
			for j := range y {
				var sum Float
				for e := lo; e < hi; e++ {
					sum += k.W[(slot+e-lo)*k.WStride+h] * k.X[int(k.Cols[e])*k.XStride+h*d+j]
				}
				if k.Set != 0 {
					y[j] = 0
				}
				y[j] += s * sum
			}
		}
	})
}

// Dots adds to each edge's numbers the inner products of its ends:
//
//	G[e,h] += ⟨X[Cols[e],h,:], V[r,h,:]⟩
func (k *Heads) Dots() {
	if !k.checkEdges() {
		return
	}
	if cpu.Fast && k.dotsFast() {
		return
	}
	d := k.Width
	k.slots(func(r, lo, hi, slot int) {
		for e := lo; e < hi; e++ {
			for h := range k.H {
				x, v := k.X[int(k.Cols[e])*k.XStride+h*d:][:d], k.V[r*k.YStride+h*d:][:d]
				k.G[(slot+e-lo)*k.WStride+h] += vec.Dot(x, v)
			}
		}
	})
}

// Both is Sum and Dots, and reads X once.
func (k *Heads) Both() {
	if cpu.Fast && k.checkEdges() && k.bothFast() {
		return
	}
	k.Sum()
	k.Dots()
}

// checkRows is check of a kernel on rows, and reports whether there are any.
func (k *Heads) checkRows(rows int) bool {
	if rows <= 0 || k.Width*k.H == 0 {
		return false
	}
	k.rows = rows
	k.check(rows, rows)
	inside(k.X, rows, k.XStride, k.H*k.Width)
	return true
}

// Pairs adds to each row's numbers the inner products of its heads. With a
// YStride of zero all are multiplied with the same row:
//
//	W[r,h] += ⟨X[r,h,:], Y[r,h,:]⟩
func (k *Heads) Pairs(rows int) {
	if !k.checkRows(rows) {
		return
	}
	if cpu.Fast && k.pairsFast() {
		return
	}
	d := k.Width
	for r := range rows {
		for h := range k.H {
			k.W[r*k.WStride+h] += vec.Dot(k.X[r*k.XStride+h*d:][:d], k.Y[r*k.YStride+h*d:][:d])
		}
	}
}

// Fold adds all rows, each head times its number, to the one row of Y. YStride
// is zero:
//
//	Y[h,:] += Σ_r W[r,h]·X[r,h,:]
func (k *Heads) Fold(rows int) {
	if !k.checkRows(rows) {
		return
	}
	if cpu.Fast && k.foldFast() {
		return
	}
	d := k.Width
	for r := range rows {
		for h := range k.H {
			vec.Axpy(k.Y[h*d:][:d], k.W[r*k.WStride+h], k.X[r*k.XStride+h*d:][:d])
		}
	}
}

// Spread adds the one row of X to all rows, each head times its number. XStride
// is zero:
//
//	Y[r,h,:] += W[r,h]·X[h,:]
func (k *Heads) Spread(rows int) {
	if !k.checkRows(rows) {
		return
	}
	if cpu.Fast && k.spreadFast() {
		return
	}
	d := k.Width
	for r := range rows {
		for h := range k.H {
			vec.Axpy(k.Y[r*k.YStride+h*d:][:d], k.W[r*k.WStride+h], k.X[h*d:][:d])
		}
	}
}
