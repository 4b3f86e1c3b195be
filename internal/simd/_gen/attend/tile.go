package attend

import (
	"fmt"
	"math"
	"math/bits"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tiles writes the steps of graph attention on a Tile, for 1, 2, 4 and
// 8 numbers an edge.
func Tiles() {
	for _, w := range []int{1, 2, 4, 8} {
		newTile("Tile", "gather", w, "Tile.Gather").gather()
		newTile("Tile", "soften", w, "Tile.Soften").soften()
		newTile("Tile", "mask", w, "Tile.Mask").mask()
		newTile("Tile", "recall", w, "Tile.Recall").recall()
		newTile("Tile", "score", w, "Tile.Score").score(false)
		newTile("Tile", "scoreApart", w, "Tile.Score to rows of edges").score(true)
	}
	newTile("Tile", "weighSlots", 0, "Tile.Weigh").weigh()
	newTile("Tile", "weigh", 8, "Tile.Weigh").weigh()
}

// tile is a kernel on a Tile of w numbers an edge. The slots of a row fill
// whole registers.
type tile struct {
	Args
	w int
}

func newTile(typ, name string, w int, doc string) *tile {
	what := "."
	if w > 0 {
		name, what = fmt.Sprintf("%s%d", name, w), fmt.Sprintf(" of %d numbers an edge.", w)
	}
	return &tile{StartOn(typ, name, "", name+" is "+doc+what), w}
}

// load loads an edge's numbers into the first lanes.
func (t *tile) load(m Mem) Vec {
	v := YMM()
	switch t.w {
	case 1:
		VMOVSS(m, v.AsX())
	case 2:
		VMOVSD(m, v.AsX())
	case 4:
		VMOVUPS(m, v.AsX())
	default:
		VMOVUPS(m, v)
	}
	return v
}

// store stores the first lanes.
func (t *tile) store(v Vec, m Mem) {
	switch t.w {
	case 1:
		VMOVSS(v.AsX(), m)
	case 2:
		VMOVLPS(v.AsX(), m)
	case 4:
		VMOVUPS(v.AsX(), m)
	default:
		VMOVUPS(v, m)
	}
}

// fold combines the lanes that belong to the same number.
func (t *tile) fold(v Vec, f func(x, y, z Op)) {
	if t.w < 8 {
		s := YMM()
		VPERM2F128(Imm(1), v, v, s)
		f(s, v, v)
	}
	if t.w < 4 {
		s := YMM()
		VPERMILPS(Imm(0x4e), v, s)
		f(s, v, v)
	}
	if t.w < 2 {
		s := YMM()
		VPERMILPS(Imm(0xb1), v, s)
		f(s, v, v)
	}
}

// advance adds a stride to a pointer.
func (t *tile) advance(p reg.GPVirtual, stride string) {
	s := t.Word(stride)
	LEAQ(Mem{Base: p, Index: s, Scale: 4}, p)
}

// at returns where the row of edge k's column is.
func (t *tile) at(cols, base, k reg.GPVirtual, stride string) Mem {
	u := GP64()
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, u)
	IMULQ(t.Field(stride), u)
	return Mem{Base: base, Index: u, Scale: 4}
}

// table is an array with a row for each column, of which a kernel will need
// some lines of the cache.
type table struct {
	base, stride, ahead string // fields
	line, lines         int
}

// fetch asks for lines of the row of the column of an edge some way ahead, of
// each table that has to be asked for.
func (t *tile) fetch(cols, k reg.GPVirtual, tables ...table) {
	skip := Fresh("skip")
	for i, f := range tables {
		if i == 0 || f.ahead != tables[i-1].ahead {
			CMPQ(t.Field(f.ahead), Imm(0))
			JE(LabelRef(skip))
		}
		far, base := t.Word(f.ahead), t.Word(f.base)
		ADDQ(k, far)
		CMPQ(far, t.Field("Last"))
		CMOVQGT(t.Field("Last"), far)
		m := t.at(cols, base, far, f.stride)
		for l := range f.lines {
			PREFETCHT1(m.Offset(64 * (f.line + l)))
		}
	}
	Label(skip)
}

// pad moves on over the slots that fill up a register after a row of count
// edges, which is lost.
func (t *tile) pad(count reg.GPVirtual, slots ...slot) {
	if t.w == 8 {
		return
	}
	NEGQ(count)
	ANDQ(Imm(uint64(8/t.w-1)), count)
	for _, s := range slots {
		d := GP64()
		MOVQ(count, d)
		SHLQ(Imm(uint64(bits.Len(uint(s.size))-1)), d)
		ADDQ(d, s.p)
	}
}

