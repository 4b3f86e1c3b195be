package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lineBytes is the size of a cache line.
const lineBytes = 64

// gatherRows writes the copy of rows that a list names. Rows are w elements long.
// Of the first near rows, the one that stands ahead places later in the list is
// fetched into the second-level cache.
func gatherRows() {
	start("gatherRowsAVX2", "func(dst, src *float32, rows *int32, n, w, ahead, near int)", "gatherRowsAVX2 is GatherRows of n rows.")
	l := newList("rows")
	dst, src := l.pointer("dst"), l.pointer("src")
	l.each(func() {
		from := l.named()
		l.row(src, from)
		l.fetch(func(at reg.GPVirtual) Mem { return Mem{Base: l.ptr["rows"], Index: at, Scale: 4} }, src)
		l.columns(func(v func(base reg.GPVirtual) vec, put func(vec, reg.GPVirtual)) { put(v(from), dst) })
		ADDQ(l.bytes, dst)
	})
	finish()
}

// fetchLines writes the request for lines in a row.
func fetchLines() {
	start("fetchLines", "func(x *float32, n int)", "fetchLines is Fetch of n > 0 lines.")
	x, n, again := Load(Param("x"), GP64()), Load(Param("n"), GP64()), fresh("line")
	Label(again)
	PREFETCHT1(Mem{Base: x})
	ADDQ(Imm(lineBytes), x)
	DECQ(n)
	JNZ(LabelRef(again))
	finish()
}

// scatter writes the sum of rows onto rows that a list names.
func scatter() {
	start("scatterRowsAVX2", "func(dst, src *float32, to *int32, from *uint16, n, w, ahead, near int)", "scatterRowsAVX2 is ScatterRows of n rows.")
	l := newList("from")
	dst, src, to := l.pointer("dst"), l.pointer("src"), l.pointer("to")
	l.each(func() {
		l.fetchBoth(to, dst, src)
		s, d := GP64(), GP64()
		MOVWQZX(Mem{Base: l.ptr["from"], Index: l.i, Scale: 2}, s)
		MOVLQSX(Mem{Base: to, Index: s, Scale: 4}, d)
		l.row(src, s)
		l.row(dst, d)
		l.columns(func(v func(base reg.GPVirtual) vec, put func(vec, reg.GPVirtual)) {
			put(add(v(s), v(d)), d)
		})
	})
	finish()
}

// list is a kernel over the rows that a list of indices names.
type list struct {
	ptr                   map[string]reg.GPVirtual
	name                  string
	i, n                  reg.GPVirtual
	w, rest, bytes, whole reg.GPVirtual
	ahead, near           reg.GPVirtual
	mask                  vec
}

func newList(name string) *list {
	l := &list{ptr: map[string]reg.GPVirtual{}, name: name, i: GP64(), rest: GP64(), bytes: GP64(), whole: GP64()}
	l.pointer(name)
	l.n, l.w = l.pointer("n"), l.pointer("w")
	l.ahead, l.near = l.pointer("ahead"), l.pointer("near")
	MOVQ(l.w, l.rest)
	ANDQ(Imm(lanes-1), l.rest)
	MOVQ(l.w, l.whole)
	SUBQ(l.rest, l.whole)
	MOVQ(l.w, l.bytes)
	SHLQ(Imm(2), l.bytes)
	l.mask = maskOf(l.rest)
	XORQ(l.i, l.i)
	return l
}

func (l *list) pointer(name string) reg.GPVirtual {
	l.ptr[name] = param(name)
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
	again := fresh("row")
	Label(again)
	body()
	INCQ(l.i)
	CMPQ(l.i, l.n)
	JL(LabelRef(again))
}

// fetch asks for the row of base that is needed some places later.
func (l *list) fetch(index func(at reg.GPVirtual) Mem, base reg.GPVirtual) {
	none, line := fresh("near"), fresh("line")
	CMPQ(l.i, l.near)
	JGE(LabelRef(none))
	at, row, end := GP64(), GP64(), GP64()
	MOVQ(l.i, at)
	ADDQ(l.ahead, at)
	MOVLQSX(index(at), row)
	IMULQ(l.bytes, row)
	ADDQ(base, row)
	MOVQ(row, end)
	ADDQ(l.bytes, end)
	Label(line)
	PREFETCHT1(Mem{Base: row})
	ADDQ(Imm(lineBytes), row)
	CMPQ(row, end)
	JL(LabelRef(line))
	Label(none)
}

