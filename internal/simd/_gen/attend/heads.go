package attend

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Heads writes the kernels of Heads, each for a block of heads that are
// some registers wide.
func Heads() {
	for _, cut := range []bool{false, true} {
		for _, b := range [][2]int{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {4, 2}, {1, 4}, {1, 8}} {
			newBlock("sumRows", "Heads.Sum", b, cut).sum()
			newBlock("dotRows", "Heads.Dots", b, cut).dots()
			newBlock("bothRows", "Heads.Both", b, cut).both()
		}
		for _, b := range [][2]int{{1, 1}, {8, 1}, {1, 2}, {1, 4}, {1, 8}} {
			newBlock("pairRows", "Heads.Pairs", b, cut).pairs()
			newBlock("foldRows", "Heads.Fold", b, cut).foldRows()
			newBlock("spreadRows", "Heads.Spread", b, cut).spread()
		}
	}
}

// block is a kernel on nh heads of nv registers each, the last of which may be
// cut where the head ends.
type block struct {
	nh, nv int
	cut    bool

	Args
	size  reg.GPVirtual // of a head, in bytes
	three reg.GPVirtual // heads, in bytes
	mask  Vec
}

func newBlock(name, doc string, shape [2]int, cut bool) *block {
	b := &block{nh: shape[0], nv: shape[1], cut: cut}
	name = fmt.Sprintf("%s%dx%d", name, b.nh, b.nv)
	last := "."
	if cut {
		name, last = name+"cut", ", the last cut."
	}
	b.Args = StartOn("Heads", name, "", fmt.Sprintf("%s is %s of %d heads of %d registers%s", name, doc, b.nh, b.nv, last))
	b.size = b.Word("Width")
	if cut {
		b.mask = MaskOf(b.Word("left"))
	}
	SHLQ(Imm(2), b.size)
	if b.nh > 2 {
		b.three = GP64()
		LEAQ(Mem{Base: b.size, Index: b.size, Scale: 2}, b.three)
	}
	return b
}

// heads returns where each head of the row at base is.
func (b *block) heads(base reg.GPVirtual) []Mem {
	var ms []Mem
	for h := 0; h < b.nh; h += 4 {
		if h > 0 {
			next := GP64()
			LEAQ(Mem{Base: base, Index: b.size, Scale: 4}, next)
			base = next
		}
		ms = append(ms, Mem{Base: base}, Mem{Base: base, Index: b.size, Scale: 1},
			Mem{Base: base, Index: b.size, Scale: 2}, Mem{Base: base, Index: b.three, Scale: 1})
	}
	return ms[:b.nh]
}

// load loads register j of a head.
func (b *block) load(m Mem, j int) Vec {
	v := YMM()
	if b.cut && j == b.nv-1 {
		VMASKMOVPS(m.Offset(32*j), b.mask, v)
	} else {
		VMOVUPS(m.Offset(32*j), v)
	}
	return v
}

// from returns register j of a head as an operand, in memory where it can be.
func (b *block) from(m Mem, j int) Op {
	if b.cut && j == b.nv-1 {
		return b.load(m, j)
	}
	return m.Offset(32 * j)
}

// store stores register j of a head; v is lost.
func (b *block) store(v Vec, m Mem, j int) {
	if !b.cut || j < b.nv-1 {
		VMOVUPS(v, m.Offset(32*j))
		return
	}
	StoreFirst(v, b.Word("left"), m.Offset(32*j))
}

// advance adds a stride to a pointer.
func (b *block) advance(p reg.GPVirtual, stride string) {
	s := b.Word(stride)
	LEAQ(Mem{Base: p, Index: s, Scale: 4}, p)
}