// slot is a pointer into an array of slots and the bytes of one.
type slot struct {
	p    reg.GPVirtual
	size int
}

// gather writes Tile.Gather.
//
//	Z[e,h] = Far[Cols[e],h] + Near[r,h]
func (t *tile) gather() {
	cols, far, near, rec := t.Word("Cols"), t.Word("Far"), t.Word("Near"), t.Word("Rec")
	z, id := t.Word("Z"), t.Word("Edge")
	t.Rows(func(k, end reg.GPVirtual) {
		again, over := Fresh("edge"), Fresh("over")
		// The destination's numbers, which are the record's first part too.
		own := t.load(Mem{Base: near})
		t.store(own, Mem{Base: rec})
		// A row without edges has no slots.
		count := GP64()
		MOVQ(end, count)
		SUBQ(k, count)
		JZ(LabelRef(over))
		// An edge: ask for rows that come later, add the two ends, note the edge's number.
		Label(again)
		t.fetch(cols, k, table{"Far", "FarStride", "Ahead", 0, 1})
		t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 0, 1})
		v := t.load(t.at(cols, far, k, "FarStride"))
		VADDPS(own, v, v)
		t.store(v, Mem{Base: z})
		MOVL(k.As32(), Mem{Base: id})
		ADDQ(Imm(uint64(4*t.w)), z)
		ADDQ(Imm(4), id)
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		// Skip the slots that fill up the last register; on to the next row.
		t.pad(count, slot{z, 4 * t.w}, slot{id, 4})
		Label(over)
		t.advance(near, "NearStride")
		t.advance(rec, "RecStride")
	})
	Finish()
}

// leaky is LeakyReLU, and where it is the identity.
func leaky(z, slope Vec) (s, positive Vec) {
	positive = Compare(Greater, z, Num(0))
	return Pick(positive, z, Mul(z, slope)), positive
}

// weight is exp(s − top) as Weigh has it. The exponential of −Inf, which is
// slow, is not taken.
func weight(s, top Vec) Vec {
	none := Compare(Equal, s, Num(math.Inf(-1)))
	d := AndNot(Or(Compare(Equal, s, top), none), Sub(s, top))
	return AndNot(none, Exp(d))
}

// soften writes Tile.Soften.
//
//	s = LeakyReLU(Z)    top = max_e s    Z = exp(s − top)    sum = Σ_e Z
func (t *tile) soften() {
	z, rec, cols, slope := t.Word("Z"), t.Word("Rec"), t.Word("Cols"), t.Everywhere("Slope")
	t.Rows(func(k, end reg.GPVirtual) {
		empty, next := Fresh("empty"), Fresh("next")
		// How many edges; none has a record of zeros.
		n := end
		SUBQ(k, n)
		JZ(LabelRef(empty))
		at, top := GP64(), Get(Num(math.Inf(-1)))
		MOVQ(z, at)
		// First pass: LeakyReLU in place, and the running maximum.
		step := func(mask Vec) {
			s, _ := leaky(Get(Mem{Base: at}), slope)
			if mask != nil {
				s = Pick(mask, s, Get(Num(math.Inf(-1))))
			}
			VMOVUPS(s, Mem{Base: at})
			VMAXPS(top, s, top) // of a NaN, what is there
			ADDQ(Imm(32), at)
		}
		// All registers, the last of which may be part of one: beyond its edges there is −∞.
		again := Fresh("logit")
		if t.w == 8 {
			Label(again)
			step(nil)
			DECQ(n)
			JNZ(LabelRef(again))
		} else {
			last := Fresh("last")
			SHLQ(Imm(uint64(bits.Len(uint(t.w))-1)), n)
			SUBQ(Imm(8), n)
			JLE(LabelRef(last))
			Label(again)
			step(nil)
			SUBQ(Imm(8), n)
			JG(LabelRef(again))
			Label(last)
			ADDQ(Imm(8), n)
			step(MaskOf(n))
		}
		// Maxima of lanes that belong to one head.
		t.fold(top, func(x, y, z Op) { VMAXPS(x, y, z) })
		// Second pass: exponentials in place, and their sum.
		sum, more := YMM(), Fresh("weight")
		VXORPS(sum, sum, sum)
		Label(more)
		if t.w == 8 { // exponentials leave memory the most time
			t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 1, 2})
			INCQ(k)
		}
		p := weight(Get(Mem{Base: z}), top)
		VADDPS(p, sum, sum)
		VMOVUPS(p, Mem{Base: z})
		ADDQ(Imm(32), z)
		CMPQ(z, at)
		JL(LabelRef(more))
		t.fold(sum, func(x, y, z Op) { VADDPS(x, y, z) })
		// The record: the maximum, 1/sum (or 1), the sum.
		one := Get(Num(1))
		by := Pick(Compare(Equal, sum, Num(0)), one, sum)
		t.store(top, Mem{Base: rec, Disp: 4 * t.w})
		t.store(Div(one, by), Mem{Base: rec, Disp: 8 * t.w})
		t.store(sum, Mem{Base: rec, Disp: 12 * t.w})
		JMP(LabelRef(next))
		// A row without edges.
		Label(empty)
		zero := YMM()
		VXORPS(zero, zero, zero)
		for i := 1; i < 4; i++ {
			t.store(zero, Mem{Base: rec, Disp: 4 * t.w * i})
		}
		Label(next)
		t.advance(rec, "RecStride")
	})
	Finish()
}