// fetchBoth asks for the row of src that is read some places later, and for the
// row of dst that it is added to.
func (l *list) fetchBoth(to, dst, src reg.GPVirtual) {
	none, line := fresh("near"), fresh("line")
	CMPQ(l.i, l.near)
	JGE(LabelRef(none))
	at, from, row := GP64(), GP64(), GP64()
	MOVQ(l.i, at)
	ADDQ(l.ahead, at)
	MOVWQZX(Mem{Base: l.ptr[l.name], Index: at, Scale: 2}, from)
	MOVLQSX(Mem{Base: to, Index: from, Scale: 4}, row)
	IMULQ(l.bytes, row)
	IMULQ(l.bytes, from)
	ADDQ(dst, row)
	ADDQ(src, from)
	XORQ(at, at)
	Label(line)
	PREFETCHT1(Mem{Base: row, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: from, Index: at, Scale: 1})
	ADDQ(Imm(lineBytes), at)
	CMPQ(at, l.bytes)
	JL(LabelRef(line))
	Label(none)
}

// columns writes the loop over the elements of a row, eight at a time.
func (l *list) columns(body func(load func(base reg.GPVirtual) vec, store func(vec, reg.GPVirtual))) {
	again, tail, done := fresh("columns"), fresh("tail"), fresh("done")
	j := GP64()
	XORQ(j, j)
	CMPQ(j, l.whole)
	JGE(LabelRef(tail))
	Label(again)
	at := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: j, Scale: 4} }
	part := func(k int) {
		at := func(base reg.GPVirtual) Mem { return at(base).Offset(4 * lanes * k) }
		body(func(base reg.GPVirtual) vec { return get(at(base)) }, func(v vec, base reg.GPVirtual) { VMOVUPS(v, at(base)) })
	}
	part(0)
	ADDQ(Imm(lanes), j)
	CMPQ(j, l.whole)
	JL(LabelRef(again))
	Label(tail)
	TESTQ(l.rest, l.rest)
	JZ(LabelRef(done))
	body(func(base reg.GPVirtual) vec {
		v := YMM()
		VMASKMOVPS(at(base), l.mask, v)
		return v
	}, func(v vec, base reg.GPVirtual) { storeFirst(v, l.rest, at(base)) })
	Label(done)
}

