package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// NodeExps writes the kernels of NodeExpAttention and NodeExps.
func NodeExps() {
	rowsOfNodeExps()
	columnOfNodeExps()
	pairOne()
	factorsOfEdges("factorsInOrder", false)
	factorsOfEdges("factorsOfPerm", true)
	newNodeExp("attendTwoHeads", "NodeExpAttention.Attend of two heads", false).attendTwo()
	for _, drops := range []bool{false, true} {
		newNodeExp("attendNodeExps", "NodeExpAttention.Attend", drops).attend()
		for _, apart := range []bool{false, true} {
			newRetrace("retraceNodeExps", "NodeExpAttention.Retrace", drops, apart).retrace()
			newRetrace("retraceSlim", "NodeExpAttention.Retrace of slim heads", drops, apart).slimmed().retrace()
			newRetrace("retraceOneHead", "NodeExpAttention.Retrace of one head", drops, apart).retraceOne()
		}
		newNodeExp("attendSlim", "NodeExpAttention.Attend of slim heads", drops).slimmed().attend()
		newNodeExp("attendOneHead", "NodeExpAttention.Attend of one head", drops).attendOne()
	}
}

// nodeExp is a kernel on a NodeExpAttention, with or without a mask.
type nodeExp struct {
	tile
	drops bool
	apart bool // of Retrace: Der has a row for each edge
	cols  reg.GPVirtual
	k     reg.GPVirtual // the edge

	inside Vec           // of slim heads: the lanes of their elements
	size   reg.GPVirtual // and their bytes
}

func newNodeExp(name, doc string, drops bool) *nodeExp {
	with := "."
	if drops {
		name, with = name+"Drop", " under a mask."
	}
	s := &nodeExp{tile: tile{StartOn("NodeExpAttention", name, "", name+" is "+doc+with), 8}, drops: drops}
	s.cols = s.Word("Cols")
	return s
}

// newRetrace is newNodeExp of a Retrace.
func newRetrace(name, doc string, drops, apart bool) *nodeExp {
	if apart {
		name, doc = name+"Apart", doc+" to rows of edges"
	}
	s := newNodeExp(name, doc, drops)
	s.apart = apart
	return s
}

// slimmed makes it a kernel of eight heads of fewer elements than a register has.
func (s *nodeExp) slimmed() *nodeExp {
	s.size = s.Word("Width")
	s.inside = MaskOf(s.size)
	SHLQ(Imm(2), s.size)
	return s
}

// elements returns a function that loads those of the heads of a row, one head
// after the other.
func (s *nodeExp) elements(row Mem) func(h int) Vec {
	if s.size == nil {
		return func(h int) Vec { return Get(row.Offset(32 * h)) }
	}
	at := GP64()
	LEAQ(row, at)
	return func(h int) Vec {
		v := YMM()
		VMASKMOVPS(Mem{Base: at}, s.inside, v)
		if h < Lanes-1 {
			ADDQ(s.size, at)
		}
		return v
	}
}

// further adds a stride to a pointer in memory.
func (s *nodeExp) further(field, stride string) {
	by := s.Word(stride)
	SHLQ(Imm(2), by)
	ADDQ(by, s.Field(field))
}

// each writes a loop over the rows, which stops before one that ends beyond the
// most edges. first is done at a row's start, edge for each edge, and last at the
// end.
func (s *nodeExp) each(first, edge, last func()) {
	row, again, none, stop := Fresh("row"), Fresh("edge"), Fresh("none"), Fresh("stop")
	end := GP64()
	s.k = GP64()
	CMPQ(s.Field("left"), Imm(0))
	JE(LabelRef(stop))
	Label(row)
	// The range of the edges, which one call must not go beyond.
	offs := s.Word("Offsets")
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	CMPQ(end, s.Field("most"))
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
	// On to the next node.
	ADDQ(Imm(8), s.Field("Offsets"))
	DECQ(s.Field("left"))
	JNZ(LabelRef(row))
	Label(stop)
}

// ask asks for lines of the rows of some arrays that an edge some way ahead has, and
// again for those of one that is soon read.
func (s *nodeExp) ask(at places, arrays ...table) {
	skip := Fresh("skip")
	far := s.Word("Ahead")
	TESTQ(far, far)
	JZ(LabelRef(skip))
	ADDQ(s.k, far)
	s.request(far, PREFETCHT1, at, arrays)
	LEAQ(Mem{Base: s.k, Disp: NearAhead}, far)
	s.request(far, PREFETCHT0, at, arrays)
	Label(skip)
}

