package tensor

import (
	simdgemm "github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Flags chooses a variant of [MatMul].
type Flags uint8

// The transpositions of MatMul.
const (
	TransA Flags = 1 << iota // use the transpose of a
	TransB                   // use the transpose of b
)

// MatMul adds the product of two matrices to dst:
//
//	dst[i,j] += Σ_k a[i,k]·b[k,j]
//
// An element depends on its row, its column and the length of k alone: it is
// one chain of fused multiply-adds in the order of k that starts at dst[i,j],
// whatever the other sizes are. So a row of a product equals the product of the
// row. With TransA alone, which gradients of weights use, a long k is cut into
// parts by its length, from 4096 on and for a dst of at most 512 columns from 2048
// on; each is a chain, and they are added in order.
//
// Every operand is read as a matrix of its rows. It panics with a [*ShapeError]
// where the shapes do not fit, and where dst overlaps a or b.
func MatMul(dst, a, b *Dense, f Flags) {
	if few(dst, a, b, f, false) {
		return
	}
	g := newGemm("MatMul", dst, a, b, f)
	g.long(f)
}

// MatMulThen sets dst to the product of two matrices, whatever it held, and to
// what then says:
//
//	dst[i,j] = then.Act(Σ_k a[i,k]·b[k,j] + then.Bias[j])
//
// It gives the bits of [MatMul] on zeros, then [Add], then the activation, but
// passes dst through memory once. then.Bias has an element for each column of
// dst and does not overlap it.
func MatMulThen(dst, a, b *Dense, f Flags, then Epilogue) {
	if then.fits(dst) && few(dst, a, b, f, true) {
		then.finish(dst.Data, dst.dims[1], block{hi: dst.dims[0], right: dst.dims[1]})
		return
	}
	g := newGemm("MatMulThen", dst, a, b, f)
	g.end("MatMulThen", dst, then)
	g.long(f)
}

// MatMulSum is MatMul(dst, a, b, TransA), or sets dst to that, and adds the sum of
// b's rows to sums, which has an element for each column: the gradients of a dense
// layer's weights and bias. A long b is summed in the parts of the product, which
// are added in order, some rows at a time while they are in cache. It panics as
// MatMul does, and where sums does not fit b or overlaps an operand.
func MatMulSum(dst, a, b *Dense, set bool, sums *Dense) {
	g := newGemm("MatMulSum", dst, a, b, TransA)
	if len(sums.Data) != g.n {
		panic(Mismatch("tensor.MatMulSum", sums, b))
	}
	apart("MatMulSum", sums, dst)
	apart("MatMulSum", sums, a)
	apart("MatMulSum", sums, b)
	if g.set = set; g.n == 0 {
		return
	}
	parts := g.splits()
	if parts < 2 || g.slim() || g.m == 0 {
		vec.AddRows(sums.Data, b.Data)
	} else {
		g.sums = sums.Data
	}
	g.long(TransA)
}

// few adds a product to dst, or sets dst to it, that is less work than to plan it.
// It returns false of any other, and of one that is wrong.
func few(dst, a, b *Dense, f Flags, set bool) bool {
	if a.axes != 2 || b.axes != 2 || dst.axes != 2 {
		return false
	}
	m, k, n, kb, ldb := a.dims[0], a.dims[1], b.dims[1], b.dims[0], b.dims[1]
	rs, cs := k, 1
	if f&TransA != 0 {
		m, k, rs, cs = k, m, 1, k
	}
	if f&TransB != 0 {
		n, kb = kb, n
		if kb != 1 && m != 1 {
			return false
		}
	}
	if len(dst.Data)*k > tinyWork || dst.dims[0] != m || dst.dims[1] != n || kb != k || overlap(dst.Data, a.Data) || overlap(dst.Data, b.Data) {
		return false
	}
	p := simdgemm.Product{A: a.Data, RS: rs, CS: cs, B: b.Data, LDB: ldb, C: dst.Data, LDC: n, M: m, N: n, K: k, Set: set}
	if f&TransB != 0 && m == 1 { // as in line
		p.A, p.RS, p.CS, p.B, p.LDB, p.LDC, p.M, p.N = b.Data, k, 1, a.Data, 1, 1, n, 1
	}
	p.MulAdd()
	return true
}

// MatMulPacked is [MatMul] with a packed b, to the same bits, except that it
// never cuts k into parts.
func MatMulPacked(dst, a *Dense, b *Packed, f Flags) {
	g := newPackedGemm("MatMulPacked", dst, a, b, f)
	g.run()
}

// MatMulPackedThen is [MatMulThen] with a packed b, to the same bits, except
// that it never cuts k into parts.
func MatMulPackedThen(dst, a *Dense, b *Packed, f Flags, then Epilogue) {
	g := newPackedGemm("MatMulPackedThen", dst, a, b, f)
	g.end("MatMulPackedThen", dst, then)
	g.run()
}

// long runs a product, in parts of k if it is a gradient of weights.
func (g *gemm) long(f Flags) {
	parts := 1
	if f == TransA {
		parts = g.splits()
	}
	switch {
	case (g.m == 1 || g.n == 1) && g.sums == nil:
		g.line(parts)
	case f == TransA && g.slim():
		g.sideways(parts)
	case parts > 1:
		g.split(parts)
	default:
		g.run()
	}
}

// newGemm returns a product that op adds to dst.
func newGemm(op string, dst, a, b *Dense, f Flags) gemm {
	m, k := sides(op, a, f&TransA != 0)
	kb, n := sides(op, b, f&TransB != 0)
	if dm, dn := sides(op, dst, false); k != kb || dm != m || dn != n {
		panic(Mismatch("tensor."+op, a, b, dst))
	}
	apart(op, dst, a)
	apart(op, dst, b)
	return gemm{m: m, n: n, k: k, a: viewOf(a, f&TransA != 0), b: viewOf(b, f&TransB != 0), c: dst.Data}
}

func newPackedGemm(op string, dst, a *Dense, b *Packed, f Flags) gemm {
	m, k := sides(op, a, f&TransA != 0)
	if dm, dn := sides(op, dst, false); k != b.rows || dm != m || dn != b.cols {
		panic(Mismatch("tensor."+op, a, b, dst))
	}
	apart(op, dst, a)
	return gemm{m: m, n: b.cols, k: k, a: viewOf(a, f&TransA != 0), packed: b.data, c: dst.Data}
}

// end makes g set dst and do what then says.
func (g *gemm) end(op string, dst *Dense, then Epilogue) {
	g.set, g.then = true, then
	if b := then.Bias; b != nil {
		if len(b.Data) != g.n {
			e := Mismatch("tensor."+op, b, dst)
			e.Why = "the bias has an element for each column"
			panic(e)
		}
		apart(op, dst, b)
	}
}

// sides returns the rows and columns of d, or of its transpose. An array
// without elements may have rows that are longer than an int can count.
func sides(op string, d *Dense, transposed bool) (m, n int) {
	m, n = d.dims[0], d.dims[1]
	if d.axes != 2 {
		n = d.RowLen()
	}
	if len(d.Data) == 0 && d.axes > 2 {
		if err := Try(func() { Size(d.dims[1:d.axes]...) }); err != nil {
			e := Mismatch("tensor."+op, d)
			e.Why = "the size of a row overflows"
			panic(e)
		}
	}
	if transposed {
		m, n = n, m
	}
	return m, n
}

// Epilogue is what is done to the rows of a product while they are in cache:
// Bias is added, then Act applied. The zero value does nothing.
type Epilogue struct {
	Bias *Dense     // a number for each column; nil adds nothing
	Act  Activation // applied to each element
}

// Activation is a function of an element that ends a layer. The zero value is
// none; [Activate] makes one.
type Activation struct {
	f  vec.Unary
	c  Float
	on bool
}

// Activate returns f with its constant c, which some functions have, as an
// activation.
func Activate(f Unary, c Float) Activation { return Activation{vec.Unary(f), c, true} }

// fits reports whether e can follow a product that is dst.
func (e *Epilogue) fits(dst *Dense) bool {
	return e.Bias == nil || len(e.Bias.Data) == dst.dims[1] && !overlap(dst.Data, e.Bias.Data)
}

// ends reports whether anything comes after the product.
func (e *Epilogue) ends() bool { return e.Bias != nil || e.Act.on }

// finish does what comes after a product to the rows and columns of a block of
// it, whose rows have n elements.
func (e *Epilogue) finish(product []Float, n int, blk block) {
	if !e.ends() {
		return
	}
	if blk.right-blk.left == n {
		e.rows(product[blk.lo*n:blk.hi*n], 0, n)
		return
	}
	for i := blk.lo; i < blk.hi; i++ {
		e.rows(product[i*n+blk.left:i*n+blk.right], blk.left, blk.right)
	}
}

// rows is finish of whole rows of the columns from left to right.
func (e *Epilogue) rows(c []Float, left, right int) {
	if e.Bias != nil {
		vec.Add.ForwardRows(c, c, e.Bias.Data[left:right])
	}
	if e.Act.on {
		e.Act.f.Forward(c, c, e.Act.c)
	}
}

// finish does what comes after the product to a block of it.
func (g *gemm) finish(blk block) { g.then.finish(g.c, g.n, blk) }