// mask writes Tile.Mask.
//
//	M[e,h] = scale where the hash of (edge, head) says keep, else 0
func (t *tile) mask() {
	columns := Pattern(fmt.Sprintf("columns%d", t.w), func(i int) uint32 { return uint32(i%t.w) * Golden })
	spread := Get(Pattern(fmt.Sprintf("spread%d", t.w), func(i int) uint32 { return uint32(i / t.w) }))
	m, id, n := t.Word("M"), t.Word("Edge"), t.Word("Slots")
	k0, k1, scale, col := t.Everywhere("k0"), t.Everywhere("k1"), t.Everywhere("scale"), t.Everywhere("Column")
	bar := NewThreshold(t.Field("drop"))
	// What the column of each lane adds to the hash of its row.
	VPMULLD(Wide(Golden), col, col)
	VPADDD(columns, col, col)
	again, done := Fresh("again"), Fresh("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(again)
	// The edges' numbers, each in the lanes of its heads.
	e := YMM()
	switch t.w {
	case 1:
		VMOVDQU(Mem{Base: id}, e)
	case 2:
		VMOVDQU(Mem{Base: id}, e.AsX())
	case 4:
		VMOVQ(Mem{Base: id}, e.AsX())
	default:
		VMOVD(Mem{Base: id}, e.AsX())
	}
	VPERMD(e, spread, e)
	// The hash of edge and head; scale where it is not below the threshold.
	VPADDD(k0, e, e)
	key := Mix(e)
	VPXOR(k1, key, key)
	VPADDD(col, key, key)
	VMOVUPS(AndNot(bar.Drops(key), scale), Mem{Base: m})
	ADDQ(Imm(32), m)
	ADDQ(Imm(uint64(32/t.w)), id)
	DECQ(n)
	JNZ(LabelRef(again))
	Label(done)
	Finish()
}

// recall writes Tile.Recall.
//
//	Z[e,h] = Far[Cols[e],0,h] + Near[r,h]    T, A, B[e,h] = Far[Cols[e],1…3,h]    G = 0
func (t *tile) recall() {
	cols, far, near := t.Word("Cols"), t.Word("Far"), t.Word("Near")
	perm, id, s := t.Word("Perm"), t.Word("Edge"), GP64()
	z := t.Word("Z")
	others := []string{"T", "A", "B", "G"}
	XORQ(s, s)
	t.Rows(func(k, end reg.GPVirtual) {
		again, over := Fresh("edge"), Fresh("over")
		own, zero := t.load(Mem{Base: near}), YMM()
		VXORPS(zero, zero, zero)
		count := GP64()
		MOVQ(end, count)
		SUBQ(k, count)
		JZ(LabelRef(over))
		put := func(v Vec, at string) {
			to := t.Word(at)
			t.store(v, Mem{Base: to, Index: s, Scale: 1})
		}
		Label(again)
		// Ask for the records and gradients of later edges' columns.
		t.fetch(cols, k, table{"Far", "FarStride", "Ahead", 0, max(1, t.w/4)}, table{"Der", "DerStride", "Ahead", 0, 1})
		// The logit, and the three other parts of the column's record, each to its array.
		m := t.at(cols, far, k, "FarStride")
		v := t.load(m)
		VADDPS(own, v, v)
		t.store(v, Mem{Base: z, Index: s, Scale: 1})
		for i, at := range others[:3] {
			put(t.load(m.Offset(4*t.w*(i+1))), at)
		}
		put(zero, "G")
		// The number of the edge.
		e := GP32()
		MOVL(Mem{Base: perm, Index: k, Scale: 4}, e)
		MOVL(e, Mem{Base: id})
		ADDQ(Imm(uint64(4*t.w)), s)
		ADDQ(Imm(4), id)
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		// The rest of the last register:
		if t.w < 8 { // slots without an edge weigh nothing
			for _, at := range append([]string{"Z"}, others...) {
				VMOVUPS(zero, Mem{Base: t.Word(at), Index: s, Scale: 1})
			}
		}
		t.pad(count, slot{s, 4 * t.w}, slot{id, 4})
		Label(over)
		t.advance(near, "NearStride")
	})
	Finish()
}

// weigh writes Tile.Weigh, which with eight numbers an edge asks for what
// will be read.
//
//	A = exp(LeakyReLU(Z) − T)·A    T = A·LeakyReLU'(Z)    B = T·B
func (t *tile) weigh() {
	z, top, a, b, n := t.Word("Z"), t.Word("T"), t.Word("A"), t.Word("B"), t.Word("Slots")
	slope := t.Everywhere("Slope")
	again, done := Fresh("again"), Fresh("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	var cols, k reg.GPVirtual
	if t.w == 8 {
		cols, k = t.Word("Cols"), t.Word("Offsets")
		MOVQ(Mem{Base: k}, k)
	}
	Label(again)
	if t.w == 8 {
		t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 2, 2})
		INCQ(k)
	}
	// The softmax, its product with the slope, and that with B.
	s, positive := leaky(Get(Mem{Base: z}), slope)
	alpha := Mul(weight(s, Get(Mem{Base: top})), Mem{Base: a})
	g := Pick(positive, alpha, Mul(alpha, slope))
	VMOVUPS(alpha, Mem{Base: a})
	VMOVUPS(g, Mem{Base: top})
	VMOVUPS(Mul(g, Mem{Base: b}), Mem{Base: b})
	// On to the next register of slots.
	for _, p := range []reg.GPVirtual{z, top, a, b} {
		ADDQ(Imm(32), p)
	}
	DECQ(n)
	JNZ(LabelRef(again))
	Label(done)
	Finish()
}

