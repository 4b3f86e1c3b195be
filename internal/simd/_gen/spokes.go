package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of simd.Spokes are; a test compares them.
const (
	spokesOffsets, spokesCols, spokesPerm       = 0, 24, 48
	spokesFar, spokesNear, spokesX, spokesY     = 72, 96, 120, 144
	spokesV, spokesRec, spokesDer               = 168, 192, 216
	spokesFarStride, spokesNearStride           = 240, 248
	spokesXStride, spokesYStride, spokesVStride = 256, 264, 272
	spokesRecStride, spokesDerStride            = 280, 288
	spokesAhead, spokesLast, spokesMost         = 296, 304, 312
	spokesAddY, spokesAddRec, spokesLeft        = 320, 328, 336
	spokesSlope, spokesScale                    = 344, 376
	spokesK0, spokesK1, spokesLane              = 408, 440, 472
	spokesFlip, spokesDrop                      = 504, 536
	spokesA, spokesB, spokesC                   = 568, 600, 632
)

// tame is how large a logit may be for its exponential to need no shift.
const tame = 40

// spokesOfAll writes the kernels of simd.Spokes.
func spokesOfAll() {
	for _, drops := range []bool{false, true} {
		newSpokes("attendSpokes", "Spokes.Attend", drops).attend()
		newSpokes("retraceSpokes", "Spokes.Retrace", drops).retrace()
	}
}

// spokes is a kernel on a simd.Spokes, with or without a mask.
type spokes struct {
	tile
	drops bool
	cols  reg.GPVirtual
	k     reg.GPVirtual // the edge
}

func newSpokes(name, doc string, drops bool) *spokes {
	with := "."
	if drops {
		name, with = name+"Drop", " under a mask."
	}
	start(name, "func(p *byte)", name+" is "+doc+with)
	s := &spokes{tile: tile{w: 8, p: Load(Param("p"), GP64()).(reg.GPVirtual)}, drops: drops}
	s.cols = s.get(spokesCols)
	return s
}

// further adds a stride to a pointer in memory.
func (s *spokes) further(field, stride int) {
	by := s.get(stride)
	SHLQ(Imm(2), by)
	ADDQ(by, s.field(field))
}

// each writes a loop over the rows, which stops before one that ends beyond the
// most edges. first is done at a row's start, edge for each edge, and last at the
// end: it may jump to the label it is given, and the row is then not done.
func (s *spokes) each(first, edge func(), last func(stop string)) {
	row, again, none, stop := fresh("row"), fresh("edge"), fresh("none"), fresh("stop")
	end := GP64()
	s.k = GP64()
	CMPQ(s.field(spokesLeft), Imm(0))
	JE(LabelRef(stop))
	Label(row)
	offs := s.get(spokesOffsets)
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	CMPQ(end, s.field(spokesMost))
	JG(LabelRef(stop))
	first()
	CMPQ(s.k, end)
	JGE(LabelRef(none))
	Label(again)
	edge()
	INCQ(s.k)
	CMPQ(s.k, end)
	JL(LabelRef(again))
	Label(none)
	last(stop)
	ADDQ(Imm(8), s.field(spokesOffsets))
	DECQ(s.field(spokesLeft))
	JNZ(LabelRef(row))
	Label(stop)
}

// row is where the row of the edge's column is in an array.
func (s *spokes) row(field, stride int) reg.GPVirtual {
	u := GP64()
	MOVLQSX(Mem{Base: s.cols, Index: s.k, Scale: 4}, u)
	IMULQ(s.field(stride), u)
	SHLQ(Imm(2), u)
	ADDQ(s.field(field), u)
	return u
}

// ask asks for lines of the rows of some arrays that an edge some way ahead has.
func (s *spokes) ask(arrays ...table) {
	skip := fresh("skip")
	far, u := s.get(spokesAhead), GP64()
	TESTQ(far, far)
	JZ(LabelRef(skip))
	ADDQ(s.k, far)
	CMPQ(far, s.field(spokesLast))
	CMOVQGT(s.field(spokesLast), far)
	MOVLQSX(Mem{Base: s.cols, Index: far, Scale: 4}, u)
	for _, a := range arrays {
		at, base := GP64(), s.get(a.base)
		MOVQ(s.field(a.stride), at)
		IMULQ(u, at)
		for l := range a.lines {
			PREFETCHT1(Mem{Base: base, Index: at, Scale: 4, Disp: 64 * l})
		}
	}
	Label(skip)
}

