package spmm

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// RangesOfRows writes the kernels on consecutive ranges of rows, such as the edges
// into each of several nodes. off are where the ranges begin.
func RangesOfRows() {
	Start("sumSegmentsAVX2", "func(y, x *float32, off *int64, n, w int)", "sumSegmentsAVX2 is SumSegments of n ranges.")
	sumSegments()
	Finish()

	Start("spreadSegmentsAVX2", "func(y, x *float32, off *int64, n, w int)", "spreadSegmentsAVX2 is SpreadRanges of n ranges.")
	// y[r,:] = x[i,:]
	spread := newRowRanges("x", "y", "")
	spread.each(func(b rowBlock) {
		row := b.load(b.of)
		b.rows(func(at reg.GPVirtual) { b.store(row, Mem{Base: at}) })
	})

	Start("dotSegmentsAVX2", "func(s, x, y *float32, off *int64, n, w int)", "dotSegmentsAVX2 is DotRanges of n ranges.")
	// s[:] += Σ_r x[i,:]·y[r,:]    by columns
	dot := newRowRanges("x", "y", "s")
	dot.each(func(b rowBlock) {
		sum := b.load(b.kept)
		b.rows(func(at reg.GPVirtual) {
			for i := range sum {
				y := b.get(Mem{Base: at}, i)
				if b.masked {
					VFMADD231PS(b.get(b.of, i), y, sum[i])
				} else {
					VFMADD231PS(b.of.Offset(32*i), y, sum[i])
				}
			}
		})
		b.store(sum, b.kept)
	})

	Start("softmaxSegmentsAVX2", "func(y, x, top, sum *float32, off *int64, n, stride, w, apart int)", "softmaxSegmentsAVX2 is SoftmaxSegments of w ≤ 8 columns.")
	// y = exp(x − top)/sum    by columns of each range: maximum, exponentials and sum, quotients
	s := newRanges("y", "x", "top", "sum")
	s.each(func(rows reg.GPVirtual) {
		top, sum := Get(Num(math.Inf(-1))), Get(Num(0))
		s.rows(rows, func() { VMAXPS(top, s.load("x"), top) }, "x")
		s.rows(rows, func() {
			e := s.weigh(top)
			VADDPS(e, sum, sum)
			s.store(e, "y")
		}, "x", "y")
		by := Pick(Compare(Equal, sum, Num(0)), Get(Num(1)), sum)
		s.rows(rows, func() { s.store(Div(s.load("y"), by), "y") }, "y")
		s.store(top, "top")
		s.store(sum, "sum")
	}, "x", "y")
	Finish()

	Start("weightsSegmentsAVX2", "func(y, x, top, sum *float32, off *int64, n, stride, w, apart int)", "weightsSegmentsAVX2 is WeightsSegments of w ≤ 8 columns.")
	// y = exp(x − top)/sum    with the statistics of before
	s = newRanges("y", "x", "top", "sum")
	s.each(func(rows reg.GPVirtual) {
		top, sum := s.load("top"), s.load("sum")
		by := Pick(Compare(Equal, sum, Num(0)), Get(Num(1)), sum)
		s.rows(rows, func() { s.store(Div(s.weigh(top), by), "y") }, "x", "y")
	}, "x", "y")
	Finish()

	Start("softmaxGradSegmentsAVX2", "func(dx, y, dy *float32, off *int64, n, stride, w int)", "softmaxGradSegmentsAVX2 is SoftmaxGradSegments of w ≤ 8 columns.")
	// dx += y·(dy − Σ_r y·dy)
	s = newRanges("dx", "y", "dy")
	s.each(func(rows reg.GPVirtual) {
		c := Get(Num(0))
		s.rows(rows, func() { VADDPS(Mul(s.load("y"), s.load("dy")), c, c) }, "y", "dy")
		s.rows(rows, func() {
			g := Mul(Sub(s.load("dy"), c), s.load("y"))
			s.store(Add(g, s.load("dx")), "dx")
		}, "y", "dy", "dx")
	}, "y", "dy", "dx")
	Finish()
}

// ranges is a kernel over ranges of rows, on up to eight columns.
type ranges struct {
	ptr       map[string]reg.GPVirtual
	at        map[string]reg.GPVirtual // within a range
	off, n, w reg.GPVirtual
	stride    reg.GPVirtual
	apart     reg.GPVirtual // of what a range has one row of
	mask      Vec
}

func newRanges(pointers ...string) *ranges {
	s := &ranges{ptr: map[string]reg.GPVirtual{}, at: map[string]reg.GPVirtual{}}
	for _, p := range pointers {
		s.ptr[p] = Arg(p)
	}
	s.off = Arg("off")
	s.n = Arg("n")
	s.stride = Arg("stride")
	s.w = Arg("w")
	SHLQ(Imm(2), s.stride)
	s.mask = MaskOf(s.w)
	if s.single() {
		s.apart = Arg("apart")
		SHLQ(Imm(2), s.apart)
	}
	return s
}