// request asks for the rows of an edge, or of the last.
func (s *nodeExp) request(e reg.GPVirtual, fetch func(Op), at places, arrays []table) {
	CMPQ(e, s.Field("Last"))
	CMOVQGT(s.Field("Last"), e)
	u := GP64()
	MOVLQSX(Mem{Base: s.cols, Index: e, Scale: 4}, u)
	for _, a := range arrays {
		if a.base == "Der" && s.apart {
			continue // it is only written
		}
		row := s.of(at, u, a.base, a.stride)
		for l := range a.lines {
			fetch(row.Offset(64 * l))
		}
	}
}

// pass adds dz to the row of Der of the column u, or sets the edge's own.
func (s *nodeExp) pass(at places, u reg.GPVirtual, add, set func(der Mem)) {
	if s.apart {
		e := GP64()
		MOVQ(s.k, e)
		SUBQ(s.Field("First"), e)
		rows := s.Word("Rows")
		MOVLQSX(Mem{Base: rows, Index: e, Scale: 4}, e)
		set(s.of(at, e, "Der", "DerStride"))
		return
	}
	der := s.of(at, u, "Der", "DerStride")
	add(der)
	set(der)
}

// dropped is all ones where the edge e, which is in all lanes, is not kept.
func (s *nodeExp) dropped(e Vec) Vec {
	VPADDD(s.Field("k0"), e, e)
	key := Mix(e)
	VPXOR(s.Field("k1"), key, key)
	VPADDD(s.Field("lane"), key, key)
	h, bar := Xor(Stirred(key), s.Field("flip")), Get(s.Field("drop"))
	VPCMPGTD(h, bar, bar)
	return bar
}

