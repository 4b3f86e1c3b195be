package tensor

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
	p.rows, p.cols = b.Rows(), b.RowLen()
	if f&TransB != 0 {
		p.rows, p.cols = p.cols, p.rows
	}
	p.data = room(&p.data, panels(p.cols)*p.rows*nr)
	pack(p.data, viewOf(b, f&TransB != 0), p.rows, p.cols)
}

// Shape returns the rows and columns of the matrix.
func (p *Packed) Shape() []int { return []int{p.rows, p.cols} }

// MatMulPacked is [MatMul] with a packed b, to the same bits, except that it
// never cuts k into parts.
func MatMulPacked(dst, a *Dense, b *Packed, f Flags) {
	m, k := a.Rows(), a.RowLen()
	if f&TransA != 0 {
		m, k = k, m
	}
	if k != b.rows || dst.Rows() != m || dst.RowLen() != b.cols {
		panic(Mismatch("tensor.MatMulPacked", a, b, dst))
	}
	g := gemm{m: m, n: b.cols, k: k, a: viewOf(a, f&TransA != 0), packed: b.data, c: dst.Data}
	g.run()
}

// panels returns how many panels n columns fill.
func panels(n int) int { return (n + nr - 1) / nr }

// pack lays k×n elements of b out in panels of nr columns. What the last panel
// lacks is zero.
func pack(to []Float, b view, k, n int) {
	for j := 0; j < n; j += nr {
		panel, width := to[j*k:j*k+k*nr], min(nr, n-j)
		if width < nr {
			clear(panel)
		}
		if b.cs == 1 {
			packRows(panel, b.from(0, j), width)
		} else {
			packColumns(panel, b.from(0, j), width)
		}
	}
}

// packRows fills a panel from rows that are contiguous.
func packRows(panel []Float, b view, width int) {
	for at := 0; at < len(panel); at += nr {
		row := b.data[at/nr*b.rs:]
		if width == nr {
			*(*[nr]Float)(panel[at:]) = *(*[nr]Float)(row)
			continue
		}
		copy(panel[at:at+width], row)
	}
}

// packColumns fills a panel from columns that are contiguous.
func packColumns(panel []Float, b view, width int) {
	k := len(panel) / nr
	for j := range width {
		column := b.data[j*b.cs : j*b.cs+k]
		for l, v := range column {
			panel[l*nr+j] = v
		}
	}
}