// rows writes a loop over rows that have edges.
func (b *block) rows(body func(k, end reg.GPVirtual)) {
	row, done := Fresh("row"), Fresh("done")
	CMPQ(b.Field("rows"), Imm(0))
	JE(LabelRef(done))
	Label(row)
	k, end, offs := GP64(), GP64(), b.Word("Offsets")
	MOVQ(Mem{Base: offs}, k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	ADDQ(Imm(8), b.Field("Offsets"))
	body(k, end)
	DECQ(b.Field("rows"))
	JNZ(LabelRef(row))
	Label(done)
}

// plain writes a loop over rows that are their own edges.
func (b *block) plain(body func()) {
	row, done := Fresh("row"), Fresh("done")
	n := b.Word("rows")
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(row)
	body()
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
}

// row returns where the row of x of edge k's column is, and asks for that of an
// edge some way ahead.
func (b *block) row(cols, x, k reg.GPVirtual) reg.GPVirtual {
	near, u := Fresh("near"), GP64()
	CMPQ(b.Field("Ahead"), Imm(0))
	JE(LabelRef(near))
	// The row of an edge some way ahead, or of the last: ask for its lines.
	MOVQ(b.Field("Ahead"), u)
	ADDQ(k, u)
	CMPQ(u, b.Field("Last"))
	CMOVQGT(b.Field("Last"), u)
	MOVLQSX(Mem{Base: cols, Index: u, Scale: 4}, u)
	IMULQ(b.Field("XStride"), u)
	asked := Fresh("asked")
	for i := 0; i < b.nh*b.nv*32; i += 64 {
		if i == 0 && b.nh*b.nv > 4 { // others may have asked for some
			CMPQ(b.Field("Early"), Imm(1))
			JE(LabelRef(asked))
			JG(LabelRef(near))
		}
		if i == 192 {
			Label(asked)
		}
		PREFETCHT1(Mem{Base: x, Index: u, Scale: 4, Disp: i})
	}
	// The row of the edge at hand.
	Label(near)
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, u)
	IMULQ(b.Field("XStride"), u)
	LEAQ(Mem{Base: x, Index: u, Scale: 4}, u)
	return u
}

// skip moves w on over the slots that fill up after a row of count edges.
func (b *block) skip(w, count reg.GPVirtual) {
	NEGQ(count)
	ANDQ(b.Field("Filler"), count)
	IMULQ(b.Field("WStride"), count)
	LEAQ(Mem{Base: w, Index: count, Scale: 4}, w)
}

func (b *block) zeros() []Vec {
	acc := make([]Vec, b.nh*b.nv)
	for i := range acc {
		acc[i] = YMM()
		VXORPS(acc[i], acc[i], acc[i])
	}
	return acc
}

// multiply adds the row x, each head times its number in w, to acc.
func (b *block) multiply(acc []Vec, x reg.GPVirtual, w reg.GPVirtual) {
	at := b.heads(x)
	for h := range b.nh {
		f := YMM()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * h}, f)
		for j := range b.nv {
			VFMADD231PS(b.from(at[h], j), f, acc[h*b.nv+j])
		}
	}
}

// sum writes Heads.Sum.
//
//	Y[r,h,:] = S[r,h]·Σ_e W[e,h]·X[Cols[e],h,:]    or is added to
func (b *block) sum() {
	cols, x, w := b.Word("Cols"), b.Word("X"), b.Word("W")
	b.rows(func(k, end reg.GPVirtual) {
		again, none := Fresh("edge"), Fresh("none")
		// The destination's sums start at zero.
		acc := b.zeros()
		b.count(k, end, none)
		// An edge: multiply-accumulate its column's row.
		Label(again)
		b.multiply(acc, b.row(cols, x, k), w)
		b.advance(w, "WStride")
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		// Over the slots without an edge; scale and store the sums.
		b.skip(w, b.Word("scrap"))
		Label(none)
		b.keep(acc)
	})
	Finish()
}

// count keeps the number of a row's edges, or leaves if there are none.
func (b *block) count(k, end reg.GPVirtual, none string) {
	n := GP64()
	MOVQ(end, n)
	SUBQ(k, n)
	JZ(LabelRef(none))
	MOVQ(n, b.Field("scrap"))
}

