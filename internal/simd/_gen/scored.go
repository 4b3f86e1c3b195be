package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scoreds writes the kernels of simd.Scored.
func scoreds() {
	newScored("gatv2Attend", "GATv2Walk.Attend").attend()
	newScored("gatv2Retrace", "GATv2Walk.Retrace").retrace()
}

// scored is a kernel on a simd.Scored.
type scored struct {
	fan
	k, end, u, v, a reg.GPVirtual // the edge, that after the last, and rows
}

func newScored(name, doc string) *scored {
	s := &scored{}
	s.args = startOn("GATv2Walk", name, "", name+" is "+doc+".")
	s.u, s.v, s.a = GP64(), s.word("V"), s.word("A")
	return s
}

func head8(base reg.GPVirtual, h int) Mem { return Mem{Base: base, Disp: 32 * h} }

// source finds the row of edge k's source.
func (s *scored) source(k, at reg.GPVirtual) {
	cols := s.word("Cols")
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	SHLQ(Imm(8), at)
	ADDQ(s.field("U"), at)
}

// fetch asks for the rows of the sources of some edges, as fan's does.
func (s *scored) fetch(edges int) {
	none, far := fresh("near"), s.word("ahead")
	TESTQ(far, far)
	JZ(LabelRef(none))
	ADDQ(s.k, far)
	CMPQ(far, s.field("last"))
	JGE(LabelRef(none))
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: far, Disp: e}, row)
		s.request(row, PREFETCHT1)
	}
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: s.k, Disp: nearAhead + e}, row)
		s.request(row, PREFETCHT0)
	}
	Label(none)
}

// request asks for the row of edge e's source.
func (s *scored) request(e reg.GPVirtual, fetch func(Op)) {
	s.source(e, e)
	for l := range 4 {
		fetch(Mem{Base: e, Disp: lineBytes * l})
	}
}

// rows writes the loop over destinations, which goes to stop before one whose edges
// end beyond the most.
func (s *scored) rows(stop string, body func()) {
	row := fresh("row")
	Label(row)
	offs := s.word("Offsets")
	s.k, s.end = GP64(), GP64()
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, s.end)
	CMPQ(s.end, s.field("most"))
	JG(LabelRef(stop))
	body()
	ADDQ(Imm(8), s.field("Offsets"))
	ADDQ(U32(256), s.v)
	for _, f := range []string{"Top", "Sum"} {
		by := s.word("Apart")
		SHLQ(Imm(2), by)
		ADDQ(by, s.field(f))
	}
	DECQ(s.field("left"))
	JNZ(LabelRef(row))
	Label(stop)
}