// leaky is LeakyReLU for a slope between 0 and 1.
func (s *spokes) leaky(z vec) vec { return higher(mul(z, s.field(spokesSlope)), z) }

// dropped is all ones where the edge e, which is in all lanes, is not kept.
func (s *spokes) dropped(e vec) vec {
	VPADDD(s.field(spokesK0), e, e)
	key := mix(e)
	VPXOR(s.field(spokesK1), key, key)
	VPADDD(s.field(spokesLane), key, key)
	h, bar := xor(stirred(key), s.field(spokesFlip)), get(s.field(spokesDrop))
	VPCMPGTD(h, bar, bar)
	return bar
}

// edge is the number of the edge in all lanes.
func (s *spokes) edge(perm reg.GPVirtual) vec {
	v := YMM()
	if perm != nil {
		VPBROADCASTD(Mem{Base: perm, Index: s.k, Scale: 4}, v)
		return v
	}
	VMOVD(s.k.As32(), v.AsX())
	VPBROADCASTD(v.AsX(), v)
	return v
}

// attend writes simd.Spokes.Attend.
func (s *spokes) attend() {
	acc := make([]vec, lanes)
	own, sum, most := YMM(), YMM(), YMM()
	first := func() {
		for i := range acc {
			if acc[i] == nil {
				acc[i] = YMM()
			}
			VXORPS(acc[i], acc[i], acc[i])
		}
		VXORPS(sum, sum, sum)
		VXORPS(most, most, most)
		VMOVUPS(Mem{Base: s.get(spokesNear)}, own)
	}
	edge := func() {
		s.ask(table{base: spokesX, stride: spokesXStride, lines: 4}, table{base: spokesFar, stride: spokesFarStride, lines: 1})
		l := s.leaky(add(own, Mem{Base: s.row(spokesFar, spokesFarStride)}))
		VPMAXUD(magnitude(l), most, most)
		e := expOrdinary(l)
		VADDPS(e, sum, sum)
		if s.drops {
			e = andNot(s.dropped(s.edge(nil)), e)
		}
		VMOVUPS(e, s.field(spokesA))
		x := s.row(spokesX, spokesXStride)
		for h, a := range acc {
			f := s.all(spokesA + 4*h)
			VFMADD231PS(Mem{Base: x, Disp: 32 * h}, f, a)
		}
	}
	last := func(stop string) {
		wild, any := GP32(), greaterInt(most, math.Float32bits(tame))
		VMOVMSKPS(any, wild)
		TESTL(wild, wild)
		JNZ(LabelRef(stop))
		rec, y := s.get(spokesRec), s.get(spokesY)
		none := compare(equal, sum, num(0))
		inverse := andNot(none, div(get(num(1)), sum)) // of a row without edges
		VMOVUPS(own, Mem{Base: rec})
		VXORPS(none, none, none)
		VMOVUPS(none, Mem{Base: rec, Disp: 32})
		VMOVUPS(inverse, Mem{Base: rec, Disp: 64})
		VMOVUPS(sum, Mem{Base: rec, Disp: 96})
		if s.drops {
			VMULPS(s.field(spokesScale), inverse, inverse)
		}
		VMOVUPS(inverse, s.field(spokesA))
		for h, a := range acc {
			VMULPS(s.all(spokesA+4*h), a, a)
			VMOVUPS(a, Mem{Base: y, Disp: 32 * h})
		}
		s.further(spokesNear, spokesNearStride)
		s.further(spokesRec, spokesRecStride)
		s.further(spokesY, spokesYStride)
	}
	s.each(first, edge, last)
	finish()
}

// pair adds up halves of the products of two heads: each half of the register has
// two numbers of x, and two of y.
func pair(x, y vec) vec {
	t := YMM()
	VSHUFPS(Imm(0x4e), y, x, t)
	VBLENDPS(Imm(0xcc), y, x, x)
	VADDPS(t, x, x)
	return x
}

// four does so with pairs: each half of the register has a number of each head.
func four(x, y vec) vec {
	t := YMM()
	VSHUFPS(Imm(0x88), y, x, t)
	VSHUFPS(Imm(0xdd), y, x, x)
	VADDPS(t, x, x)
	return x
}