// edge is the number of the edge in all lanes.
func (s *nodeExp) edge(perm reg.GPVirtual) Vec {
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
func zero(acc []Vec) {
	for i := range acc {
		if acc[i] == nil {
			acc[i] = YMM()
		}
		VXORPS(acc[i], acc[i], acc[i])
	}
}

// toAll calls f with each head's number in all lanes.
func toAll(v Vec, f func(h int, x Vec)) {
	for h := 0; h < Lanes; h += 4 {
		half := YMM()
		VPERM2F128(Imm(uint64(h/4*0x11)), v, v, half)
		for i := range 4 {
			x := YMM()
			VPERMILPS(Imm(uint64(i*0x55)), half, x)
			f(h+i, x)
		}
	}
}

// attend writes NodeExpAttention.Attend.
//
//	p[e,h] = max(up[r,h]·Far[Cols[e],0,h], down[r,h]·Far[Cols[e],1,h])
//	Y[r,h,:] = Σ_e p·mask·X[Cols[e],h,:] / Σ_e p + Bias[h,:]
func (s *nodeExp) attend() {
	at := places{"Far": s.Word("Far"), "X": s.Word("X")}
	acc, sum := make([]Vec, Lanes), make([]Vec, 1)
	up, down := YMM(), YMM() // the exponentials of the destination
	first := func() {
		zero(acc)
		zero(sum)
		rec := s.Word("Rec")
		VMOVUPS(Mem{Base: rec}, up)
		VMOVUPS(Mem{Base: rec, Disp: 32}, down)
	}
	edge := func() {
		s.ask(at, s.carried(), table{base: "Far", stride: "FarStride", lines: 1})
		// The exponential of the logit: the larger of two products.
		u := s.column()
		far := s.of(at, u, "Far", "FarStride")
		e := Higher(Mul(up, far), Mul(down, far.Offset(32)))
		VADDPS(e, sum[0], sum[0])
		// Dropped: it counts in the sum, and weighs nothing.
		if s.drops {
			e = AndNot(s.dropped(s.edge(nil)), e)
		}
		// Multiply-accumulate the column's row, each head by its weight.
		x := s.of(at, u, "X", "XStride")
		if s.size == nil {
			toAll(e, func(h int, f Vec) { VFMADD231PS(x.Offset(32*h), f, acc[h]) })
			return
		}
		next := s.elements(x)
		toAll(e, func(h int, f Vec) { VFMADD231PS(next(h), f, acc[h]) })
	}
	last := func() {
		rec := s.Word("Rec")
		// One over the sum, or 0 of a row without edges; the record becomes the softmax's.
		inverse := Div(Get(Num(1)), sum[0])
		inverse = AndNot(Compare(Equal, sum[0], Num(0)), inverse) // of a row without edges
		VMULPS(inverse, up, up)
		VMULPS(inverse, down, down)
		VMOVUPS(up, Mem{Base: rec})
		VMOVUPS(down, Mem{Base: rec, Disp: 32})
		if s.drops {
			VMULPS(s.Field("scale"), inverse, inverse)
		}
		// Divide, add the bias, store.
		toAll(inverse, func(h int, f Vec) {
			VMULPS(f, acc[h], acc[h])
			if s.size == nil {
				VADDPS(s.Field("room").Offset(32*h), acc[h], acc[h])
			}
		})
		s.put(acc)
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	FenceStream(s.Field("stream"))
	Finish()
}

// carried is the table of what is carried. Of slim heads two lines are most of a
// row.
func (s *nodeExp) carried() table {
	t := table{base: "X", stride: "XStride", lines: 4}
	if s.size != nil {
		t.lines = 2
	}
	return t
}

// put stores a row of the result, past the caches if so told.
func (s *nodeExp) put(acc []Vec) {
	if s.size != nil {
		s.putSlim(acc)
	} else {
		StoreStream(s.Field("stream"), acc, s.Word("Y"))
	}
}

// putSlim is put of slim heads: each is stored over the end of the one before it
// in the room, and the row is as many registers as a head has elements.
func (s *nodeExp) putSlim(acc []Vec) {
	at, from, left, y := GP64(), GP64(), GP64(), s.Word("Y")
	LEAQ(s.Field("room"), at)
	MOVQ(at, from)
	for _, a := range acc {
		VMOVUPS(a, Mem{Base: at})
		ADDQ(s.size, at)
	}
	again := Fresh("copy")
	MOVQ(s.size, left)
	Label(again)
	VMOVUPS(Get(Mem{Base: from}), Mem{Base: y})
	ADDQ(Imm(32), from)
	ADDQ(Imm(32), y)
	SUBQ(Imm(4), left)
	JG(LabelRef(again))
}

// pair adds up halves of the products of two heads: each half of the register has
// two numbers of x, and two of y.
func pair(x, y Vec) Vec {
	t := YMM()
	VSHUFPS(Imm(0x4e), y, x, t)
	VBLENDPS(Imm(0xcc), y, x, x)
	VADDPS(t, x, x)
	return x
}

// retrace writes NodeExpAttention.Retrace.
//
//	Y[r,h,:] = Σ_e α·mask·X[Cols[e],h,:]    dz = α·LeakyReLU'·(mask·⟨X, V⟩ − Σα·dα)    Rec[r,h] = Σ_e dz    Der[Cols[e],h] += dz
func (s *nodeExp) retrace() {
	at := places{"Far": s.Word("Far"), "X": s.Word("X"), "Der": s.Word("Der")}
	acc := make([]Vec, Lanes)
	del := make([]Vec, 1)
	var perm reg.GPVirtual
	if s.drops {
		perm = s.Word("Perm")
	}
	own, v := GP64(), GP64()
	// Slim heads are spread in the room, a register each.
	if s.size != nil {
		LEAQ(s.Field("room"), v)
	}
	first := func() {
		zero(acc)
		zero(del)
		// The node's exponentials and its row.
		MOVQ(s.Field("Own"), own)
		if s.size == nil {
			MOVQ(s.Field("V"), v)
			return
		}
		next := s.elements(Mem{Base: s.Word("V")})
		for h := range Lanes {
			VMOVUPS(next(h), Mem{Base: v, Disp: 32 * h})
		}
	}
	edge := func() {
		s.ask(at, s.carried(), table{base: "Far", stride: "FarStride", lines: 2},
			table{base: "Der", stride: "DerStride", lines: 1})
		u := s.column()
		rec := s.of(at, u, "Far", "FarStride")
		// The softmax of the edge.
		weight := s.weigh(rec, own, perm)
		next := s.elements(s.of(at, u, "X", "XStride"))
		// Load the column's row once: multiply-accumulate it, and its inner products with V.
		g := dots(weight, func(h int, f Vec) Vec {
			from := next(h)
			VFMADD231PS(from, f, acc[h])
			VMULPS(Mem{Base: v, Disp: 32 * h}, from, from)
			return from
		})
		// dz: the mask's factor, less Σ α·dα, times α and the slope.
		c := rec.Offset(64)
		if s.drops {
			VMULPS(s.Field("c"), g, g)
		}
		VSUBPS(c, g, g)
		VMULPS(s.Field("b"), g, g)
		VADDPS(g, del[0], del[0])
		// To the node, and to the column or the edge.
		s.pass(at, u, func(der Mem) { VADDPS(der, g, g) }, func(der Mem) { VMOVUPS(g, der) })
	}
	last := func() {
		s.keep(acc, del[0])
		s.further("Own", "OwnStride")
		s.further("V", "VStride")
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	FenceStream(s.Field("stream"))
	Finish()
}

// dots returns the sums of what product makes of each head, which gets its number
// of weight in all lanes.
func dots(weight Vec, product func(h int, f Vec) Vec) Vec {
	var one, two, four Vec
	toAll(weight, func(h int, f Vec) {
		p := product(h, f)
		switch h % 4 {
		case 0, 2:
			one = p
		case 1:
			two = pair(one, p)
		case 3:
			two = Pairwise(two, pair(one, p))
			if h < 4 {
				four = two
			}
		}
	})
	return Halves(four, two)
}

// weigh returns the softmax of an edge under the mask, and stores it without the mask times
// the slope in B, and the mask's factors in C. The logit is above zero where up is
// larger than down.
func (s *nodeExp) weigh(rec Mem, own, perm reg.GPVirtual) Vec {
	up, down := Mul(Get(rec), Mem{Base: own}), Mul(Get(rec.Offset(32)), Mem{Base: own, Disp: 32})
	alpha := Higher(up, down)
	sloped := Pick(Compare(Greater, up, down), up, Mul(down, s.Field("slope")))
	VMOVUPS(sloped, s.Field("b"))
	if s.drops {
		gone := s.dropped(s.edge(perm))
		scale := AndNot(gone, s.Field("scale"))
		VMULPS(scale, alpha, alpha)
		VMOVUPS(scale, s.Field("c"))
	}
	return alpha
}

// keep sets a source's gradients, or adds to them.
func (s *nodeExp) keep(acc []Vec, del Vec) {
	set, plain := Fresh("set"), Fresh("plain")
	rec := s.Word("Rec")
	CMPQ(s.Field("AddRec"), Imm(0))
	JE(LabelRef(set))
	VADDPS(Mem{Base: rec}, del, del)
	Label(set)
	VMOVUPS(del, Mem{Base: rec})
	CMPQ(s.Field("AddY"), Imm(0))
	JE(LabelRef(plain))
	next := s.elements(Mem{Base: s.Word("Y")})
	for h, a := range acc {
		VADDPS(next(h), a, a)
	}
	Label(plain)
	s.put(acc)
}

// expsAhead is how many rows ahead rows are asked for. A forward pass of attention
// gathers between one tile of rows and the next, and the processor then no longer
// sees that these are read in order; other callers' rows are near, or few.
const expsAhead = 48

// rowsOfNodeExps writes NodeExps.Rows.
func rowsOfNodeExps() {
	t := &tile{StartOn("NodeExps", "nodeExpsOfRows", "", "nodeExpsOfRows is NodeExps.Rows."), 8}
	x, y, n, most := t.Word("X"), t.Word("Y"), t.Word("rows"), YMM()
	VXORPS(most, most, most)
	row, done := Fresh("row"), Fresh("done")
	nextX, nextY := GP64(), GP64() // the elements from a row to that which is asked for with it
	IMUL3Q(Imm(expsAhead), t.Field("XStride"), nextX)
	IMUL3Q(Imm(expsAhead), t.Field("YStride"), nextY)
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(row)
	PREFETCHT0(Mem{Base: x, Index: nextX, Scale: 4})
	PREFETCHT0(Mem{Base: y, Index: nextY, Scale: 4})
	PREFETCHT0(Mem{Base: y, Index: nextY, Scale: 4, Disp: 60})
	v := Get(Mem{Base: x})
	VPMAXUD(Magnitude(v), most, most)
	low := Mul(v, t.Field("slope"))
	VMOVUPS(ExpOrdinary(v), Mem{Base: y})
	VMOVUPS(ExpOrdinary(low), Mem{Base: y, Disp: 32})
	t.advance(x, "XStride")
	t.advance(y, "YStride")
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
	VMOVUPS(most, t.Field("most"))
	Finish()
}
