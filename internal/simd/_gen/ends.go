package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ends writes the kernels of simd.Ends: of some heads of one register each,
// which is cut where a head ends before it.
func ends() {
	for _, cut := range []bool{false, true} {
		for _, n := range []int{8, 1} {
			newEnds("dotPairs", "DotPair.Pairs", endShape{n, cut}, "x, a, b, l, r").pairs()
		}
	}
	for _, s := range []endShape{{2, false}, {1, false}, {1, true}} {
		newEnds("dotPairGrads", "DotPair.Grad", s, "x, dx, a, b, da, db, l, r").grads()
	}
}

// endShape is how many heads a kernel has, and whether they are cut.
type endShape struct {
	heads int
	cut   bool
}

// endBlock is a kernel on rows of all heads, width elements each.
type endBlock struct {
	block
	width, count, across reg.GPVirtual // elements of a head; heads of a row, in bytes of numbers; a row, in bytes
	rows                 reg.GPVirtual
}

func newEnds(name, doc string, s endShape, pointers string) *endBlock {
	name = fmt.Sprintf("%s%d", name, s.heads)
	last := "."
	if s.cut {
		name, last = name+"cut", ", fewer than eight elements wide."
	}
	start(name, "func("+pointers+" *float32, rows, heads, width int)", fmt.Sprintf("%s is %s of rows > 0 rows of %d of the heads%s", name, doc, s.heads, last))
	e := &endBlock{block: block{nh: s.heads, nv: 1, cut: s.cut}, rows: param("rows"), count: param("heads"), width: param("width")}
	e.size, e.across = GP64(), GP64()
	if s.cut {
		e.mask = maskOf(e.width)
	}
	MOVQ(e.width, e.size)
	SHLQ(Imm(2), e.size)
	MOVQ(e.size, e.across)
	IMULQ(e.count, e.across)
	SHLQ(Imm(2), e.count)
	if s.heads > 2 {
		e.three = GP64()
		LEAQ(Mem{Base: e.size, Index: e.size, Scale: 2}, e.three)
	}
	return e
}

// each writes a loop over the rows, at all of which the pointers to rows and to
// numbers are moved on.
func (e *endBlock) each(rows, numbers []reg.GPVirtual, body func()) {
	Label("row")
	body()
	for _, p := range rows {
		ADDQ(e.across, p)
	}
	for _, p := range numbers {
		ADDQ(e.count, p)
	}
	DECQ(e.rows)
	JNZ(LabelRef("row"))
}

// one returns where each of one head or two is.
func (e *endBlock) one(base reg.GPVirtual) []Mem {
	return []Mem{{Base: base}, {Base: base, Disp: 4 * lanes}}[:e.nh]
}

// put stores a head; v is lost.
func (e *endBlock) put(v vec, m Mem) {
	if e.cut {
		storeFirst(v, e.width, m)
	} else {
		VMOVUPS(v, m)
	}
}

// pairs writes simd.Ends.Pairs. A sum is made in the order of Heads.Pairs.
func (e *endBlock) pairs() {
	x, l, r := param("x"), param("l"), param("r")
	if e.nh == 1 {
		e.pairsOfOne(x, l, r)
		return
	}
	a, b := e.heads(param("a")), e.heads(param("b"))
	e.each([]reg.GPVirtual{x}, []reg.GPVirtual{l, r}, func() {
		at := e.heads(x)
		VMOVUPS(e.product(at, a, alone), Mem{Base: l})
		VMOVUPS(e.product(at, b, alone), Mem{Base: r})
	})
	finish()
}

// pairsOfOne is pairs of one head: both products are added up together.
func (e *endBlock) pairsOfOne(x, l, r reg.GPVirtual) {
	a, b := e.load(Mem{Base: param("a")}, 0), e.load(Mem{Base: param("b")}, 0)
	e.each([]reg.GPVirtual{x}, []reg.GPVirtual{l, r}, func() {
		v := e.load(Mem{Base: x}, 0)
		half := func(y vec) reg.VecVirtual {
			p, high := YMM(), XMM()
			VMULPS(y, v, p)
			VEXTRACTF128(Imm(1), p, high)
			VADDPS(high, p.AsX(), high)
			return high
		}
		sum, other := half(a), half(b)
		VHADDPS(other, sum, sum)
		VHADDPS(sum, sum, sum)
		VMOVSS(sum, Mem{Base: l})
		VEXTRACTPS(Imm(1), sum, Mem{Base: r})
	})
	finish()
}

// grads writes simd.Ends.Grad.
func (e *endBlock) grads() {
	x, dx, l, r := param("x"), param("dx"), param("l"), param("r")
	rows := func(name string) (vs []vec) {
		for _, m := range e.one(param(name)) {
			vs = append(vs, e.load(m, 0))
		}
		return vs
	}
	a, b, da, db := rows("a"), rows("b"), rows("da"), rows("db")
	e.each([]reg.GPVirtual{x, dx}, []reg.GPVirtual{l, r}, func() {
		from, to := e.one(x), e.one(dx)
		for h := range e.nh {
			left, right := YMM(), YMM()
			VBROADCASTSS(Mem{Base: l, Disp: 4 * h}, left)
			VBROADCASTSS(Mem{Base: r, Disp: 4 * h}, right)
			v, dv := e.load(from[h], 0), e.load(to[h], 0)
			VFMADD231PS(right, b[h], dv)
			VFMADD231PS(left, a[h], dv)
			VFMADD231PS(left, v, da[h])
			VFMADD231PS(right, v, db[h])
			e.put(dv, to[h])
		}
	})
	for h, m := range e.one(param("da")) {
		e.put(da[h], m)
	}
	for h, m := range e.one(param("db")) {
		e.put(db[h], m)
	}
	finish()
}
