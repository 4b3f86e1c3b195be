package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// segments writes the kernels of simd.Segments for rows of eight numbers.
func segments() {
	softmaxSegments()
	softmaxGradSegments()
}

// softmaxSegments writes Segments.Softmax. Where Y is stored past the caches, the
// weights of a short segment wait in Work for their sum.
func softmaxSegments() {
	t := newTile("Segments", "softmaxSegments", 8, "Segments.Softmax")
	x, y, work := t.word("X"), t.word("Y"), t.word("Work")
	t.segments(func(at, end reg.GPVirtual) {
		short, next := fresh("short"), fresh("next")
		top, first, n := get(num(math.Inf(-1))), GP64(), GP64()
		MOVQ(at, first)
		walk(at, end, func() { VMAXPS(top, get(Mem{Base: x, Index: at, Scale: 1}), top) })
		MOVQ(first, at)
		top = andNot(compare(equal, top, num(math.Inf(-1))), top) // under which −∞ weighs nothing too
		MOVQ(end, n)
		SUBQ(at, n)
		CMPQ(n, t.field("stream"))
		JLE(LabelRef(short))

		sum := YMM()
		VXORPS(sum, sum, sum)
		to := Mem{Base: y, Index: at, Scale: 1}
		walk(at, end, func() {
			p := weightBelow(get(Mem{Base: x, Index: at, Scale: 1}), top)
			VADDPS(p, sum, sum)
			VMOVUPS(p, to)
		})
		MOVQ(first, at)
		by := overSum(sum)
		walk(at, end, func() { VMOVUPS(mul(by, to), to) })
		JMP(LabelRef(next))

		Label(short)
		VXORPS(sum, sum, sum)
		here := GP64()
		MOVQ(work, here)
		walk(at, end, func() {
			p := weightBelow(get(Mem{Base: x, Index: at, Scale: 1}), top)
			VADDPS(p, sum, sum)
			VMOVUPS(p, Mem{Base: here})
			ADDQ(Imm(32), here)
		})
		MOVQ(first, at)
		MOVQ(work, here)
		by = overSum(sum)
		walk(at, end, func() {
			VMOVNTPS(mul(by, Mem{Base: here}), to)
			ADDQ(Imm(32), here)
		})
		Label(next)
	})
	fencePast(t.field("stream"))
	finish()
}

// weightBelow is weight for a top that is not −∞.
func weightBelow(s, top vec) vec {
	return expDown(andNot(compare(equal, s, top), sub(s, top)))
}

// overSum is what weights are multiplied by: 1/sum, or 1 where all are zero.
func overSum(sum vec) vec {
	return div(get(num(1)), pick(compare(equal, sum, num(0)), get(num(1)), sum))
}

// softmaxGradSegments writes Segments.SoftmaxGrad, once for gradients that are
// added to, set, and set past the caches.
func softmaxGradSegments() {
	t := newTile("Segments", "softmaxGradSegments", 8, "Segments.SoftmaxGrad")
	set, past, done := fresh("set"), fresh("past"), fresh("done")
	x, y, d := t.word("X"), t.word("Y"), t.word("D")
	zero := get(num(0))
	CMPQ(t.field("stream"), Imm(0))
	JNE(LabelRef(past))
	CMPQ(t.field("Set"), Imm(0))
	JNE(LabelRef(set))
	loop := func(put func(g, y vec, to Mem)) {
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
				put(g, get(Mem{Base: y, Index: at, Scale: 1}), Mem{Base: d, Index: at, Scale: 1})
			})
		})
	}
	loop(func(g, y vec, to Mem) {
		VFMADD213PS(to, y, g)
		VMOVUPS(g, to)
	})
	JMP(LabelRef(done))
	Label(set)
	loop(func(g, y vec, to Mem) {
		VFMADD213PS(zero, y, g)
		VMOVUPS(g, to)
	})
	JMP(LabelRef(done))
	Label(past)
	loop(func(g, y vec, to Mem) {
		VFMADD213PS(zero, y, g)
		VMOVNTPS(g, to)
	})
	SFENCE()
	Label(done)
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