// groups writes the kernels on runs of d elements with a number for each run.
func groups() {
	for _, k := range []struct {
		name, signature string
		row             func(c, x, y vec) vec // of the run's number, x and what stands in y
	}{
		{"spread", "func(y, c *float32, n, d int)", func(c, _, _ vec) vec { return c }},
		{"spreadAdd", "func(y, c *float32, n, d int)", func(c, _, y vec) vec { return add(c, y) }},
		{"scaleGroups", "func(y, c, x *float32, n, d int)", func(c, x, _ vec) vec { return mul(c, x) }},
		{"axpyGroups", "func(y, c, x *float32, n, d int)", func(c, x, y vec) vec { VFMADD231PS(c, x, y); return y }},
	} {
		start(k.name+"AVX2", k.signature, k.name+"AVX2 works on n runs of d elements.")
		r := newRuns()
		y, c := param("y"), param("c")
		x := y
		if k.name == "scaleGroups" || k.name == "axpyGroups" {
			x = param("x")
		}
		r.eights(func(u int) {
			number := YMM()
			VBROADCASTSS(Mem{Base: c, Disp: 4 * u}, number)
			var vx, vy vec
			if x != y {
				vx = get(Mem{Base: x, Disp: 32 * u})
			}
			if k.name == "spreadAdd" || k.name == "axpyGroups" {
				vy = get(Mem{Base: y, Disp: 32 * u})
			}
			VMOVUPS(k.row(number, vx, vy), Mem{Base: y, Disp: 32 * u})
		}, func(times int) {
			ADDQ(U32(uint32(32*times)), y)
			if x != y {
				ADDQ(U32(uint32(32*times)), x)
			}
			ADDQ(Imm(uint64(4*times)), c)
		})
		r.each(func() {
			number := YMM()
			VBROADCASTSS(Mem{Base: c}, number)
			r.elements(func(at func(reg.GPVirtual) Mem, mask vec) {
				var vx, vy vec
				if x != y {
					vx = r.load(at(x), mask)
				}
				if k.name == "spreadAdd" || k.name == "axpyGroups" {
					vy = r.load(at(y), mask)
				}
				v := k.row(number, vx, vy)
				if mask == nil {
					VMOVUPS(v, at(y))
					return
				}
				kept := YMM()
				VMOVAPS(v, kept)
				storeFirst(kept, r.rest, at(y))
			})
			ADDQ(r.bytes, y)
			if x != y {
				ADDQ(r.bytes, x)
			}
			ADDQ(Imm(4), c)
		})
		finish()
	}
	for _, name := range []string{"dotGroups", "sumGroups"} {
		signature := "func(y, x, z *float32, n, d int)"
		if name == "sumGroups" {
			signature = "func(y, x *float32, n, d int)"
		}
		start(name+"AVX2", signature, name+"AVX2 works on n runs of d elements.")
		r := newRuns()
		y, x := param("y"), param("x")
		var z reg.GPVirtual
		if name == "dotGroups" {
			z = param("z")
		}
		r.eights(func(u int) {
			v := get(Mem{Base: x, Disp: 32 * u})
			if name == "dotGroups" {
				v = mul(v, Mem{Base: z, Disp: 32 * u})
			}
			total := across(v)
			VADDSS(Mem{Base: y, Disp: 4 * u}, total, total)
			VMOVSS(total, Mem{Base: y, Disp: 4 * u})
		}, func(times int) {
			ADDQ(U32(uint32(32*times)), x)
			if name == "dotGroups" {
				ADDQ(U32(uint32(32*times)), z)
			}
			ADDQ(Imm(uint64(4*times)), y)
		})
		r.each(func() {
			acc := YMM()
			VXORPS(acc, acc, acc)
			r.elements(func(at func(reg.GPVirtual) Mem, mask vec) {
				v := r.load(at(x), mask)
				if name == "dotGroups" {
					VFMADD231PS(r.load(at(z), mask), v, acc)
				} else {
					VADDPS(v, acc, acc)
				}
			})
			total := across(acc)
			VADDSS(Mem{Base: y}, total, total)
			VMOVSS(total, Mem{Base: y})
			ADDQ(r.bytes, x)
			if name == "dotGroups" {
				ADDQ(r.bytes, z)
			}
			ADDQ(Imm(4), y)
		})
		finish()
	}
}

// across is the sum of the lanes.
func across(v vec) reg.VecVirtual {
	high, x := XMM(), v.AsX()
	VEXTRACTF128(Imm(1), v, high)
	sum := XMM()
	VADDPS(high, x, sum)
	turned := XMM()
	VMOVHLPS(sum, sum, turned)
	VADDPS(turned, sum, sum)
	last := XMM()
	VMOVSHDUP(sum, last)
	VADDSS(last, sum, sum)
	return sum
}

// runs is a kernel over n runs of d elements.
type runs struct {
	n, whole, rest, bytes reg.GPVirtual
	mask                  vec
	done                  string // the label behind the last run
}

func newRuns() *runs {
	r := &runs{whole: GP64(), rest: GP64(), bytes: GP64()}
	r.n = param("n")
	d := param("d")
	MOVQ(d, r.rest)
	ANDQ(Imm(lanes-1), r.rest)
	MOVQ(d, r.whole)
	SUBQ(r.rest, r.whole)
	MOVQ(d, r.bytes)
	SHLQ(Imm(2), r.bytes)
	r.mask = maskOf(r.rest)
	return r
}

