package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of simd.Spokes are; a test compares them.
const (
	spokesOffsets, spokesCols, spokesPerm     = 0, 24, 48
	spokesFar, spokesX, spokesY, spokesRec    = 72, 96, 120, 144
	spokesNear, spokesOwn, spokesV, spokesDer = 168, 192, 216, 240
	spokesFarStride, spokesXStride            = 264, 272
	spokesYStride, spokesRecStride            = 280, 288
	spokesNearStride, spokesOwnStride         = 296, 304
	spokesVStride, spokesDerStride            = 312, 320
	spokesAhead, spokesLast, spokesMost       = 328, 336, 344
	spokesAddY, spokesAddRec, spokesLeft      = 352, 360, 368
	spokesSlope, spokesScale                  = 376, 408
	spokesK0, spokesK1, spokesLane            = 440, 472, 504
	spokesFlip, spokesDrop                    = 536, 568
	spokesA, spokesB, spokesC                 = 600, 632, 664
	spokesFactors, spokesWidth                = 696, 720
)

// Where the fields of simd.Powers are.
const (
	powersX, powersY, powersXStride, powersYStride = 0, 24, 48, 56
	powersRows, powersCopy, powersMost             = 64, 72, 80
	powersSlope                                    = 112
)

// allSpokes writes the kernels of simd.Spokes and simd.Powers.
func allSpokes() {
	rowsOfPowers()
	columnOfPowers()
	pairOne()
	factorsOfEdges("factorsInOrder", false)
	factorsOfEdges("factorsOfPerm", true)
	for _, drops := range []bool{false, true} {
		newSpokes("attendSpokes", "Spokes.Attend", drops).attend()
		newSpokes("retraceSpokes", "Spokes.Retrace", drops).retrace()
		newSpokes("attendSpoke", "Spokes.Attend of one head", drops).attendOne()
		newSpokes("retraceSpoke", "Spokes.Retrace of one head", drops).retraceOne()
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
// end.
func (s *spokes) each(first, edge, last func()) {
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
	last()
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

// zero returns cleared registers, the same ones each time.
func zero(acc []vec) {
	for i := range acc {
		if acc[i] == nil {
			acc[i] = YMM()
		}
		VXORPS(acc[i], acc[i], acc[i])
	}
}

// toAll calls f with each head's number in all lanes.
func toAll(v vec, f func(h int, x vec)) {
	for h := 0; h < lanes; h += 4 {
		half := YMM()
		VPERM2F128(Imm(uint64(h/4*0x11)), v, v, half)
		for i := range 4 {
			x := YMM()
			VPERMILPS(Imm(uint64(i*0x55)), half, x)
			f(h+i, x)
		}
	}
}

// attend writes simd.Spokes.Attend.
func (s *spokes) attend() {
	acc, sum := make([]vec, lanes), make([]vec, 1)
	up, down := YMM(), YMM() // the powers of the destination
	first := func() {
		zero(acc)
		zero(sum)
		rec := s.get(spokesRec)
		VMOVUPS(Mem{Base: rec, Disp: 32}, up)
		VMOVUPS(Mem{Base: rec, Disp: 64}, down)
	}
	edge := func() {
		s.ask(table{base: spokesX, stride: spokesXStride, lines: 4}, table{base: spokesFar, stride: spokesFarStride, lines: 1})
		far := s.row(spokesFar, spokesFarStride)
		e := higher(mul(up, Mem{Base: far}), mul(down, Mem{Base: far, Disp: 32}))
		VADDPS(e, sum[0], sum[0])
		if s.drops {
			e = andNot(s.dropped(s.edge(nil)), e)
		}
		x := s.row(spokesX, spokesXStride)
		toAll(e, func(h int, f vec) { VFMADD231PS(Mem{Base: x, Disp: 32 * h}, f, acc[h]) })
	}
	last := func() {
		rec, y := s.get(spokesRec), s.get(spokesY)
		inverse := div(get(num(1)), sum[0])
		inverse = andNot(compare(equal, sum[0], num(0)), inverse) // of a row without edges
		VMULPS(inverse, up, up)
		VMULPS(inverse, down, down)
		VMOVUPS(up, Mem{Base: rec, Disp: 32})
		VMOVUPS(down, Mem{Base: rec, Disp: 64})
		if s.drops {
			VMULPS(s.field(spokesScale), inverse, inverse)
		}
		toAll(inverse, func(h int, f vec) {
			VMULPS(f, acc[h], acc[h])
			VMOVUPS(acc[h], Mem{Base: y, Disp: 32 * h})
		})
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

// eight does so with what is pairwise of pairs: a number for each head.
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
	del := make([]vec, 1)
	var perm reg.GPVirtual
	if s.drops {
		perm = s.get(spokesPerm)
	}
	near, own, v := GP64(), GP64(), GP64()
	first := func() {
		zero(acc)
		zero(del)
		MOVQ(s.field(spokesNear), near)
		MOVQ(s.field(spokesOwn), own)
		MOVQ(s.field(spokesV), v)
	}
	edge := func() {
		s.ask(table{base: spokesX, stride: spokesXStride, lines: 4}, table{base: spokesFar, stride: spokesFarStride, lines: 2},
			table{base: spokesDer, stride: spokesDerStride, lines: 1})
		rec := s.row(spokesFar, spokesFarStride)
		s.weigh(rec, near, own, perm)
		x := s.row(spokesX, spokesXStride)
		product := func(h int) vec {
			f, from := s.all(spokesA+4*h), get(Mem{Base: x, Disp: 32 * h})
			VFMADD231PS(from, f, acc[h])
			VMULPS(Mem{Base: v, Disp: 32 * h}, from, from)
			return from
		}
		quad := func(h int) vec {
			a := pair(product(h), product(h+1))
			return pairwise(a, pair(product(h+2), product(h+3)))
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
		VADDPS(g, del[0], del[0])
		der := Mem{Base: s.row(spokesDer, spokesDerStride)}
		VADDPS(der, g, g)
		VMOVUPS(g, der)
	}
	last := func() {
		s.keep(acc, del[0])
		s.further(spokesNear, spokesNearStride)
		s.further(spokesOwn, spokesOwnStride)
		s.further(spokesV, spokesVStride)
		s.further(spokesRec, spokesRecStride)
		s.further(spokesY, spokesYStride)
	}
	s.each(first, edge, last)
	finish()
}

// weigh stores the softmax of an edge under the mask in A, times the slope in B,
// both in C.
func (s *spokes) weigh(rec, near, own, perm reg.GPVirtual) {
	z := add(get(Mem{Base: rec}), Mem{Base: near})
	up, down := mul(get(Mem{Base: rec, Disp: 32}), Mem{Base: own}), mul(get(Mem{Base: rec, Disp: 64}), Mem{Base: own, Disp: 32})
	alpha := higher(up, down)
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

// rowsOfPowers writes simd.Powers.Rows.
func rowsOfPowers() {
	start("powersOfRows", "func(p *byte)", "powersOfRows is Powers.Rows.")
	t := &tile{w: 8, p: Load(Param("p"), GP64()).(reg.GPVirtual)}
	x, y, n, most := t.get(powersX), t.get(powersY), t.get(powersRows), YMM()
	VXORPS(most, most, most)
	row, done, bare := fresh("row"), fresh("done"), fresh("bare")
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(row)
	v, to := get(Mem{Base: x}), GP64()
	MOVQ(y, to)
	CMPQ(t.field(powersCopy), Imm(0))
	JE(LabelRef(bare))
	VMOVUPS(v, Mem{Base: to})
	ADDQ(Imm(32), to)
	Label(bare)
	VPMAXUD(magnitude(v), most, most)
	low := mul(v, t.field(powersSlope))
	VMOVUPS(expOrdinary(v), Mem{Base: to})
	VMOVUPS(expOrdinary(low), Mem{Base: to, Disp: 32})
	t.advance(x, powersXStride)
	t.advance(y, powersYStride)
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
	VMOVUPS(most, t.field(powersMost))
	finish()
}
