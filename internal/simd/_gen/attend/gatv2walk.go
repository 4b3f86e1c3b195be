package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// GATv2 writes the kernels of GATv2Walk.
func GATv2() {
	newGATv2("gatv2Attend", "GATv2Walk.Attend").attend()
	newGATv2("gatv2Retrace", "GATv2Walk.Retrace").retrace()
}

// gatv2 is a kernel on a GATv2Walk.
type gatv2 struct {
	edgeRows
	k, end, u, v, a reg.GPVirtual // the edge, that after the last, and rows
}

func newGATv2(name, doc string) *gatv2 {
	s := &gatv2{}
	s.Args = StartOn("GATv2Walk", name, "", name+" is "+doc+".")
	s.u, s.v, s.a = GP64(), s.Word("V"), s.Word("A")
	return s
}

func head8(base reg.GPVirtual, h int) Mem { return Mem{Base: base, Disp: 32 * h} }

// source finds the row of edge k's source.
func (s *gatv2) source(k, at reg.GPVirtual) {
	cols := s.Word("Cols")
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	SHLQ(Imm(8), at)
	ADDQ(s.Field("U"), at)
}

// fetch asks for the rows of the sources of some edges, as fan's does.
func (s *gatv2) fetch(edges int) {
	none, far := Fresh("near"), s.Word("ahead")
	TESTQ(far, far)
	JZ(LabelRef(none))
	ADDQ(s.k, far)
	CMPQ(far, s.Field("last"))
	JGE(LabelRef(none))
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: far, Disp: e}, row)
		s.request(row, PREFETCHT1)
	}
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: s.k, Disp: NearAhead + e}, row)
		s.request(row, PREFETCHT0)
	}
	Label(none)
}

// request asks for the row of edge e's source.
func (s *gatv2) request(e reg.GPVirtual, fetch func(Op)) {
	s.source(e, e)
	for l := range 4 {
		fetch(Mem{Base: e, Disp: LineBytes * l})
	}
}

// rows writes the loop over destinations, which goes to stop before one whose edges
// end beyond the most.
func (s *gatv2) rows(stop string, body func()) {
	row := Fresh("row")
	Label(row)
	offs := s.Word("Offsets")
	s.k, s.end = GP64(), GP64()
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, s.end)
	CMPQ(s.end, s.Field("most"))
	JG(LabelRef(stop))
	body()
	ADDQ(Imm(8), s.Field("Offsets"))
	ADDQ(U32(256), s.v)
	for _, f := range []string{"Top", "Sum"} {
		by := s.Word("Apart")
		SHLQ(Imm(2), by)
		ADDQ(by, s.Field(f))
	}
	DECQ(s.Field("left"))
	JNZ(LabelRef(row))
	Label(stop)
}

