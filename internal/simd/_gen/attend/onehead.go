package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of NodeExpAttention of one head. An edge's numbers of the softmax stand
// in the first lane of a register, its elements in as many as there are: most
// nodes have too few edges for a register of these.

// factorsOfEdges writes the factors of the mask for edges from one to another, a
// multiple of eight.
func factorsOfEdges(name string, permuted bool) {
	with := "consecutive edges."
	if permuted {
		with = "the edges that Perm names."
	}
	s := &nodeExp{tile: tile{StartOn("NodeExpAttention", name, "from, to int", name+" sets the factors of a mask, of "+with), 8}}
	from, to := Arg("from"), Arg("to")
	f := s.Word("Factors")
	again, done := Fresh("eight"), Fresh("done")
	perm, e := s.Word("Perm"), YMM()
	// Edges in order count up in the lanes.
	if !permuted {
		VMOVD(from.As32(), e.AsX())
		VPBROADCASTD(e.AsX(), e)
		VPADDD(Pattern("places", func(i int) uint32 { return uint32(i) }), e, e)
	}
	CMPQ(from, to)
	JGE(LabelRef(done))
	Label(again)
	// The numbers of eight edges.
	edge := YMM()
	if permuted {
		VMOVDQU(Mem{Base: perm, Index: from, Scale: 4}, edge)
	} else {
		VMOVDQA(e, edge)
		VPADDD(Wide(Lanes), e, e)
	}
	// scale where the hash says keep, else 0.
	VMOVUPS(AndNot(s.dropped(edge), s.Field("scale")), Mem{Base: f})
	ADDQ(Imm(4*Lanes), f)
	ADDQ(Imm(Lanes), from)
	CMPQ(from, to)
	JL(LabelRef(again))
	Label(done)
	Finish()
}

// factor is where that of the edge is, if there is a mask: counted from the first
// edge on.
func (s *nodeExp) factor() Mem {
	base := GP64()
	if s.drops {
		first := GP64()
		MOVQ(s.Word("Factors"), base)
		MOVQ(Mem{Base: s.Word("Offsets")}, first)
		SHLQ(Imm(2), first)
		SUBQ(first, base)
	}
	return Mem{Base: base, Scale: 4}
}

// firstOf is the product of first lanes, of which one is in memory.
func firstOf(x Vec, by Mem) Vec {
	v := YMM()
	VMULSS(by, x.AsX(), v.AsX())
	return v
}

// toEvery is the first lane in all lanes.
func toEvery(v Vec) Vec {
	x := YMM()
	VBROADCASTSS(v.AsX(), x)
	return x
}

// places are where arrays with a row for each column begin.
type places map[string]reg.GPVirtual

// of returns where the row of column u is in an array.
func (s *nodeExp) of(at places, u reg.GPVirtual, field, stride string) Mem {
	row := GP64()
	MOVQ(u, row)
	IMULQ(s.Field(stride), row)
	return Mem{Base: at[field], Index: row, Scale: 4}
}

// column is that of the edge.
func (s *nodeExp) column() reg.GPVirtual {
	u := GP64()
	MOVLQSX(Mem{Base: s.cols, Index: s.k, Scale: 4}, u)
	return u
}

