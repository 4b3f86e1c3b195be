package spmm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// EdgeDots writes the kernels that take inner products at the nonzeros: of one
// head's columns, or a number for each of several heads whose width is a
// multiple of a register. The output's row is that of Y here, and the weights' is
// that of the result.
func EdgeDots() {
	g := newGather("edgeDotAVX2", "a tile of EdgeDot.AddRows, within one head.", ofEdge, 1)
	g.shapes(shapes{whole: 8, cut: 8}, g.dot)
	for _, heads := range []int{4, 8} {
		for _, share := range []int{1, 2, 4} {
			name := fmt.Sprintf("edgeDot%dx%dAVX2", heads, share*Lanes)
			g = newGather(name, "EdgeDot.AddRows of so many heads of such a width.", ofEdge, share)
			g.nv = heads * share
			g.dotsWays(heads)
			Finish()
		}
	}
}

// ApartDots writes the inner products of a row of X and those of four heads, whose columns
// come in whole registers.
//
//	Z[k,h] += ⟨Y[h,i,:], X[Cols[k],:]⟩
func ApartDots() {
	g := newGather("edgeDotApart4AVX2", "EdgeDot.AddRows of four heads that are apart.", ofEdge, 1)
	const heads = 4
	apart, keep, add := g.Word("apart"), XMM(), Fresh("add")
	VXORPS(keep, keep, keep) // what is kept of Z: nothing where it is set
	CMPQ(g.Field("set"), Imm(0))
	JNE(LabelRef(add))
	VPCMPEQD(keep, keep, keep)
	Label(add)
	g.nv = 8 // of a row that is fetched ahead
	g.rows(func(string) {}, func() {
		near, far, left, again := GP64(), GP64(), g.Word("shape"), Fresh("columns")
		MOVQ(g.out, near)
		LEAQ(Mem{Base: near, Index: apart, Scale: 2}, far)
		sum := make([]Vec, heads)
		for h := range sum {
			y := YMM()
			VXORPS(y, y, y)
			sum[h] = y
		}
		Label(again)
		x := Get(Mem{Base: rowOfX})
		for h, from := range []Mem{{Base: near}, {Base: near, Index: apart, Scale: 1}, {Base: far}, {Base: far, Index: apart, Scale: 1}} {
			VFMADD231PS(from, x, sum[h])
		}
		for _, at := range []reg.Register{rowOfX, near, far} {
			ADDQ(Imm(4*Lanes), at)
		}
		DECQ(left)
		JNZ(LabelRef(again))
		x4, high, was := Pairwise(Pairwise(sum[0], sum[1]), Pairwise(sum[2], sum[3])), XMM(), XMM()
		VEXTRACTF128(Imm(1), x4, high)
		VADDPS(high, x4.AsX(), x4.AsX())
		VANDPS(Mem{Base: rowOfW}, keep, was)
		VADDPS(was, x4.AsX(), x4.AsX())
		VMOVUPS(x4.AsX(), Mem{Base: rowOfW})
	}, func() {})
	Finish()
}

// dot is one inner product a nonzero.
//
//	Z[k] += ⟨Y[i,:], X[Cols[k],:]⟩
func (g *gather) dot() {
	y := make([]Vec, g.nv)
	// The row of Y stays in registers.
	open := func(string) {
		for v := range y {
			y[v] = g.get(g.out, v)
		}
	}
	each := func() {
		// Multiply-accumulate in two chains.
		sum := []Vec{Mul(y[0], g.operand(rowOfX, 0))}
		if g.nv > 1 {
			sum = append(sum, Mul(y[1], g.operand(rowOfX, 1)))
		}
		for v := 2; v < g.nv; v++ {
			VFMADD231PS(g.operand(rowOfX, v), y[v], sum[v%2])
		}
		if g.nv > 1 {
			VADDPS(sum[1], sum[0], sum[0])
		}
		// Horizontal sum; add to the nonzero's number.
		high, x := XMM(), sum[0].AsX()
		VEXTRACTF128(Imm(1), sum[0], high)
		VADDPS(high, x, x)
		VHADDPS(x, x, x)
		VHADDPS(x, x, x)
		VADDSS(Mem{Base: rowOfW}, x, x)
		VMOVSS(x, Mem{Base: rowOfW})
	}
	g.rows(open, each, func() {})
}

// dotsWays writes dots for sums that are added to, set, and set past the caches.
func (g *gather) dotsWays(heads int) {
	set, past, done := Fresh("set"), Fresh("past"), Fresh("done")
	CMPQ(g.Field("stream"), Imm(0))
	JNE(LabelRef(past))
	CMPQ(g.Field("set"), Imm(0))
	JNE(LabelRef(set))
	g.dots(heads, func(x reg.Register) {
		VADDPS(Mem{Base: rowOfW}, x, x)
		VMOVUPS(x, Mem{Base: rowOfW})
	})
	JMP(LabelRef(done))
	Label(set)
	g.dots(heads, func(x reg.Register) {
		VADDPS(Num(0), x, x) // −0 is 0 then, as beside zeros that are added to
		VMOVUPS(x, Mem{Base: rowOfW})
	})
	JMP(LabelRef(done))
	Label(past)
	g.dots(heads, func(x reg.Register) {
		VADDPS(Num(0), x, x)
		VMOVNTPS(x, Mem{Base: rowOfW})
	})
	SFENCE()
	Label(done)
}

// dots is an inner product for each of 4 or 8 heads.
//
//	Z[k,h] += ⟨Y[i,h,:], X[Cols[k],h,:]⟩
func (g *gather) dots(heads int, put func(reg.Register)) {
	g.rows(func(string) { g.fetchOut() }, func() {
		// A register of products a head, folded by pairs.
		sum := g.products(heads)
		for n := heads; n > 2; n /= 2 {
			for i := range n / 2 {
				sum[i] = Pairwise(sum[2*i], sum[2*i+1])
			}
		}
		if heads == 8 { // the low halves have half of each sum, the high ones the other
			put(Halves(sum[0], sum[1]))
			return
		}
		// Four heads: add the upper half to the lower.
		x, high := Pairwise(sum[0], sum[1]), XMM()
		VEXTRACTF128(Imm(1), x, high)
		VADDPS(high, x.AsX(), x.AsX())
		put(x.AsX())
	}, func() {})
}

// fetchOut asks for a row of Y that is needed some rows later: between rows here
// and there the processor does not see that these are read in turn.
func (g *gather) fetchOut() {
	near, at := Fresh("near"), g.Word("outs")
	CMPQ(g.Field("far"), Imm(0))
	JE(LabelRef(near))
	SHLQ(Imm(rowsAhead), at)
	ADDQ(g.out, at)
	prefetch(at, 4*Lanes*g.nv)
	Label(near)
}

// rowsAhead is the logarithm of how many.
const rowsAhead = 3

// products multiplies the heads' columns, a register of sums a head.
func (g *gather) products(heads int) []Vec {
	sum := make([]Vec, heads)
	for h := range sum {
		sum[h] = Mul(Get(Column(g.out, h*g.share)), Column(rowOfX, h*g.share))
		for v := h*g.share + 1; v < (h+1)*g.share; v++ {
			VFMADD231PS(Column(rowOfX, v), Get(Column(g.out, v)), sum[h])
		}
	}
	return sum
}