// keep adds a row's sums, each head times its factor, to the row of Y, or sets
// it to them.
func (b *block) keep(acc []Vec) {
	y, s := b.Word("Y"), b.Word("S")
	at := b.heads(y)
	set, kept := Fresh("set"), Fresh("kept")
	factor := func(h int) Vec {
		f := YMM()
		VBROADCASTSS(Mem{Base: s, Disp: 4 * h}, f)
		return f
	}
	CMPQ(b.Field("Set"), Imm(0))
	JNE(LabelRef(set))
	// Multiply-add to what is there.
	for h := range b.nh {
		f := factor(h)
		for j := range b.nv {
			v := b.load(at[h], j)
			VFMADD231PS(acc[h*b.nv+j], f, v)
			b.store(v, at[h], j)
		}
	}
	JMP(LabelRef(kept))
	// Or scale and store.
	Label(set)
	for h := range b.nh {
		f := factor(h)
		for j := range b.nv {
			b.store(Mul(acc[h*b.nv+j], f), at[h], j)
		}
	}
	Label(kept)
	b.further("Y", "YStride")
	b.further("S", "SStride")
}

// further adds a stride to a pointer in memory.
func (b *block) further(at, stride string) {
	s := b.Word(stride)
	SHLQ(Imm(2), s)
	ADDQ(s, b.Field(at))
}

// both writes Heads.Both.
//
//	acc += W[e,h]·X[Cols[e],h,:]    G[e,h] += ⟨X[Cols[e],h,:], V[r,h,:]⟩
func (b *block) both() {
	cols, x, w, g := b.Word("Cols"), b.Word("X"), b.Word("W"), b.Word("G")
	// One index serves both: g is counted from w.
	SUBQ(w, g)
	b.rows(func(k, end reg.GPVirtual) {
		again, none := Fresh("edge"), Fresh("none")
		acc := b.zeros()
		b.count(k, end, none)
		v := b.Word("V")
		Label(again)
		// Each register of the column's row is loaded once, for the product and for the sum.
		from, own, row := b.row(cols, x, k), b.heads(v), Mem{Base: w, Index: g, Scale: 1}
		b.addAt(b.product(b.heads(from), own, func(h, j int, x Vec) {
			f := YMM()
			VBROADCASTSS(Mem{Base: w, Disp: 4 * h}, f)
			VFMADD231PS(x, f, acc[h*b.nv+j])
		}), row)
		b.advance(w, "WStride")
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		b.skip(w, b.Word("scrap"))
		Label(none)
		b.keep(acc)
		b.further("V", "YStride")
	})
	Finish()
}

// products returns the inner products of n heads from lo on, of x and y, not
// yet added up: of four heads, each half of the register has a part of each.
func (b *block) products(x, y []Mem, lo, n int, with func(h, j int, x Vec)) Vec {
	// Halves of the heads, folded into one register.
	if n > 1 {
		v, w := b.products(x, y, lo, n/2, with), b.products(x, y, lo+n/2, n/2, with)
		if n == 2 { // in the order of dots, so that both round alike
			return pair(v, w)
		}
		return Pairwise(v, w)
	}
	// One head: multiply-accumulate its registers.
	var sum Vec
	for j := range b.nv {
		v := b.load(x[lo], j)
		with(lo, j, v)
		if j == 0 {
			sum = v
			VMULPS(b.from(y[lo], j), v, sum)
		} else {
			VFMADD231PS(b.from(y[lo], j), v, sum)
		}
	}
	return sum
}

