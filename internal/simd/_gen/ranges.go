package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rangesOfRows writes the kernels on consecutive ranges of rows, such as the edges
// into each of several nodes. off are where the ranges begin.
func rangesOfRows() {
	start("sumSegmentsAVX2", "func(y, x *float32, off *int64, n, w int)", "sumSegmentsAVX2 is SumSegments of n ranges.")
	sumSegments()
	finish()

	start("spreadSegmentsAVX2", "func(y, x *float32, off *int64, n, w int)", "spreadSegmentsAVX2 is SpreadRanges of n ranges.")
	spread := newRowRanges("x", "y", "")
	spread.each(func(b rowBlock) {
		row := b.load(b.of)
		b.rows(func(at reg.GPVirtual) { b.store(row, Mem{Base: at}) })
	})

	start("dotSegmentsAVX2", "func(s, x, y *float32, off *int64, n, w int)", "dotSegmentsAVX2 is DotRanges of n ranges.")
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

	start("softmaxSegmentsAVX2", "func(y, x, top, sum *float32, off *int64, n, stride, w, apart int)", "softmaxSegmentsAVX2 is SoftmaxSegments of w ≤ 8 columns.")
	s := newRanges("y", "x", "top", "sum")
	s.each(func(rows reg.GPVirtual) {
		top, sum := get(num(math.Inf(-1))), get(num(0))
		s.rows(rows, func() { VMAXPS(top, s.load("x"), top) }, "x")
		s.rows(rows, func() {
			e := s.weigh(top)
			VADDPS(e, sum, sum)
			s.store(e, "y")
		}, "x", "y")
		by := pick(compare(equal, sum, num(0)), get(num(1)), sum)
		s.rows(rows, func() { s.store(div(s.load("y"), by), "y") }, "y")
		s.store(top, "top")
		s.store(sum, "sum")
	}, "x", "y")
	finish()

	start("weightsSegmentsAVX2", "func(y, x, top, sum *float32, off *int64, n, stride, w, apart int)", "weightsSegmentsAVX2 is WeightsSegments of w ≤ 8 columns.")
	s = newRanges("y", "x", "top", "sum")
	s.each(func(rows reg.GPVirtual) {
		top, sum := s.load("top"), s.load("sum")
		by := pick(compare(equal, sum, num(0)), get(num(1)), sum)
		s.rows(rows, func() { s.store(div(s.weigh(top), by), "y") }, "x", "y")
	}, "x", "y")
	finish()

	start("softmaxGradSegmentsAVX2", "func(dx, y, dy *float32, off *int64, n, stride, w int)", "softmaxGradSegmentsAVX2 is SoftmaxGradSegments of w ≤ 8 columns.")
	s = newRanges("dx", "y", "dy")
	s.each(func(rows reg.GPVirtual) {
		c := get(num(0))
		s.rows(rows, func() { VADDPS(mul(s.load("y"), s.load("dy")), c, c) }, "y", "dy")
		s.rows(rows, func() {
			g := mul(sub(s.load("dy"), c), s.load("y"))
			s.store(add(g, s.load("dx")), "dx")
		}, "y", "dy", "dx")
	}, "y", "dy", "dx")
	finish()
}

// ranges is a kernel over ranges of rows, on up to eight columns.
type ranges struct {
	ptr       map[string]reg.GPVirtual
	at        map[string]reg.GPVirtual // within a range
	off, n, w reg.GPVirtual
	stride    reg.GPVirtual
	apart     reg.GPVirtual // of what a range has one row of
	mask      vec
}