// eight does so with fours: a number for each head.
func eight(x, y vec) vec {
	t := YMM()
	VPERM2F128(Imm(0x21), y, x, t)
	VBLENDPS(Imm(0xf0), y, x, x)
	VADDPS(t, x, x)
	return x
}

// retrace writes simd.Spokes.Retrace.
func (s *spokes) retrace() {
	acc := make([]vec, lanes)
	del := YMM()
	var perm reg.GPVirtual
	if s.drops {
		perm = s.get(spokesPerm)
	}
	near, v := GP64(), GP64()
	first := func() {
		for i := range acc {
			if acc[i] == nil {
				acc[i] = YMM()
			}
			VXORPS(acc[i], acc[i], acc[i])
		}
		VXORPS(del, del, del)
		MOVQ(s.field(spokesNear), near)
		MOVQ(s.field(spokesV), v)
	}
	edge := func() {
		s.ask(table{base: spokesX, stride: spokesXStride, lines: 4}, table{base: spokesFar, stride: spokesFarStride, lines: 2},
			table{base: spokesDer, stride: spokesDerStride, lines: 1})
		rec := s.row(spokesFar, spokesFarStride)
		s.weigh(rec, near, perm)
		x := s.row(spokesX, spokesXStride)
		product := func(h int) vec {
			f, from := s.all(spokesA+4*h), get(Mem{Base: x, Disp: 32 * h})
			VFMADD231PS(from, f, acc[h])
			VMULPS(Mem{Base: v, Disp: 32 * h}, from, from)
			return from
		}
		quad := func(h int) vec {
			a := pair(product(h), product(h+1))
			return four(a, pair(product(h+2), product(h+3)))
		}
		g := quad(0)
		g = eight(g, quad(4))
		c := Mem{Base: rec, Disp: 96}
		if s.drops {
			VMULPS(s.field(spokesC), g, g)
			VSUBPS(mul(get(c), s.field(spokesB)), g, g)
		} else {
			VSUBPS(c, g, g)
			VMULPS(s.field(spokesB), g, g)
		}
		VADDPS(g, del, del)
		der := Mem{Base: s.row(spokesDer, spokesDerStride)}
		VADDPS(der, g, g)
		VMOVUPS(g, der)
	}
	last := func(string) {
		s.keep(acc, del)
		s.further(spokesNear, spokesNearStride)
		s.further(spokesV, spokesVStride)
		s.further(spokesRec, spokesRecStride)
		s.further(spokesY, spokesYStride)
	}
	s.each(first, edge, last)
	finish()
}

// weigh stores the softmax of an edge under the mask in A, times the slope in B,
// both in C.
func (s *spokes) weigh(rec, near, perm reg.GPVirtual) {
	z := get(Mem{Base: rec})
	VADDPS(Mem{Base: near}, z, z)
	alpha := mul(expOrdinary(s.leaky(z)), Mem{Base: rec, Disp: 64})
	sloped := pick(compare(greater, z, num(0)), alpha, mul(alpha, s.field(spokesSlope)))
	VMOVUPS(sloped, s.field(spokesB))
	if s.drops {
		gone := s.dropped(s.edge(perm))
		scale := andNot(gone, s.field(spokesScale))
		VMULPS(scale, alpha, alpha)
		VMOVUPS(mul(scale, s.field(spokesB)), s.field(spokesC))
	}
	VMOVUPS(alpha, s.field(spokesA))
}

// keep sets a source's gradients, or adds to them.
func (s *spokes) keep(acc []vec, del vec) {
	set, plain := fresh("set"), fresh("plain")
	rec, y := s.get(spokesRec), s.get(spokesY)
	CMPQ(s.field(spokesAddRec), Imm(0))
	JE(LabelRef(set))
	VADDPS(Mem{Base: rec}, del, del)
	Label(set)
	VMOVUPS(del, Mem{Base: rec})
	CMPQ(s.field(spokesAddY), Imm(0))
	JE(LabelRef(plain))
	for h, a := range acc {
		VADDPS(Mem{Base: y, Disp: 32 * h}, a, a)
	}
	Label(plain)
	for h, a := range acc {
		VMOVUPS(a, Mem{Base: y, Disp: 32 * h})
	}
}