// attendOne writes NodeExpAttention.Attend of one head.
//
//	p[e] = max(up[r]·Far[Cols[e],0], down[r]·Far[Cols[e],1])    Y[r,:] = Σ_e p·mask·X[Cols[e],:] / Σ_e p
func (s *nodeExp) attendOne() {
	at := places{"Far": s.Word("Far"), "X": s.Word("X")}
	acc, sum, up, down := make([]Vec, 1), make([]Vec, 1), YMM(), YMM()
	factor := s.factor()
	width := s.Word("Width")
	inside := MaskOf(width)
	first := func() {
		zero(acc)
		zero(sum)
		rec := s.Word("Rec")
		VMOVSS(Mem{Base: rec}, up.AsX())
		VMOVSS(Mem{Base: rec, Disp: 4}, down.AsX())
	}
	edge := func() {
		s.ask(at, table{base: "X", stride: "XStride", lines: 1}, table{base: "Far", stride: "FarStride", lines: 1})
		// The exponential of the logit: the larger of two products, and its sum.
		u := s.column()
		far := s.of(at, u, "Far", "FarStride")
		p := Higher(firstOf(up, far), firstOf(down, far.Offset(4)))
		VADDSS(p.AsX(), sum[0].AsX(), sum[0].AsX())
		if s.drops {
			factor.Index = s.k
			VMULSS(factor, p.AsX(), p.AsX())
		}
		// Multiply-accumulate the column's row.
		x := YMM()
		VMASKMOVPS(s.of(at, u, "X", "XStride"), inside, x)
		VFMADD231PS(x, toEvery(p), acc[0])
	}
	last := func() {
		rec, all := s.Word("Rec"), toEvery(sum[0])
		// Divide by the sum, or by nothing in a row without edges; the record becomes the softmax's.
		inverse := Div(Get(Num(1)), all)
		inverse = AndNot(Compare(Equal, all, Num(0)), inverse) // of a row without edges
		VMULSS(inverse.AsX(), up.AsX(), up.AsX())
		VMULSS(inverse.AsX(), down.AsX(), down.AsX())
		VMOVSS(up.AsX(), Mem{Base: rec})
		VMOVSS(down.AsX(), Mem{Base: rec, Disp: 4})
		StoreFirst(Mul(inverse, acc[0]), width, Mem{Base: s.Word("Y")})
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	Finish()
}

// ownRow is what a source keeps in registers: its exponentials, and its elements.
type ownRow struct {
	up, down, v Vec
}

// retraceOne writes NodeExpAttention.Retrace of one head.
//
//	Y[r,:] = Σ_e α·mask·X[Cols[e],:]    dz = α·LeakyReLU'·(mask·⟨X, V⟩ − Σα·dα)    Rec[r] = Σ_e dz    Der[Cols[e]] += dz
func (s *nodeExp) retraceOne() {
	acc, del := make([]Vec, 1), make([]Vec, 1)
	own := ownRow{YMM(), YMM(), YMM()}
	at := places{"Far": s.Word("Far"), "X": s.Word("X"), "Der": s.Word("Der")}
	factor := s.factor()
	width := s.Word("Width")
	inside := MaskOf(width)
	slope := Get(s.Field("slope"))
	first := func() {
		zero(acc)
		zero(del)
		powers := s.Word("Own")
		VMOVSS(Mem{Base: powers}, own.up.AsX())
		VMOVSS(Mem{Base: powers, Disp: 4}, own.down.AsX())
		VMASKMOVPS(Mem{Base: s.Word("V")}, inside, own.v)
	}
	edge := func() {
		s.ask(at, table{base: "X", stride: "XStride", lines: 1}, table{base: "Far", stride: "FarStride", lines: 1},
			table{base: "Der", stride: "DerStride", lines: 1})
		u := s.column()
		rec := s.of(at, u, "Far", "FarStride")
		// The softmax of the edge, and its product with the slope.
		up, down := firstOf(own.up, rec), firstOf(own.down, rec.Offset(4))
		alpha := Higher(up, down)
		sloped := Pick(Compare(Greater, up, down), up, Mul(down, slope))
		// The column's row: its inner product with V, and multiply-accumulate.
		x, weight := YMM(), toEvery(alpha)
		VMASKMOVPS(s.of(at, u, "X", "XStride"), inside, x)
		g := Across(Mul(x, own.v))
		if s.drops {
			factor.Index = s.k
			VMULSS(factor, g, g)
			kept := YMM()
			VBROADCASTSS(factor, kept)
			VMULPS(kept, weight, weight)
		}
		VFMADD231PS(x, weight, acc[0])
		// dz, to the node, and to the column or the edge.
		VSUBSS(rec.Offset(8), g, g)
		VMULSS(sloped.AsX(), g, g)
		VADDSS(g, del[0].AsX(), del[0].AsX())
		s.pass(at, u, func(der Mem) { VADDSS(der, g, g) }, func(der Mem) { VMOVSS(g, der) })
	}
	last := func() {
		s.keepOne(acc[0], del[0], width, inside)
		for _, x := range [][2]string{{"Own", "OwnStride"}, {"V", "VStride"}, {"Rec", "RecStride"}, {"Y", "YStride"}} {
			s.further(x[0], x[1])
		}
	}
	s.each(first, edge, last)
	Finish()
}

// pairOne writes NodeExpAttention.Pair of one head.
func pairOne() {
	s := &nodeExp{tile: tile{StartOn("NodeExpAttention", "pairOneHead", "", "pairOneHead is NodeExpAttention.Pair of one head."), 8}}
	x, v, rec, n := s.Word("X"), s.Word("V"), s.Word("Rec"), s.Word("left")
	inside := MaskOf(s.Word("Width"))
	again := Fresh("row")
	Label(again)
	a, b := YMM(), YMM()
	VMASKMOVPS(Mem{Base: x}, inside, a)
	VMASKMOVPS(Mem{Base: v}, inside, b)
	VMOVSS(Across(Mul(a, b)), Mem{Base: rec, Disp: 8})
	s.advance(x, "XStride")
	s.advance(v, "VStride")
	s.advance(rec, "RecStride")
	DECQ(n)
	JNZ(LabelRef(again))
	Finish()
}

// keepOne sets a source's gradients, or adds to them.
func (s *nodeExp) keepOne(acc, del Vec, width reg.GPVirtual, inside Vec) {
	set, plain := Fresh("set"), Fresh("plain")
	rec, y := s.Word("Rec"), s.Word("Y")
	CMPQ(s.Field("AddRec"), Imm(0))
	JE(LabelRef(set))
	VADDSS(Mem{Base: rec}, del.AsX(), del.AsX())
	Label(set)
	VMOVSS(del.AsX(), Mem{Base: rec})
	CMPQ(s.Field("AddY"), Imm(0))
	JE(LabelRef(plain))
	old := YMM()
	VMASKMOVPS(Mem{Base: y}, inside, old)
	VADDPS(old, acc, acc)
	Label(plain)
	StoreFirst(acc, width, Mem{Base: y})
}

// columnOfNodeExps writes NodeExps.Column of rows in eights.
func columnOfNodeExps() {
	t := &tile{StartOn("NodeExps", "nodeExpsOfColumn", "", "nodeExpsOfColumn is NodeExps.Column of rows in eights."), 8}
	x, y, n, most := t.Word("X"), t.Word("Y"), t.Word("rows"), YMM()
	VXORPS(most, most, most)
	none := YMM()
	VXORPS(none, none, none)
	row := Fresh("rows")
	Label(row)
	// Eight logits: the largest magnitude, and both exponentials.
	v := Get(Mem{Base: x})
	VPMAXUD(Magnitude(v), most, most)
	low := Mul(v, t.Field("slope"))
	up, down := ExpOrdinary(v), ExpOrdinary(low)
	// Transpose to rows of four: the logit, up, down, 0.
	for half, unpack := range []func(...Op){func(o ...Op) { VUNPCKLPS(o[0], o[1], o[2]) }, func(o ...Op) { VUNPCKHPS(o[0], o[1], o[2]) }} {
		a, b, even, odd := YMM(), YMM(), YMM(), YMM()
		unpack(up, v, a)
		unpack(none, down, b)
		VUNPCKLPD(b, a, even)
		VUNPCKHPD(b, a, odd)
		for i, r := range []Vec{even, odd} {
			at := 16 * (2*half + i)
			VMOVUPS(r.AsX(), Mem{Base: y, Disp: at})
			VEXTRACTF128(Imm(1), r, Mem{Base: y, Disp: 64 + at})
		}
	}
	ADDQ(Imm(32), x)
	ADDQ(Imm(128), y)
	SUBQ(Imm(Lanes), n)
	JNZ(LabelRef(row))
	VMOVUPS(most, t.Field("most"))
	Finish()
}
