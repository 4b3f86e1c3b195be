package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// allSpokes writes the kernels of simd.Spokes and simd.Powers.
func allSpokes() {
	rowsOfPowers()
	columnOfPowers()
	pairOne()
	factorsOfEdges("factorsInOrder", false)
	factorsOfEdges("factorsOfPerm", true)
	for _, drops := range []bool{false, true} {
		newSpokes("attendNodeExps", "NodeExpAttention.Attend", drops).attend()
		newSpokes("retraceNodeExps", "NodeExpAttention.Retrace", drops).retrace()
		newSpokes("attendSlim", "NodeExpAttention.Attend of slim heads", drops).slimmed().attend()
		newSpokes("retraceSlim", "NodeExpAttention.Retrace of slim heads", drops).slimmed().retrace()
		newSpokes("attendOneHead", "NodeExpAttention.Attend of one head", drops).attendOne()
		newSpokes("retraceOneHead", "NodeExpAttention.Retrace of one head", drops).retraceOne()
	}
}

// spokes is a kernel on a simd.Spokes, with or without a mask.
type spokes struct {
	tile
	drops bool
	cols  reg.GPVirtual
	k     reg.GPVirtual // the edge

	inside vec           // of slim heads: the lanes of their elements
	size   reg.GPVirtual // and their bytes
}

func newSpokes(name, doc string, drops bool) *spokes {
	with := "."
	if drops {
		name, with = name+"Drop", " under a mask."
	}
	s := &spokes{tile: tile{startOn("NodeExpAttention", name, "", name+" is "+doc+with), 8}, drops: drops}
	s.cols = s.word("Cols")
	return s
}

// slimmed makes it a kernel of eight heads of fewer elements than a register has.
func (s *spokes) slimmed() *spokes {
	s.size = s.word("Width")
	s.inside = maskOf(s.size)
	SHLQ(Imm(2), s.size)
	return s
}

// elements returns a function that loads those of the heads of a row, one head
// after the other.
func (s *spokes) elements(row Mem) func(h int) vec {
	if s.size == nil {
		return func(h int) vec { return get(row.Offset(32 * h)) }
	}
	at := GP64()
	LEAQ(row, at)
	return func(h int) vec {
		v := YMM()
		VMASKMOVPS(Mem{Base: at}, s.inside, v)
		if h < lanes-1 {
			ADDQ(s.size, at)
		}
		return v
	}
}

// further adds a stride to a pointer in memory.
func (s *spokes) further(field, stride string) {
	by := s.word(stride)
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
	CMPQ(s.field("left"), Imm(0))
	JE(LabelRef(stop))
	Label(row)
	offs := s.word("Offsets")
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	CMPQ(end, s.field("most"))
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
	ADDQ(Imm(8), s.field("Offsets"))
	DECQ(s.field("left"))
	JNZ(LabelRef(row))
	Label(stop)
}

// ask asks for lines of the rows of some arrays that an edge some way ahead has, and
// again for those of one that is soon read.
func (s *spokes) ask(at places, arrays ...table) {
	skip := fresh("skip")
	far := s.word("Ahead")
	TESTQ(far, far)
	JZ(LabelRef(skip))
	ADDQ(s.k, far)
	s.request(far, PREFETCHT1, at, arrays)
	LEAQ(Mem{Base: s.k, Disp: nearAhead}, far)
	s.request(far, PREFETCHT0, at, arrays)
	Label(skip)
}

// request asks for the rows of an edge, or of the last.
func (s *spokes) request(e reg.GPVirtual, fetch func(Op), at places, arrays []table) {
	CMPQ(e, s.field("Last"))
	CMOVQGT(s.field("Last"), e)
	u := GP64()
	MOVLQSX(Mem{Base: s.cols, Index: e, Scale: 4}, u)
	for _, a := range arrays {
		row := s.of(at, u, a.base, a.stride)
		for l := range a.lines {
			fetch(row.Offset(64 * l))
		}
	}
}

