package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of simd.Segments are; a test compares them.
const segX, segY, segD = 24, 48, 72

// segments writes the kernels of simd.Segments for rows of eight numbers.
func segments() {
	t := newTile("softmaxSegments", 8, "Segments.Softmax")
	x, y := t.get(segX), t.get(segY)
	t.segments(func(at, end reg.GPVirtual) {
		top, sum, first := get(num(math.Inf(-1))), YMM(), GP64()
		VXORPS(sum, sum, sum)
		MOVQ(at, first)
		walk(at, end, func() { VMAXPS(top, get(Mem{Base: x, Index: at, Scale: 1}), top) })
		MOVQ(first, at)
		walk(at, end, func() {
			p := weight(get(Mem{Base: x, Index: at, Scale: 1}), top)
			VADDPS(p, sum, sum)
			VMOVUPS(p, Mem{Base: y, Index: at, Scale: 1})
		})
		by := pick(compare(equal, sum, num(0)), get(num(1)), sum)
		MOVQ(first, at)
		walk(at, end, func() {
			VMOVUPS(div(get(Mem{Base: y, Index: at, Scale: 1}), by), Mem{Base: y, Index: at, Scale: 1})
		})
	})
	finish()

	t = newTile("softmaxGradSegments", 8, "Segments.SoftmaxGrad")
	x, y = t.get(segX), t.get(segY)
	d := t.get(segD)
	t.segments(func(at, end reg.GPVirtual) {
		c, first := YMM(), GP64()
		VXORPS(c, c, c)
		MOVQ(at, first)
		walk(at, end, func() {
			VFMADD231PS(Mem{Base: x, Index: at, Scale: 1}, get(Mem{Base: y, Index: at, Scale: 1}), c)
		})
		MOVQ(first, at)
		walk(at, end, func() {
			g := sub(get(Mem{Base: x, Index: at, Scale: 1}), c)
			VFMADD213PS(Mem{Base: d, Index: at, Scale: 1}, get(Mem{Base: y, Index: at, Scale: 1}), g)
			VMOVUPS(g, Mem{Base: d, Index: at, Scale: 1})
		})
	})
	finish()
}

// segments writes a loop over the segments that are not empty, whose bounds are
// in bytes.
func (t *tile) segments(body func(at, end reg.GPVirtual)) {
	t.rows(func(k, end reg.GPVirtual) {
		empty := fresh("empty")
		SHLQ(Imm(5), k)
		SHLQ(Imm(5), end)
		CMPQ(k, end)
		JE(LabelRef(empty))
		body(k, end)
		Label(empty)
	})
}

// walk writes a loop over the rows of eight numbers from at to end.
func walk(at, end reg.GPVirtual, body func()) {
	again := fresh("walk")
	Label(again)
	body()
	ADDQ(Imm(32), at)
	CMPQ(at, end)
	JL(LabelRef(again))
}
