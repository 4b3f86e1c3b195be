package spmm

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Segments writes the kernels of Segments for rows of eight numbers.
func Segments() {
	softmaxSegments()
	softmaxGradSegments()
}

// segmented is a kernel on Segments of rows of eight numbers.
type segmented struct{ Args }

func newSegments(name, doc string) segmented {
	return segmented{StartOn("Segments", name, "", name+" is "+doc+" of 8 numbers an edge.")}
}

// softmaxSegments writes Segments.Softmax. Where Y is stored past the caches, the
// weights of a short segment wait in Work for their sum.
//
//	Y[k,j] = exp(X[k,j] − top)/Σ_k exp(X[k,j] − top)    top = max_k X[k,j]
func softmaxSegments() {
	t := newSegments("softmaxSegments8", "Segments.Softmax")
	x, y, work := t.Word("X"), t.Word("Y"), t.Word("Work")
	t.segments(func(at, end reg.GPVirtual) {
		short, next := Fresh("short"), Fresh("next")
		// The maximum of each column.
		top, first, n := Get(Num(math.Inf(-1))), GP64(), GP64()
		MOVQ(at, first)
		walk(at, end, func() { VMAXPS(top, Get(Mem{Base: x, Index: at, Scale: 1}), top) })
		MOVQ(first, at)
		top = AndNot(Compare(Equal, top, Num(math.Inf(-1))), top) // under which −∞ weighs nothing too
		// A segment that is too long to wait is written twice:
		MOVQ(end, n)
		SUBQ(at, n)
		CMPQ(n, t.Field("stream"))
		JLE(LabelRef(short))

		// exponentials to Y, their sum, and quotients in place.
		sum := YMM()
		VXORPS(sum, sum, sum)
		to := Mem{Base: y, Index: at, Scale: 1}
		walk(at, end, func() {
			p := weightBelow(Get(Mem{Base: x, Index: at, Scale: 1}), top)
			VADDPS(p, sum, sum)
			VMOVUPS(p, to)
		})
		MOVQ(first, at)
		by := overSum(sum)
		walk(at, end, func() { VMOVUPS(Mul(by, to), to) })
		JMP(LabelRef(next))

		// A short one: exponentials to Work, quotients past the caches.
		Label(short)
		VXORPS(sum, sum, sum)
		here := GP64()
		MOVQ(work, here)
		walk(at, end, func() {
			p := weightBelow(Get(Mem{Base: x, Index: at, Scale: 1}), top)
			VADDPS(p, sum, sum)
			VMOVUPS(p, Mem{Base: here})
			ADDQ(Imm(32), here)
		})
		MOVQ(first, at)
		MOVQ(work, here)
		by = overSum(sum)
		walk(at, end, func() {
			VMOVNTPS(Mul(by, Mem{Base: here}), to)
			ADDQ(Imm(32), here)
		})
		Label(next)
	})
	FenceStream(t.Field("stream"))
	Finish()
}

// weightBelow is weight for a top that is not −∞.
func weightBelow(s, top Vec) Vec {
	return ExpDown(AndNot(Compare(Equal, s, top), Sub(s, top)))
}

// overSum is what weights are multiplied by: 1/sum, or 1 where all are zero.
func overSum(sum Vec) Vec {
	return Div(Get(Num(1)), Pick(Compare(Equal, sum, Num(0)), Get(Num(1)), sum))
}

// softmaxGradSegments writes Segments.SoftmaxGrad, once for gradients that are
// added to, set, and set past the caches.
//
//	D[k,j] += Y[k,j]·(X[k,j] − Σ_k Y[k,j]·X[k,j])
func softmaxGradSegments() {
	t := newSegments("softmaxGradSegments8", "Segments.SoftmaxGrad")
	set, past, done := Fresh("set"), Fresh("past"), Fresh("done")
	x, y, d := t.Word("X"), t.Word("Y"), t.Word("D")
	zero := Get(Num(0))
	CMPQ(t.Field("stream"), Imm(0))
	JNE(LabelRef(past))
	CMPQ(t.Field("Set"), Imm(0))
	JNE(LabelRef(set))
	loop := func(put func(g, y Vec, to Mem)) {
		t.segments(func(at, end reg.GPVirtual) {
			// First pass: the inner product of result and gradient.
			c, first := YMM(), GP64()
			VXORPS(c, c, c)
			MOVQ(at, first)
			walk(at, end, func() {
				VFMADD231PS(Mem{Base: x, Index: at, Scale: 1}, Get(Mem{Base: y, Index: at, Scale: 1}), c)
			})
			// Second pass: the gradient.
			MOVQ(first, at)
			walk(at, end, func() {
				g := Sub(Get(Mem{Base: x, Index: at, Scale: 1}), c)
				put(g, Get(Mem{Base: y, Index: at, Scale: 1}), Mem{Base: d, Index: at, Scale: 1})
			})
		})
	}
	loop(func(g, y Vec, to Mem) {
		VFMADD213PS(to, y, g)
		VMOVUPS(g, to)
	})
	JMP(LabelRef(done))
	Label(set)
	loop(func(g, y Vec, to Mem) {
		VFMADD213PS(zero, y, g)
		VMOVUPS(g, to)
	})
	JMP(LabelRef(done))
	Label(past)
	loop(func(g, y Vec, to Mem) {
		VFMADD213PS(zero, y, g)
		VMOVNTPS(g, to)
	})
	SFENCE()
	Label(done)
	Finish()
}

// segments writes a loop over the segments that are not empty, whose bounds are
// in bytes.
func (t segmented) segments(body func(at, end reg.GPVirtual)) {
	t.Rows(func(k, end reg.GPVirtual) {
		empty := Fresh("empty")
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
	again := Fresh("walk")
	Label(again)
	body()
	ADDQ(Imm(32), at)
	CMPQ(at, end)
	JL(LabelRef(again))
}
