package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gatv2By8 takes rows in registers of eight lanes, one head in each, and one edge at a
// time. There are not enough registers for all: a destination's sums of weights and
// gradients are in the struct.
type gatv2By8 struct {
	*gatv2
	acc          []Vec         // the row of the result
	r, work, sum reg.GPVirtual // rows of R, Work and Sum
	c            Vec           // Σ α·dα
}

// head8 is the register of head h in the row at base.
func head8(base reg.GPVirtual, h int) Mem { return Mem{Base: base, Disp: 32 * h} }

// leaky is LeakyReLU of the sum of the ends of head h, of which x is the source's,
// and lost.
func (s *gatv2By8) leaky(h int, x Vec) Vec {
	VADDPS(head8(s.v, h), x, x)
	return Higher(Mul(x, s.Field("slope")), x)
}

// track takes scores into the largest magnitude.
func (s *gatv2By8) track(z Vec) {
	large := Magnitude(z)
	VPMAXUD(s.Field("top"), large, large)
	VMOVDQU(large, s.Field("top"))
}

// allInRange goes to stop if a score is out of range, or NaN.
func (s *gatv2By8) allInRange(stop string) {
	overflow, bits := Get(s.Field("top")), GP32()
	VPCMPGTD(Wide(math.Float32bits(float32(ConstantOf("GATv2InRange")))), overflow, overflow)
	VMOVMSKPS(overflow, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(stop))
}

func (s *gatv2By8) open() {}

func (s *gatv2By8) start() {
	s.acc = make([]Vec, Lanes)
	zero(s.acc)
	clean := YMM()
	VXORPS(clean, clean, clean)
	VMOVUPS(clean, s.Field("sum"))
	VMOVUPS(clean, s.Field("top"))
}

func (s *gatv2By8) attendEdges() {
	s.edges(func() {
		s.fetch(1)
		// The score: multiply LeakyReLU of the ends by A, and sum over each head.
		var terms totaller
		for h := range Lanes {
			terms.take(Mul(s.leaky(h, Get(head8(s.u, h))), head8(s.a, h)))
		}
		z := terms.totals()
		s.track(z)
		// The weight, its sum, and the source's row times the weight.
		p := ExpOrdinary(z)
		VMOVUPS(Add(p, s.Field("sum")), s.Field("sum"))
		toAll(p, func(h int, f Vec) { VFMADD231PS(head8(s.u, h), f, s.acc[h]) })
	})
}

func (s *gatv2By8) result() {
	// One over the sum, or 0 where there are no edges.
	sum := Get(s.Field("sum"))
	inverse := Div(Get(Num(1)), sum)
	inverse = AndNot(Compare(Equal, sum, Num(0)), inverse)
	// The statistics: the sum, and 0 for the largest score.
	VMOVUPS(sum, Mem{Base: s.Word("Sum")})
	VXORPS(sum, sum, sum)
	VMOVUPS(sum, Mem{Base: s.Word("Top")})
	// Divide, add the bias, store.
	toAll(inverse, func(h int, f Vec) {
		VMULPS(f, s.acc[h], s.acc[h])
		VADDPS(s.Field("add").Offset(32*h), s.acc[h], s.acc[h])
	})
	StoreStream(s.Field("stream"), s.acc, s.Word("Y"))
	ADDQ(U32(256), s.Field("Y"))
}

func (s *gatv2By8) startBack() {
	s.r, s.work, s.sum, s.c = s.Word("R"), s.Word("Work"), s.Word("Sum"), YMM()
	VXORPS(s.c, s.c, s.c)
	VMOVUPS(s.c, s.Field("top"))
}