func newRanges(pointers ...string) *ranges {
	s := &ranges{ptr: map[string]reg.GPVirtual{}, at: map[string]reg.GPVirtual{}}
	for _, p := range pointers {
		s.ptr[p] = param(p)
	}
	s.off = param("off")
	s.n = param("n")
	s.stride = param("stride")
	s.w = param("w")
	SHLQ(Imm(2), s.stride)
	s.mask = maskOf(s.w)
	if s.single() {
		s.apart = param("apart")
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

func (s *ranges) load(p string) vec {
	v := YMM()
	VMASKMOVPS(s.place(p), s.mask, v)
	return v
}

func (s *ranges) store(v vec, p string) { storeFirst(v, s.w, s.place(p)) }

// weigh is exp(x − top), of which two infinities of one sign have no difference.
func (s *ranges) weigh(top vec) vec {
	x := s.load("x")
	d := andNot(compare(equal, x, top), sub(x, top))
	return andNot(compare(equal, x, num(math.Inf(-1))), exp(d))
}

// each writes the loop over the ranges that are not empty; those arrays of which
// a row belongs to each row go on by the range's rows.
func (s *ranges) each(body func(rows reg.GPVirtual), long ...string) {
	again, empty := fresh("range"), fresh("empty")
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
	left, again := GP64(), fresh("row")
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
func sumSegments() {
	y, x := param("y"), param("x")
	off, n := param("off"), param("n")
	w := param("w")
	bytes, rest := GP64(), GP64()
	MOVQ(w, bytes)
	SHLQ(Imm(2), bytes)
	MOVQ(w, rest)
	ANDQ(Imm(lanes-1), rest)
	mask := maskOf(rest)
	again, empty := fresh("range"), fresh("empty")
	Label(again)
	rows := GP64()
	MOVQ(Mem{Base: off, Disp: 8}, rows)
	SUBQ(Mem{Base: off}, rows)
	JZ(LabelRef(empty))
	left, to, from := GP64(), GP64(), GP64()
	MOVQ(w, left)
	MOVQ(y, to)
	MOVQ(x, from)
	column := func(load func(m Mem) vec, store func(v vec, m Mem), registers int) {
		at, count := GP64(), GP64()
		MOVQ(from, at)
		MOVQ(rows, count)
		acc := make([]vec, registers)
		for i := range acc {
			acc[i] = load(Mem{Base: to, Disp: 32 * i})
		}
		row := fresh("row")
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
	for _, registers := range []int{8, 1} {
		wide, over := fresh("wide"), fresh("over")
		Label(wide)
		CMPQ(left, U32(uint32(lanes*registers)))
		JL(LabelRef(over))
		column(func(m Mem) vec { return get(m) }, func(v vec, m Mem) { VMOVUPS(v, m) }, registers)
		SUBQ(Imm(uint64(lanes*registers)), left)
		JMP(LabelRef(wide))
		Label(over)
	}
	whole := fresh("whole")
	TESTQ(left, left)
	JZ(LabelRef(whole))
	column(func(m Mem) vec {
		v := YMM()
		VMASKMOVPS(m, mask, v)
		return v
	}, func(v vec, m Mem) { storeFirst(v, rest, m) }, 1)
	Label(whole)
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
	mask                vec
}

func newRowRanges(of, own, kept string) *rowRanges {
	s := &rowRanges{rows: GP64(), j: GP64(), rest: GP64()}
	s.of, s.own, s.off, s.n, s.bytes = param(of), param(own), param("off"), param("n"), param("w")
	if kept != "" {
		s.kept = param(kept)
	}
	MOVQ(s.bytes, s.rest)
	ANDQ(Imm(lanes-1), s.rest)
	s.mask = maskOf(s.rest)
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
	again, empty := fresh("range"), fresh("empty")
	Label(again)
	MOVQ(Mem{Base: s.off, Disp: 8}, s.rows)
	SUBQ(Mem{Base: s.off}, s.rows)
	JZ(LabelRef(empty))
	XORQ(s.j, s.j)
	for _, count := range []int{8, 1} {
		wide, over := fresh("wide"), fresh("over")
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
	whole := fresh("whole")
	TESTQ(s.rest, s.rest)
	JZ(LabelRef(whole))
	body(s.block(1, true))
	Label(whole)
	IMULQ(s.bytes, s.rows)
	ADDQ(s.rows, s.own)
	Label(empty)
	ADDQ(s.bytes, s.of)
	ADDQ(Imm(8), s.off)
	DECQ(s.n)
	JNZ(LabelRef(again))
	finish()
}

// rows writes the loop over the range's own rows.
func (b rowBlock) rows(body func(at reg.GPVirtual)) {
	at, left, again := GP64(), GP64(), fresh("row")
	LEAQ(Mem{Base: b.own, Index: b.j, Scale: 1}, at)
	MOVQ(b.rowRanges.rows, left)
	Label(again)
	body(at)
	ADDQ(b.bytes, at)
	DECQ(left)
	JNZ(LabelRef(again))
}

func (b rowBlock) load(m Mem) []vec {
	v := make([]vec, b.count)
	for i := range v {
		v[i] = b.get(m, i)
	}
	return v
}

// get loads the i-th register of a block.
func (b rowBlock) get(m Mem, i int) vec {
	v := YMM()
	if b.masked {
		VMASKMOVPS(m, b.mask, v)
	} else {
		VMOVUPS(m.Offset(32*i), v)
	}
	return v
}

func (b rowBlock) store(v []vec, m Mem) {
	for i := range v {
		if b.masked {
			last := YMM()
			VMOVAPS(v[i], last)
			storeFirst(last, b.rest, m)
		} else {
			VMOVUPS(v[i], m.Offset(32*i))
		}
	}
}