func (s *ranges) single() bool { return s.ptr["top"] != nil }

func (s *ranges) place(p string) Mem {
	if at, ok := s.at[p]; ok {
		return Mem{Base: at}
	}
	return Mem{Base: s.ptr[p]}
}

func (s *ranges) load(p string) Vec {
	v := YMM()
	VMASKMOVPS(s.place(p), s.mask, v)
	return v
}

func (s *ranges) store(v Vec, p string) { StoreFirst(v, s.w, s.place(p)) }

// weigh is exp(x − top), of which two infinities of one sign have no difference.
func (s *ranges) weigh(top Vec) Vec {
	x := s.load("x")
	d := AndNot(Compare(Equal, x, top), Sub(x, top))
	return AndNot(Compare(Equal, x, Num(math.Inf(-1))), Exp(d))
}

// each writes the loop over the ranges that are not empty; those arrays of which
// a row belongs to each row go on by the range's rows.
func (s *ranges) each(body func(rows reg.GPVirtual), long ...string) {
	again, empty := Fresh("range"), Fresh("empty")
	Label(again)
	rows := GP64()
	MOVQ(Mem{Base: s.off, Disp: 8}, rows)
	SUBQ(Mem{Base: s.off}, rows)
	JZ(LabelRef(empty))
	body(rows)
	bytes := GP64()
	MOVQ(rows, bytes)
	IMULQ(s.stride, bytes)
	for _, p := range long {
		ADDQ(bytes, s.ptr[p])
	}
	Label(empty)
	if s.single() {
		ADDQ(s.apart, s.ptr["top"])
		ADDQ(s.apart, s.ptr["sum"])
	}
	ADDQ(Imm(8), s.off)
	DECQ(s.n)
	JNZ(LabelRef(again))
}

// rows writes a loop over the rows of a range, in the named arrays.
func (s *ranges) rows(n reg.GPVirtual, body func(), arrays ...string) {
	left, again := GP64(), Fresh("row")
	MOVQ(n, left)
	for _, p := range arrays {
		s.at[p] = GP64()
		MOVQ(s.ptr[p], s.at[p])
	}
	Label(again)
	body()
	for _, p := range arrays {
		ADDQ(s.stride, s.at[p])
	}
	DECQ(left)
	JNZ(LabelRef(again))
	clear(s.at)
}

// sumSegments takes 32, 8 and fewer columns at a time of each range.
//
//	y[i,:] += Σ_r x[r,:]    for the rows r of range i, in order
func sumSegments() {
	y, x := Arg("y"), Arg("x")
	off, n := Arg("off"), Arg("n")
	w := Arg("w")
	bytes, rest := GP64(), GP64()
	// Bytes of a row, and columns of the last register.
	MOVQ(w, bytes)
	SHLQ(Imm(2), bytes)
	MOVQ(w, rest)
	ANDQ(Imm(Lanes-1), rest)
	mask := MaskOf(rest)
	again, empty := Fresh("range"), Fresh("empty")
	Label(again)
	rows := GP64()
	MOVQ(Mem{Base: off, Disp: 8}, rows)
	SUBQ(Mem{Base: off}, rows)
	JZ(LabelRef(empty))
	left, to, from := GP64(), GP64(), GP64()
	MOVQ(w, left)
	MOVQ(y, to)
	MOVQ(x, from)
	// Some columns of all rows of a range, added to what is there.
	column := func(load func(m Mem) Vec, store func(v Vec, m Mem), registers int) {
		at, count := GP64(), GP64()
		MOVQ(from, at)
		MOVQ(rows, count)
		acc := make([]Vec, registers)
		for i := range acc {
			acc[i] = load(Mem{Base: to, Disp: 32 * i})
		}
		row := Fresh("row")
		Label(row)
		for i := range acc {
			VADDPS(load(Mem{Base: at, Disp: 32 * i}), acc[i], acc[i])
		}
		ADDQ(bytes, at)
		DECQ(count)
		JNZ(LabelRef(row))
		for i := range acc {
			store(acc[i], Mem{Base: to, Disp: 32 * i})
		}
		ADDQ(U32(uint32(32*registers)), to)
		ADDQ(U32(uint32(32*registers)), from)
	}
	// Columns by 64 and by 8, as long as there are so many.
	for _, registers := range []int{8, 1} {
		wide, over := Fresh("wide"), Fresh("over")
		Label(wide)
		CMPQ(left, U32(uint32(Lanes*registers)))
		JL(LabelRef(over))
		column(func(m Mem) Vec { return Get(m) }, func(v Vec, m Mem) { VMOVUPS(v, m) }, registers)
		SUBQ(Imm(uint64(Lanes*registers)), left)
		JMP(LabelRef(wide))
		Label(over)
	}
	// The last few columns, masked.
	whole := Fresh("whole")
	TESTQ(left, left)
	JZ(LabelRef(whole))
	column(func(m Mem) Vec {
		v := YMM()
		VMASKMOVPS(m, mask, v)
		return v
	}, func(v Vec, m Mem) { StoreFirst(v, rest, m) }, 1)
	Label(whole)
	// On to the next range.
	IMULQ(bytes, rows)
	ADDQ(rows, x)
	Label(empty)
	ADDQ(bytes, y)
	ADDQ(Imm(8), off)
	DECQ(n)
	JNZ(LabelRef(again))
}