// product returns, in the first lanes, the inner products of the heads at x and
// y. Each register of x is given to with.
func (b *block) product(x, y []Mem, with func(h, j int, x Vec)) Vec {
	// Eight heads fill a register.
	if b.nh == 8 {
		v := b.products(x, y, 0, 4, with)
		return Halves(v, b.products(x, y, 4, 4, with))
	}
	// Fewer: add the upper half to the lower, and what is left to each other.
	v, high := b.products(x, y, 0, b.nh, with), XMM()
	VEXTRACTF128(Imm(1), v, high)
	VADDPS(high, v.AsX(), v.AsX())
	for n := b.nh; n < 4; n *= 2 {
		VHADDPS(v.AsX(), v.AsX(), v.AsX())
	}
	return v
}

// alone is what product does with x where it needs no more of it.
func alone(int, int, Vec) {}

// addAt adds the first lanes to the numbers of the heads at a place.
func (b *block) addAt(v Vec, at Mem) {
	x := v.AsX()
	switch b.nh {
	case 1:
		VADDSS(at, x, x)
		VMOVSS(x, at)
	case 2:
		own := XMM()
		VMOVSD(at, own)
		VADDPS(own, x, x)
		VMOVLPS(x, at)
	case 4:
		VADDPS(at, x, x)
		VMOVUPS(x, at)
	default:
		VADDPS(at, v, v)
		VMOVUPS(v, at)
	}
}

// dots writes Heads.Dots.
//
//	G[e,h] += ⟨X[Cols[e],h,:], V[r,h,:]⟩
func (b *block) dots() {
	cols, x, v, g := b.Word("Cols"), b.Word("X"), b.Word("V"), b.Word("G")
	b.rows(func(k, end reg.GPVirtual) {
		over, again := Fresh("over"), Fresh("edge")
		b.count(k, end, over)
		own := b.heads(v)
		Label(again)
		b.addAt(b.product(b.heads(b.row(cols, x, k)), own, alone), Mem{Base: g})
		b.advance(g, "WStride")
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		b.skip(g, b.Word("scrap"))
		Label(over)
		b.advance(v, "YStride")
	})
	Finish()
}

// pairs writes Heads.Pairs.
//
//	W[r,h] += ⟨X[r,h,:], Y[r,h,:]⟩
func (b *block) pairs() {
	x, y, w := b.Word("X"), b.Word("Y"), b.Word("W")
	b.plain(func() {
		b.addAt(b.product(b.heads(x), b.heads(y), alone), Mem{Base: w})
		b.advance(x, "XStride")
		b.advance(y, "YStride")
		b.advance(w, "WStride")
	})
	Finish()
}

// foldRows writes Heads.Fold.
//
//	Y[h,:] += Σ_r W[r,h]·X[r,h,:]
func (b *block) foldRows() {
	x, y, w := b.Word("X"), b.Word("Y"), b.Word("W")
	// The sums stay in registers over all rows.
	acc := make([]Vec, 0, b.nh*b.nv)
	for _, at := range b.heads(y) {
		for j := range b.nv {
			acc = append(acc, b.load(at, j))
		}
	}
	b.plain(func() {
		b.multiply(acc, x, w)
		b.advance(x, "XStride")
		b.advance(w, "WStride")
	})
	// Store them.
	for h, at := range b.heads(y) {
		for j := range b.nv {
			b.store(acc[h*b.nv+j], at, j)
		}
	}
	Finish()
}

// spread writes Heads.Spread.
//
//	Y[r,h,:] += W[r,h]·X[h,:]
func (b *block) spread() {
	x, y, w := b.Word("X"), b.Word("Y"), b.Word("W")
	// The one row stays in registers.
	var own []Vec
	for _, at := range b.heads(x) {
		for j := range b.nv {
			own = append(own, b.load(at, j))
		}
	}
	b.plain(func() {
		for h, at := range b.heads(y) {
			f := YMM()
			VBROADCASTSS(Mem{Base: w, Disp: 4 * h}, f)
			for j := range b.nv {
				v := b.load(at, j)
				VFMADD231PS(own[h*b.nv+j], f, v)
				b.store(v, at, j)
			}
		}
		b.advance(y, "YStride")
		b.advance(w, "WStride")
	})
	Finish()
}