// edges writes a loop over the destination's edges, of which there are some.
func (s *gatv2) edges(body func()) {
	again := Fresh("edge")
	Label(again)
	s.source(s.k, s.u)
	body()
	INCQ(s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// leaky is LeakyReLU of the sum of the ends of head h, of which x is the source's,
// and lost.
func (s *gatv2) leaky(h int, x Vec) Vec {
	VADDPS(head8(s.v, h), x, x)
	return Higher(Mul(x, s.Field("slope")), x)
}

// track takes scores into the largest magnitude.
func (s *gatv2) track(z Vec) {
	large := Magnitude(z)
	VPMAXUD(s.Field("top"), large, large)
	VMOVDQU(large, s.Field("top"))
}

// allInRange goes to stop if a score is out of range, or NaN.
func (s *gatv2) allInRange(stop string) {
	overflow, bits := Get(s.Field("top")), GP32()
	VPCMPGTD(Wide(math.Float32bits(float32(ConstantOf("GATv2InRange")))), overflow, overflow)
	VMOVMSKPS(overflow, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(stop))
}

func (s *gatv2) attend() {
	stop := Fresh("stop")
	s.rows(stop, func() {
		acc := make([]Vec, Lanes)
		zero(acc)
		none := Fresh("none")
		clean := YMM()
		VXORPS(clean, clean, clean)
		VMOVUPS(clean, s.Field("sum"))
		VMOVUPS(clean, s.Field("top"))
		CMPQ(s.k, s.end)
		JGE(LabelRef(none))
		s.edges(func() {
			s.fetch(1)
			var terms totaller
			for h := range Lanes {
				terms.take(Mul(s.leaky(h, Get(head8(s.u, h))), head8(s.a, h)))
			}
			z := terms.totals()
			s.track(z)
			p := ExpOrdinary(z)
			VMOVUPS(Add(p, s.Field("sum")), s.Field("sum"))
			toAll(p, func(h int, f Vec) { VFMADD231PS(head8(s.u, h), f, acc[h]) })
		})
		s.allInRange(stop)
		Label(none)
		sum := Get(s.Field("sum"))
		inverse := Div(Get(Num(1)), sum)
		inverse = AndNot(Compare(Equal, sum, Num(0)), inverse) // of a row without edges
		VMOVUPS(sum, Mem{Base: s.Word("Sum")})
		VXORPS(sum, sum, sum)
		VMOVUPS(sum, Mem{Base: s.Word("Top")})
		toAll(inverse, func(h int, f Vec) {
			VMULPS(f, acc[h], acc[h])
			VADDPS(s.Field("add").Offset(32*h), acc[h], acc[h])
		})
		StoreStream(s.Field("stream"), acc, s.Word("Y"))
		ADDQ(U32(256), s.Field("Y"))
	})
	FenceStream(s.Field("stream"))
	Finish()
}

// ordinaryStats goes to stop where the statistics cannot be Attend's: the largest score
// is not 0, which that has for all it did, or the sum no ordinary number.
func (s *gatv2) ordinaryStats(stop string) {
	top, sum, bits := Get(Mem{Base: s.Word("Top")}), Get(Mem{Base: s.Word("Sum")}), GP32()
	fine := And(Compare(Equal, top, Num(0)), Compare(Less, sum, Num(math.Inf(1))))
	fine = And(fine, Compare(Greater, sum, Num(0)))
	VMOVMSKPS(fine, bits)
	CMPL(bits, U32(0xff))
	JNE(LabelRef(stop))
}

func (s *gatv2) retrace() {
	stop := Fresh("stop")
	s.rows(stop, func() {
		none, unread, some := Fresh("none"), Fresh("unread"), Fresh("some")
		CMPQ(s.k, s.end)
		JGE(LabelRef(unread))
		s.ordinaryStats(stop)
		JMP(LabelRef(some))
		Label(unread)
		s.emptyRow()
		JMP(LabelRef(none))
		Label(some)
		r, work, sum, c := s.Word("R"), s.Word("Work"), s.Word("Sum"), YMM()
		VXORPS(c, c, c)
		VMOVUPS(c, s.Field("top"))
		s.edges(func() {
			s.fetch(1)
			var scores, dots totaller
			for h := range Lanes {
				x := Get(head8(s.u, h))
				dots.take(Mul(x, head8(r, h)))
				scores.take(Mul(s.leaky(h, x), head8(s.a, h)))
			}
			g := dots.totals()
			z := scores.totals()
			s.track(z)
			alpha := Div(ExpOrdinary(z), Mem{Base: sum})
			VMOVUPS(alpha, Mem{Base: work})
			VMOVUPS(g, Mem{Base: work, Disp: 32})
			ADDQ(Imm(64), work)
			VFMADD231PS(g, alpha, c)
		})
		s.allInRange(stop)
		s.emptyRow()
		VMOVUPS(c, s.Field("sum"))
		for half := range 2 {
			s.back(half)
		}
		Label(none)
		ADDQ(U32(256), s.Field("R"))
		ADDQ(U32(256), s.Field("DV"))
	})
	Finish()
}

// emptyRow clears the row of DV, if it is not added to.
func (s *gatv2) emptyRow() {
	around, nothing, dv := Fresh("add"), YMM(), s.Word("DV")
	CMPB(s.Field("Set"), Imm(0))
	JE(LabelRef(around))
	VXORPS(nothing, nothing, nothing)
	for h := range Lanes {
		VMOVUPS(nothing, head8(dv, h))
	}
	Label(around)
}

// back adds up the gradients of four heads' ends over the destination's edges. The
// first half writes what is kept of each edge.
func (s *gatv2) back(half int) {
	da, sum := make([]Vec, 4), make([]Vec, 4)
	zero(sum)
	for i, grads := 0, s.Word("DA"); i < 4; i++ {
		da[i] = Get(head8(grads, 4*half+i))
	}
	MOVQ(Mem{Base: s.Word("Offsets")}, s.k)
	at, place := s.Word("Work"), s.Word("Places")
	slope, one := Get(s.Field("slope")), Get(Num(1))
	s.edges(func() {
		to, signs := GP64(), GP64()
		MOVLQSX(Mem{Base: place}, to)
		ADDQ(Imm(4), place)
		MOVQ(s.Field("Signs"), signs)
		LEAQ(Mem{Base: signs, Index: to, Scale: 8}, signs)
		if half == 0 {
			SHLQ(Imm(6), to)
			ADDQ(s.Field("Z"), to)
			alpha := Get(Mem{Base: at})
			d := Get(Mem{Base: at, Disp: 32})
			VSUBPS(s.Field("sum"), d, d)
			VMULPS(alpha, d, d)
			VMOVUPS(d, Mem{Base: at, Disp: 32})
			low, high, front := YMM(), YMM(), YMM()
			VUNPCKLPS(alpha, d, low)
			VUNPCKHPS(alpha, d, high)
			VPERM2F128(Imm(0x20), high, low, front)
			VPERM2F128(Imm(0x31), high, low, low)
			VMOVUPS(front, Mem{Base: to})
			VMOVUPS(low, Mem{Base: to, Disp: 32})
		}
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
