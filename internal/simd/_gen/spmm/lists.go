package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// GatherRows writes the copy of rows that a list names. Rows are w elements long.
// Of the first near rows, the one that stands ahead places later in the list is
// fetched into the second-level cache.
//
//	dst[i,:] = src[rows[i],:]
func GatherRows() {
	Start("gatherRowsAVX2", "func(dst, src *float32, rows *int32, n, w, ahead, near int)", "gatherRowsAVX2 is GatherRows of n rows.")
	l := newList("rows")
	dst, src := l.pointer("dst"), l.pointer("src")
	l.each(func() {
		from := l.named()
		l.row(src, from)
		l.fetch(func(at reg.GPVirtual) Mem { return Mem{Base: l.ptr["rows"], Index: at, Scale: 4} }, src)
		l.columns(func(v func(base reg.GPVirtual) Vec, put func(Vec, reg.GPVirtual)) { put(v(from), dst) })
		ADDQ(l.bytes, dst)
	})
	Finish()
}

// FetchLines writes the request for lines in a row.
func FetchLines() {
	Start("fetchLines", "func(x *float32, n int)", "fetchLines is Fetch of n > 0 lines.")
	x, n, again := Load(Param("x"), GP64()), Load(Param("n"), GP64()), Fresh("line")
	Label(again)
	PREFETCHT1(Mem{Base: x})
	ADDQ(Imm(LineBytes), x)
	DECQ(n)
	JNZ(LabelRef(again))
	Finish()
}

// Scatter writes the sum of rows onto rows that a list names.
//
//	dst[to[k],:] += src[k,:]    for each k of from
func Scatter() {
	Start("scatterRowsAVX2", "func(dst, src *float32, to *int32, from *uint16, n, w, ahead, near int)", "scatterRowsAVX2 is ScatterRows of n rows.")
	l := newList("from")
	dst, src, to := l.pointer("dst"), l.pointer("src"), l.pointer("to")
	l.each(func() {
		l.fetchBoth(to, dst, src)
		// The row, and the one it is added to.
		s, d := GP64(), GP64()
		MOVWQZX(Mem{Base: l.ptr["from"], Index: l.i, Scale: 2}, s)
		MOVLQSX(Mem{Base: to, Index: s, Scale: 4}, d)
		l.row(src, s)
		l.row(dst, d)
		// Load both, add, store.
		l.columns(func(v func(base reg.GPVirtual) Vec, put func(Vec, reg.GPVirtual)) {
			put(Add(v(s), v(d)), d)
		})
	})
	Finish()
}

// list is a kernel over the rows that a list of indices names.
type list struct {
	ptr                   map[string]reg.GPVirtual
	name                  string
	i, n                  reg.GPVirtual
	w, rest, bytes, whole reg.GPVirtual
	ahead, near           reg.GPVirtual
	mask                  Vec
}

func newList(name string) *list {
	l := &list{ptr: map[string]reg.GPVirtual{}, name: name, i: GP64(), rest: GP64(), bytes: GP64(), whole: GP64()}
	l.pointer(name)
	l.n, l.w = l.pointer("n"), l.pointer("w")
	l.ahead, l.near = l.pointer("ahead"), l.pointer("near")
	MOVQ(l.w, l.rest)
	ANDQ(Imm(Lanes-1), l.rest)
	MOVQ(l.w, l.whole)
	SUBQ(l.rest, l.whole)
	MOVQ(l.w, l.bytes)
	SHLQ(Imm(2), l.bytes)
	l.mask = MaskOf(l.rest)
	XORQ(l.i, l.i)
	return l
}

func (l *list) pointer(name string) reg.GPVirtual {
	l.ptr[name] = Arg(name)
	return l.ptr[name]
}

// row turns the number of a row of an array into where it begins.
func (l *list) row(base, at reg.GPVirtual) {
	IMULQ(l.bytes, at)
	ADDQ(base, at)
}

// named is the row that the list names now.
func (l *list) named() reg.GPVirtual {
	row := GP64()
	MOVLQSX(Mem{Base: l.ptr[l.name], Index: l.i, Scale: 4}, row)
	return row
}

// each writes the loop over the list; n is not 0.
func (l *list) each(body func()) {
	again := Fresh("row")
	Label(again)
	body()
	INCQ(l.i)
	CMPQ(l.i, l.n)
	JL(LabelRef(again))
}

// fetch asks for the row of base that is needed some places later.
func (l *list) fetch(index func(at reg.GPVirtual) Mem, base reg.GPVirtual) {
	none, line := Fresh("near"), Fresh("line")
	CMPQ(l.i, l.near)
	JGE(LabelRef(none))
	at, row, end := GP64(), GP64(), GP64()
	// The row that is named some places later.
	MOVQ(l.i, at)
	ADDQ(l.ahead, at)
	MOVLQSX(index(at), row)
	IMULQ(l.bytes, row)
	ADDQ(base, row)
	MOVQ(row, end)
	ADDQ(l.bytes, end)
	// All of its lines.
	Label(line)
	PREFETCHT1(Mem{Base: row})
	ADDQ(Imm(LineBytes), row)
	CMPQ(row, end)
	JL(LabelRef(line))
	Label(none)
}

// fetchBoth asks for the row of src that is read some places later, and for the
// row of dst that it is added to.
func (l *list) fetchBoth(to, dst, src reg.GPVirtual) {
	none, line := Fresh("near"), Fresh("line")
	CMPQ(l.i, l.near)
	JGE(LabelRef(none))
	at, from, row := GP64(), GP64(), GP64()
	// The rows that are named some places later.
	MOVQ(l.i, at)
	ADDQ(l.ahead, at)
	MOVWQZX(Mem{Base: l.ptr[l.name], Index: at, Scale: 2}, from)
	MOVLQSX(Mem{Base: to, Index: from, Scale: 4}, row)
	IMULQ(l.bytes, row)
	IMULQ(l.bytes, from)
	ADDQ(dst, row)
	ADDQ(src, from)
	XORQ(at, at)
	// All of their lines, in step.
	Label(line)
	PREFETCHT1(Mem{Base: row, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: from, Index: at, Scale: 1})
	ADDQ(Imm(LineBytes), at)
	CMPQ(at, l.bytes)
	JL(LabelRef(line))
	Label(none)
}

// columns writes the loop over the elements of a row, eight at a time.
func (l *list) columns(body func(load func(base reg.GPVirtual) Vec, store func(Vec, reg.GPVirtual))) {
	again, tail, done := Fresh("columns"), Fresh("tail"), Fresh("done")
	j := GP64()
	XORQ(j, j)
	// Whole registers.
	CMPQ(j, l.whole)
	JGE(LabelRef(tail))
	Label(again)
	at := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: j, Scale: 4} }
	part := func(k int) {
		at := func(base reg.GPVirtual) Mem { return at(base).Offset(4 * Lanes * k) }
		body(func(base reg.GPVirtual) Vec { return Get(at(base)) }, func(v Vec, base reg.GPVirtual) { VMOVUPS(v, at(base)) })
	}
	part(0)
	ADDQ(Imm(Lanes), j)
	CMPQ(j, l.whole)
	JL(LabelRef(again))
	// The last few columns, masked.
	Label(tail)
	TESTQ(l.rest, l.rest)
	JZ(LabelRef(done))
	body(func(base reg.GPVirtual) Vec {
		v := YMM()
		VMASKMOVPS(at(base), l.mask, v)
		return v
	}, func(v Vec, base reg.GPVirtual) { StoreFirst(v, l.rest, at(base)) })
	Label(done)
}