// edges writes a loop over the destination's edges, of which there are some.
func (s *scored) edges(body func()) {
	again := fresh("edge")
	Label(again)
	s.source(s.k, s.u)
	body()
	INCQ(s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// bent is LeakyReLU of the sum of the ends of head h, of which x is the source's,
// and lost.
func (s *scored) bent(h int, x vec) vec {
	VADDPS(head8(s.v, h), x, x)
	return higher(mul(x, s.field("slope")), x)
}

// see takes scores into the largest magnitude.
func (s *scored) see(z vec) {
	large := magnitude(z)
	VPMAXUD(s.field("top"), large, large)
	VMOVDQU(large, s.field("top"))
}

// allTame goes to stop if a score is not tame, or NaN.
func (s *scored) allTame(stop string) {
	wild, bits := get(s.field("top")), GP32()
	VPCMPGTD(wide(math.Float32bits(float32(constantOf("GATv2InRange")))), wild, wild)
	VMOVMSKPS(wild, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(stop))
}

func (s *scored) attend() {
	stop := fresh("stop")
	s.rows(stop, func() {
		acc := make([]vec, lanes)
		zero(acc)
		none := fresh("none")
		clean := YMM()
		VXORPS(clean, clean, clean)
		VMOVUPS(clean, s.field("sum"))
		VMOVUPS(clean, s.field("top"))
		CMPQ(s.k, s.end)
		JGE(LabelRef(none))
		s.edges(func() {
			s.fetch(1)
			var terms totaller
			for h := range lanes {
				terms.take(mul(s.bent(h, get(head8(s.u, h))), head8(s.a, h)))
			}
			z := terms.totals()
			s.see(z)
			p := expOrdinary(z)
			VMOVUPS(add(p, s.field("sum")), s.field("sum"))
			toAll(p, func(h int, f vec) { VFMADD231PS(head8(s.u, h), f, acc[h]) })
		})
		s.allTame(stop)
		Label(none)
		sum := get(s.field("sum"))
		inverse := div(get(num(1)), sum)
		inverse = andNot(compare(equal, sum, num(0)), inverse) // of a row without edges
		VMOVUPS(sum, Mem{Base: s.word("Sum")})
		VXORPS(sum, sum, sum)
		VMOVUPS(sum, Mem{Base: s.word("Top")})
		toAll(inverse, func(h int, f vec) {
			VMULPS(f, acc[h], acc[h])
			VADDPS(s.field("add").Offset(32*h), acc[h], acc[h])
		})
		storePast(s.field("stream"), acc, s.word("Y"))
		ADDQ(U32(256), s.field("Y"))
	})
	fencePast(s.field("stream"))
	finish()
}

// ordinaryStats goes to stop where the statistics cannot be Attend's: the largest score
// is not 0, which that has for all it did, or the sum no ordinary number.
func (s *scored) ordinaryStats(stop string) {
	top, sum, bits := get(Mem{Base: s.word("Top")}), get(Mem{Base: s.word("Sum")}), GP32()
	fine := and(compare(equal, top, num(0)), compare(less, sum, num(math.Inf(1))))
	fine = and(fine, compare(greater, sum, num(0)))
	VMOVMSKPS(fine, bits)
	CMPL(bits, U32(0xff))
	JNE(LabelRef(stop))
}

func (s *scored) retrace() {
	stop := fresh("stop")
	s.rows(stop, func() {
		none, unread, some := fresh("none"), fresh("unread"), fresh("some")
		CMPQ(s.k, s.end)
		JGE(LabelRef(unread))
		s.ordinaryStats(stop)
		JMP(LabelRef(some))
		Label(unread)
		s.emptyRow()
		JMP(LabelRef(none))
		Label(some)
		r, work, sum, c := s.word("R"), s.word("Work"), s.word("Sum"), YMM()
		VXORPS(c, c, c)
		VMOVUPS(c, s.field("top"))
		s.edges(func() {
			s.fetch(1)
			var scores, dots totaller
			for h := range lanes {
				x := get(head8(s.u, h))
				dots.take(mul(x, head8(r, h)))
				scores.take(mul(s.bent(h, x), head8(s.a, h)))
			}
			g := dots.totals()
			z := scores.totals()
			s.see(z)
			alpha := div(expOrdinary(z), Mem{Base: sum})
			VMOVUPS(alpha, Mem{Base: work})
			VMOVUPS(g, Mem{Base: work, Disp: 32})
			ADDQ(Imm(64), work)
			VFMADD231PS(g, alpha, c)
		})
		s.allTame(stop)
		s.emptyRow()
		VMOVUPS(c, s.field("sum"))
		for half := range 2 {
			s.back(half)
		}
		Label(none)
		ADDQ(U32(256), s.field("R"))
		ADDQ(U32(256), s.field("DV"))
	})
	finish()
}

// emptyRow clears the row of DV, if it is not added to.
func (s *scored) emptyRow() {
	around, nothing, dv := fresh("add"), YMM(), s.word("DV")
	CMPB(s.field("Set"), Imm(0))
	JE(LabelRef(around))
	VXORPS(nothing, nothing, nothing)
	for h := range lanes {
		VMOVUPS(nothing, head8(dv, h))
	}
	Label(around)
}

// back adds up the gradients of four heads' ends over the destination's edges. The
// first half writes what is kept of each edge.
func (s *scored) back(half int) {
	da, sum := make([]vec, 4), make([]vec, 4)
	zero(sum)
	for i, grads := 0, s.word("DA"); i < 4; i++ {
		da[i] = get(head8(grads, 4*half+i))
	}
	MOVQ(Mem{Base: s.word("Offsets")}, s.k)
	at, place := s.word("Work"), s.word("Places")
	slope, one := get(s.field("slope")), get(num(1))
	s.edges(func() {
		to, signs := GP64(), GP64()
		MOVLQSX(Mem{Base: place}, to)
		ADDQ(Imm(4), place)
		MOVQ(s.field("Signs"), signs)
		LEAQ(Mem{Base: signs, Index: to, Scale: 8}, signs)
		if half == 0 {
			SHLQ(Imm(6), to)
			ADDQ(s.field("Z"), to)
			alpha := get(Mem{Base: at})
			d := get(Mem{Base: at, Disp: 32})
			VSUBPS(s.field("sum"), d, d)
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
			z := add(get(head8(s.v, h)), head8(s.u, h))
			positive := compare(greater, z, num(0))
			g := YMM()
			VBROADCASTSS(Mem{Base: at, Disp: 32 + 4*h}, g)
			q := mul(pick(positive, one, slope), g)
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
	grads, dv := s.word("DA"), s.word("DV")
	for i := range da {
		h := 4*half + i
		VMOVUPS(da[i], head8(grads, h))
		x := get(head8(dv, h))
		VFMADD231PS(head8(s.a, h), sum[i], x)
		VMOVUPS(x, head8(dv, h))
	}
	if half == 1 {
		MOVQ(place, s.field("Places"))
	}
}