// eights writes the loop over runs of exactly eight elements, which are most
// heads, without the one over a run's elements: four runs at a time, as long as
// there are four. The others are left to each.
func (r *runs) eights(body func(u int), next func(times int)) {
	others, again, over, done := fresh("others"), fresh("eights"), fresh("over"), fresh("none")
	CMPQ(r.bytes, Imm(4*lanes))
	JNE(LabelRef(others))
	SUBQ(Imm(4), r.n)
	JL(LabelRef(over))
	Label(again)
	for u := range 4 {
		body(u)
	}
	next(4)
	SUBQ(Imm(4), r.n)
	JGE(LabelRef(again))
	Label(over)
	ADDQ(Imm(4), r.n)
	JNZ(LabelRef(others))
	JMP(LabelRef(done))
	Label(others)
	r.done = done
}

// each writes the loop over the runs that are left; n is not 0.
func (r *runs) each(body func()) {
	again := fresh("run")
	Label(again)
	body()
	DECQ(r.n)
	JNZ(LabelRef(again))
	Label(r.done)
}

func (r *runs) load(m Mem, mask vec) vec {
	if mask == nil {
		return get(m)
	}
	v := YMM()
	VMASKMOVPS(m, mask, v)
	return v
}

// elements writes the loop over a run's elements, eight at a time; mask is nil
// but for the last few.
func (r *runs) elements(body func(at func(reg.GPVirtual) Mem, mask vec)) {
	again, tail, done := fresh("again"), fresh("tail"), fresh("done")
	j := GP64()
	XORQ(j, j)
	at := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: j, Scale: 4} }
	CMPQ(j, r.whole)
	JGE(LabelRef(tail))
	Label(again)
	body(at, nil)
	ADDQ(Imm(lanes), j)
	CMPQ(j, r.whole)
	JL(LabelRef(again))
	Label(tail)
	TESTQ(r.rest, r.rest)
	JZ(LabelRef(done))
	body(at, r.mask)
	Label(done)
}

// columns writes the reductions of rows to one, column by column.
func columns() {
	start("addRowsAVX2", "func(y, x *float32, rows, stride, w int)", "addRowsAVX2 is AddRows of w ≤ 8 columns.")
	s := newStripe("x")
	sum := s.fixed("y")
	s.run(func() { VADDPS(s.load("x"), sum, sum) })
	s.keep(sum, "y")
	finish()

	start("addRows32AVX2", "func(y, x *float32, rows, stride int)", "addRows32AVX2 is AddRows of 32 columns.")
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	rows, stride := Load(Param("rows"), GP64()), Load(Param("stride"), GP64())
	SHLQ(Imm(2), stride)
	var acc [4]vec
	for i := range acc {
		acc[i] = get(Mem{Base: y, Disp: 32 * i})
	}
	again := fresh("row")
	Label(again)
	for i := range acc {
		VADDPS(Mem{Base: x, Disp: 32 * i}, acc[i], acc[i])
	}
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef(again))
	for i := range acc {
		VMOVUPS(acc[i], Mem{Base: y, Disp: 32 * i})
	}
	finish()

	for _, k := range []struct {
		name   string
		better uint64
	}{{"most", greater}, {"least", less}} {
		start(k.name+"RowsAVX2", "func(best *float32, arg *int32, x *float32, rows, stride, w, from int)", k.name+"RowsAVX2 is BestRows of w ≤ 8 columns.")
		s := newStripe("x")
		best, arg := s.fixed("best"), s.fixed("arg")
		number, one := YMM(), wide(1)
		first := XMM()
		VMOVD(param("from").As32(), first)
		VPBROADCASTD(first, number)
		s.run(func() {
			v := s.load("x")
			nan := andNot(compare(unorder, best, best), compare(unorder, v, v))
			take := or(or(compare(k.better, v, best), nan), arg) // what has no winner yet has the sign bit set
			VBLENDVPS(take, v, best, best)
			VBLENDVPS(take, number, arg, arg)
			VPADDD(one, number, number)
		})
		s.keep(best, "best")
		s.keep(arg, "arg")
		finish()
	}
}