// dropped is all ones where the edge e, which is in all lanes, is not kept.
func (s *spokes) dropped(e vec) vec {
	VPADDD(s.field("k0"), e, e)
	key := mix(e)
	VPXOR(s.field("k1"), key, key)
	VPADDD(s.field("lane"), key, key)
	h, bar := xor(stirred(key), s.field("flip")), get(s.field("drop"))
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
	at := places{"Far": s.word("Far"), "X": s.word("X")}
	acc, sum := make([]vec, lanes), make([]vec, 1)
	up, down := YMM(), YMM() // the powers of the destination
	first := func() {
		zero(acc)
		zero(sum)
		rec := s.word("Rec")
		VMOVUPS(Mem{Base: rec}, up)
		VMOVUPS(Mem{Base: rec, Disp: 32}, down)
	}
	edge := func() {
		s.ask(at, s.carried(), table{base: "Far", stride: "FarStride", lines: 1})
		u := s.column()
		far := s.of(at, u, "Far", "FarStride")
		e := higher(mul(up, far), mul(down, far.Offset(32)))
		VADDPS(e, sum[0], sum[0])
		if s.drops {
			e = andNot(s.dropped(s.edge(nil)), e)
		}
		x := s.of(at, u, "X", "XStride")
		if s.size == nil {
			toAll(e, func(h int, f vec) { VFMADD231PS(x.Offset(32*h), f, acc[h]) })
			return
		}
		next := s.elements(x)
		toAll(e, func(h int, f vec) { VFMADD231PS(next(h), f, acc[h]) })
	}
	last := func() {
		rec := s.word("Rec")
		inverse := div(get(num(1)), sum[0])
		inverse = andNot(compare(equal, sum[0], num(0)), inverse) // of a row without edges
		VMULPS(inverse, up, up)
		VMULPS(inverse, down, down)
		VMOVUPS(up, Mem{Base: rec})
		VMOVUPS(down, Mem{Base: rec, Disp: 32})
		if s.drops {
			VMULPS(s.field("scale"), inverse, inverse)
		}
		toAll(inverse, func(h int, f vec) {
			VMULPS(f, acc[h], acc[h])
			if s.size == nil {
				VADDPS(s.field("room").Offset(32*h), acc[h], acc[h])
			}
		})
		s.put(acc)
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	fencePast(s.field("stream"))
	finish()
}

// carried is the table of what is carried. Of slim heads two lines are most of a
// row.
func (s *spokes) carried() table {
	t := table{base: "X", stride: "XStride", lines: 4}
	if s.size != nil {
		t.lines = 2
	}
	return t
}

// put stores a row of the result, past the caches if so told.
func (s *spokes) put(acc []vec) {
	if s.size != nil {
		s.putSlim(acc)
	} else {
		storePast(s.field("stream"), acc, s.word("Y"))
	}
}

// putSlim is put of slim heads: each is stored over the end of the one before it
// in the room, and the row is as many registers as a head has elements.
func (s *spokes) putSlim(acc []vec) {
	at, from, left, y := GP64(), GP64(), GP64(), s.word("Y")
	LEAQ(s.field("room"), at)
	MOVQ(at, from)
	for _, a := range acc {
		VMOVUPS(a, Mem{Base: at})
		ADDQ(s.size, at)
	}
	again := fresh("copy")
	MOVQ(s.size, left)
	Label(again)
	VMOVUPS(get(Mem{Base: from}), Mem{Base: y})
	ADDQ(Imm(32), from)
	ADDQ(Imm(32), y)
	SUBQ(Imm(4), left)
	JG(LabelRef(again))
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

// retrace writes simd.Spokes.Retrace.
func (s *spokes) retrace() {
	at := places{"Far": s.word("Far"), "X": s.word("X"), "Der": s.word("Der")}
	acc := make([]vec, lanes)
	del := make([]vec, 1)
	var perm reg.GPVirtual
	if s.drops {
		perm = s.word("Perm")
	}
	own, v := GP64(), GP64()
	if s.size != nil {
		LEAQ(s.field("room"), v)
	}
	first := func() {
		zero(acc)
		zero(del)
		MOVQ(s.field("Own"), own)
		if s.size == nil {
			MOVQ(s.field("V"), v)
			return
		}
		next := s.elements(Mem{Base: s.word("V")})
		for h := range lanes {
			VMOVUPS(next(h), Mem{Base: v, Disp: 32 * h})
		}
	}
	edge := func() {
		s.ask(at, s.carried(), table{base: "Far", stride: "FarStride", lines: 2},
			table{base: "Der", stride: "DerStride", lines: 1})
		u := s.column()
		rec := s.of(at, u, "Far", "FarStride")
		weight := s.weigh(rec, own, perm)
		next := s.elements(s.of(at, u, "X", "XStride"))
		g := dots(weight, func(h int, f vec) vec {
			from := next(h)
			VFMADD231PS(from, f, acc[h])
			VMULPS(Mem{Base: v, Disp: 32 * h}, from, from)
			return from
		})
		c := rec.Offset(64)
		if s.drops {
			VMULPS(s.field("c"), g, g)
		}
		VSUBPS(c, g, g)
		VMULPS(s.field("b"), g, g)
		VADDPS(g, del[0], del[0])
		der := s.of(at, u, "Der", "DerStride")
		VADDPS(der, g, g)
		VMOVUPS(g, der)
	}
	last := func() {
		s.keep(acc, del[0])
		s.further("Own", "OwnStride")
		s.further("V", "VStride")
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	fencePast(s.field("stream"))
	finish()
}

// dots returns the sums of what product makes of each head, which gets its number
// of weight in all lanes.
func dots(weight vec, product func(h int, f vec) vec) vec {
	var one, two, four vec
	toAll(weight, func(h int, f vec) {
		p := product(h, f)
		switch h % 4 {
		case 0, 2:
			one = p
		case 1:
			two = pair(one, p)
		case 3:
			two = pairwise(two, pair(one, p))
			if h < 4 {
				four = two
			}
		}
	})
	return halves(four, two)
}

// weigh returns the softmax of an edge under the mask, and stores it without the mask times
// the slope in B, and the mask's factors in C. The logit is above zero where up is
// larger than down.
func (s *spokes) weigh(rec Mem, own, perm reg.GPVirtual) vec {
	up, down := mul(get(rec), Mem{Base: own}), mul(get(rec.Offset(32)), Mem{Base: own, Disp: 32})
	alpha := higher(up, down)
	sloped := pick(compare(greater, up, down), up, mul(down, s.field("slope")))
	VMOVUPS(sloped, s.field("b"))
	if s.drops {
		gone := s.dropped(s.edge(perm))
		scale := andNot(gone, s.field("scale"))
		VMULPS(scale, alpha, alpha)
		VMOVUPS(scale, s.field("c"))
	}
	return alpha
}

// keep sets a source's gradients, or adds to them.
func (s *spokes) keep(acc []vec, del vec) {
	set, plain := fresh("set"), fresh("plain")
	rec := s.word("Rec")
	CMPQ(s.field("AddRec"), Imm(0))
	JE(LabelRef(set))
	VADDPS(Mem{Base: rec}, del, del)
	Label(set)
	VMOVUPS(del, Mem{Base: rec})
	CMPQ(s.field("AddY"), Imm(0))
	JE(LabelRef(plain))
	next := s.elements(Mem{Base: s.word("Y")})
	for h, a := range acc {
		VADDPS(next(h), a, a)
	}
	Label(plain)
	s.put(acc)
}

// nearAhead is how many edges ahead rows are asked for again, into the first cache:
// requests of many lines ahead of time are dropped when too many are under way, and
// then a row would be waited for.
const nearAhead = 8

// powersAhead is how many rows ahead rows are asked for. A forward pass of attention
// gathers between one tile of rows and the next, and the processor then no longer
// sees that these are read in order; other callers' rows are near, or few.
const powersAhead = 48

// rowsOfPowers writes simd.Powers.Rows.
func rowsOfPowers() {
	t := &tile{startOn("NodeExps", "nodeExpsOfRows", "", "nodeExpsOfRows is NodeExps.Rows."), 8}
	x, y, n, most := t.word("X"), t.word("Y"), t.word("rows"), YMM()
	VXORPS(most, most, most)
	row, done := fresh("row"), fresh("done")
	nextX, nextY := GP64(), GP64() // the elements from a row to that which is asked for with it
	IMUL3Q(Imm(powersAhead), t.field("XStride"), nextX)
	IMUL3Q(Imm(powersAhead), t.field("YStride"), nextY)
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(row)
	PREFETCHT0(Mem{Base: x, Index: nextX, Scale: 4})
	PREFETCHT0(Mem{Base: y, Index: nextY, Scale: 4})
	PREFETCHT0(Mem{Base: y, Index: nextY, Scale: 4, Disp: 60})
	v := get(Mem{Base: x})
	VPMAXUD(magnitude(v), most, most)
	low := mul(v, t.field("slope"))
	VMOVUPS(expOrdinary(v), Mem{Base: y})
	VMOVUPS(expOrdinary(low), Mem{Base: y, Disp: 32})
	t.advance(x, "XStride")
	t.advance(y, "YStride")
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
	VMOVUPS(most, t.field("most"))
	finish()
}