// rowRanges is a kernel over ranges of rows, of any number of columns: one array has
// a row for each range, another the ranges' own rows, and a third one row.
type rowRanges struct {
	of, own, kept       reg.GPVirtual
	off, n, bytes, rest reg.GPVirtual
	rows, j             reg.GPVirtual // of the range; where in a row, in bytes
	mask                Vec
}

func newRowRanges(of, own, kept string) *rowRanges {
	s := &rowRanges{rows: GP64(), j: GP64(), rest: GP64()}
	s.of, s.own, s.off, s.n, s.bytes = Arg(of), Arg(own), Arg("off"), Arg("n"), Arg("w")
	if kept != "" {
		s.kept = Arg(kept)
	}
	MOVQ(s.bytes, s.rest)
	ANDQ(Imm(Lanes-1), s.rest)
	s.mask = MaskOf(s.rest)
	SHLQ(Imm(2), s.bytes)
	return s
}

// rowBlock is some columns of a range: whole registers, or the last few elements.
type rowBlock struct {
	*rowRanges
	of, kept Mem
	count    int // registers
	masked   bool
}

func (s *rowRanges) block(count int, masked bool) rowBlock {
	return rowBlock{s, Mem{Base: s.of, Index: s.j, Scale: 1}, Mem{Base: s.kept, Index: s.j, Scale: 1}, count, masked}
}

// each writes the loop over the ranges and, in each, over blocks of eight registers,
// of one and of the last few columns.
func (s *rowRanges) each(body func(b rowBlock)) {
	again, empty := Fresh("range"), Fresh("empty")
	Label(again)
	// The rows of the range.
	MOVQ(Mem{Base: s.off, Disp: 8}, s.rows)
	SUBQ(Mem{Base: s.off}, s.rows)
	JZ(LabelRef(empty))
	XORQ(s.j, s.j)
	// Blocks of columns.
	for _, count := range []int{8, 1} {
		wide, over := Fresh("wide"), Fresh("over")
		end := GP64()
		Label(wide)
		LEAQ(Mem{Base: s.j, Disp: 32 * count}, end)
		CMPQ(end, s.bytes)
		JG(LabelRef(over))
		body(s.block(count, false))
		ADDQ(U32(uint32(32*count)), s.j)
		JMP(LabelRef(wide))
		Label(over)
	}
	whole := Fresh("whole")
	TESTQ(s.rest, s.rest)
	JZ(LabelRef(whole))
	body(s.block(1, true))
	Label(whole)
	// On to the next range.
	IMULQ(s.bytes, s.rows)
	ADDQ(s.rows, s.own)
	Label(empty)
	ADDQ(s.bytes, s.of)
	ADDQ(Imm(8), s.off)
	DECQ(s.n)
	JNZ(LabelRef(again))
	Finish()
}

// rows writes the loop over the range's own rows.
func (b rowBlock) rows(body func(at reg.GPVirtual)) {
	at, left, again := GP64(), GP64(), Fresh("row")
	LEAQ(Mem{Base: b.own, Index: b.j, Scale: 1}, at)
	MOVQ(b.rowRanges.rows, left)
	Label(again)
	body(at)
	ADDQ(b.bytes, at)
	DECQ(left)
	JNZ(LabelRef(again))
}

func (b rowBlock) load(m Mem) []Vec {
	v := make([]Vec, b.count)
	for i := range v {
		v[i] = b.get(m, i)
	}
	return v
}

// get loads the i-th register of a block.
func (b rowBlock) get(m Mem, i int) Vec {
	v := YMM()
	if b.masked {
		VMASKMOVPS(m, b.mask, v)
	} else {
		VMOVUPS(m.Offset(32*i), v)
	}
	return v
}

func (b rowBlock) store(v []Vec, m Mem) {
	for i := range v {
		if b.masked {
			last := YMM()
			VMOVAPS(v[i], last)
			StoreFirst(last, b.rest, m)
		} else {
			VMOVUPS(v[i], m.Offset(32*i))
		}
	}
}