func (s *gatv2By8) weighEdges() {
	s.edges(func() {
		s.fetch(1)
		// The score again, and the product of the source's row with the gradient of the result.
		var scores, dots totaller
		for h := range Lanes {
			x := Get(head8(s.u, h))
			dots.take(Mul(x, head8(s.r, h)))
			scores.take(Mul(s.leaky(h, x), head8(s.a, h)))
		}
		g := dots.totals()
		z := scores.totals()
		s.track(z)
		// The softmax and its gradient, to Work; their product to the sum.
		alpha := Div(ExpOrdinary(z), Mem{Base: s.sum})
		VMOVUPS(alpha, Mem{Base: s.work})
		VMOVUPS(g, Mem{Base: s.work, Disp: 32})
		ADDQ(Imm(64), s.work)
		VFMADD231PS(g, alpha, s.c)
	})
}

// grads takes four heads at a time, for which there are registers.
func (s *gatv2By8) grads() {
	VMOVUPS(s.c, s.Field("sum"))
	for half := range 2 {
		s.back(half)
	}
}

// back adds up the gradients of four heads' ends over the destination's edges. The
// first half writes what is kept of each edge.
func (s *gatv2By8) back(half int) {
	da, sum := make([]Vec, 4), make([]Vec, 4)
	zero(sum)
	for i, grads := 0, s.Word("DA"); i < 4; i++ {
		da[i] = Get(head8(grads, 4*half+i))
	}
	// Back to the first edge.
	MOVQ(Mem{Base: s.Word("Offsets")}, s.k)
	at, place := s.Word("Work"), s.Word("Places")
	slope, one := Get(s.Field("slope")), Get(Num(1))
	s.edges(func() {
		// Where the edge's signs and pairs go.
		to, signs := GP64(), GP64()
		MOVLQSX(Mem{Base: place}, to)
		ADDQ(Imm(4), place)
		MOVQ(s.Field("Signs"), signs)
		LEAQ(Mem{Base: signs, Index: to, Scale: 8}, signs)
		if half == 0 {
			SHLQ(Imm(6), to)
			ADDQ(s.Field("Z"), to)
			// ds = α·(dα − Σ α·dα), which replaces dα in Work.
			alpha := Get(Mem{Base: at})
			d := Get(Mem{Base: at, Disp: 32})
			VSUBPS(s.Field("sum"), d, d)
			VMULPS(alpha, d, d)
			VMOVUPS(d, Mem{Base: at, Disp: 32})
			// The pairs (ds, α) of the eight heads, in order.
			low, high, front := YMM(), YMM(), YMM()
			VUNPCKLPS(alpha, d, low)
			VUNPCKHPS(alpha, d, high)
			VPERM2F128(Imm(0x20), high, low, front)
			VPERM2F128(Imm(0x31), high, low, low)
			VMOVUPS(front, Mem{Base: to})
			VMOVUPS(low, Mem{Base: to, Disp: 32})
		}
		// Of each head ds times the slope, summed for the destination and, times the
		// sum of the ends, for A; and a bit for each element.
		bits := GP32()
		for i := range 4 {
			h := 4*half + i
			z := Add(Get(head8(s.v, h)), head8(s.u, h))
			positive := Compare(Greater, z, Num(0))
			g := YMM()
			VBROADCASTSS(Mem{Base: at, Disp: 32 + 4*h}, g)
			q := Mul(Pick(positive, one, slope), g)
			VADDPS(q, sum[i], sum[i])
			VFMADD231PS(q, z, da[i])
			b := GP32()
			if i == 0 {
				VMOVMSKPS(positive, bits)
				continue
			}
			VMOVMSKPS(positive, b)
			SHLL(Imm(uint64(8*i)), b)
			ORL(b, bits)
		}
		MOVL(bits, Mem{Base: signs, Disp: 4 * half})
		ADDQ(Imm(64), at)
	})
	// Store: DA as it has become, DV with its sums times A.
	grads, dv := s.Word("DA"), s.Word("DV")
	for i := range da {
		h := 4*half + i
		VMOVUPS(da[i], head8(grads, h))
		x := Get(head8(dv, h))
		VFMADD231PS(head8(s.a, h), sum[i], x)
		VMOVUPS(x, head8(dv, h))
	}
	if half == 1 {
		MOVQ(place, s.Field("Places"))
	}
}