// score writes Tile.Score.
//
//	G = T·G − B    Rec[r] = Σ_e G    Der[Cols[e]] += G, or Der[Rows[e]] = G
func (t *tile) score(apart bool) {
	cols, der, rec := t.Word("Cols"), t.Word("Der"), t.Word("Rec")
	tt, b, g := t.Word("T"), t.Word("B"), t.Word("G")
	t.Rows(func(k, end reg.GPVirtual) {
		acc, none := YMM(), Fresh("none")
		VXORPS(acc, acc, acc)
		CMPQ(k, end)
		JE(LabelRef(none))
		// A register of gradients of logits, which are stored and summed.
		step := func() Vec {
			dz := Get(Mem{Base: tt})
			VMULPS(Mem{Base: g}, dz, dz)
			VSUBPS(Mem{Base: b}, dz, dz)
			VMOVUPS(dz, Mem{Base: g})
			VADDPS(dz, acc, acc)
			for _, p := range []reg.GPVirtual{tt, b, g} {
				ADDQ(Imm(32), p)
			}
			return dz
		}
		add := func(dz Vec) {
			// To the edge's own row, or to the column.
			if apart {
				e := GP64()
				MOVQ(k, e)
				SUBQ(t.Field("First"), e)
				rows := t.Word("Rows")
				MOVLQSX(Mem{Base: rows, Index: e, Scale: 4}, e)
				IMULQ(t.Field("DerStride"), e)
				t.store(dz, Mem{Base: der, Index: e, Scale: 4})
			} else {
				m := t.at(cols, der, k, "DerStride")
				own := t.load(m)
				VADDPS(dz, own, own)
				t.store(own, m)
			}
			INCQ(k)
			CMPQ(k, end)
		}
		again := Fresh("slot")
		if t.w == 8 {
			Label(again)
			t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 0, 2})
			add(step())
			JL(LabelRef(again))
		} else {
			from, n, edge := GP64(), GP64(), Fresh("edge")
			MOVQ(g, from)
			MOVQ(end, n)
			SUBQ(k, n)
			SHLQ(Imm(uint64(bits.Len(uint(t.w))-1)), n)
			Label(again)
			step()
			SUBQ(Imm(8), n)
			JG(LabelRef(again))
			Label(edge)
			v := t.load(Mem{Base: from})
			ADDQ(Imm(uint64(4*t.w)), from)
			add(v)
			JL(LabelRef(edge))
		}
		t.fold(acc, func(x, y, z Op) { VADDPS(x, y, z) })
		Label(none)
		t.store(acc, Mem{Base: rec})
		t.advance(rec, "RecStride")
	})
	Finish()
}
