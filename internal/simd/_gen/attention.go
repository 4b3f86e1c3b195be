package main

import (
	"fmt"
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// attention writes the steps of graph attention on a simd.Tile, for 1, 2, 4 and
// 8 numbers an edge.
func attention() {
	for _, w := range []int{1, 2, 4, 8} {
		newTile("Tile", "gather", w, "Tile.Gather").gather()
		newTile("Tile", "soften", w, "Tile.Soften").soften()
		newTile("Tile", "mask", w, "Tile.Mask").mask()
		newTile("Tile", "recall", w, "Tile.Recall").recall()
		newTile("Tile", "score", w, "Tile.Score").score()
	}
	newTile("Tile", "weighSlots", 0, "Tile.Weigh").weigh()
	newTile("Tile", "weigh", 8, "Tile.Weigh").weigh()
}

// tile is a kernel on a simd.Tile of w numbers an edge. The slots of a row fill
// whole registers.
type tile struct {
	args
	w int
}

func newTile(typ, name string, w int, doc string) *tile {
	what := "."
	if w > 0 {
		name, what = fmt.Sprintf("%s%d", name, w), fmt.Sprintf(" of %d numbers an edge.", w)
	}
	return &tile{startOn(typ, name, "", name+" is "+doc+what), w}
}

// load loads an edge's numbers into the first lanes.
func (t *tile) load(m Mem) vec {
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
func (t *tile) store(v vec, m Mem) {
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
func (t *tile) fold(v vec, f func(x, y, z Op)) {
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

// rows writes a loop over the rows; body is given the first edge and the end,
// which it may change.
func (t *tile) rows(body func(k, end reg.GPVirtual)) {
	row, done := fresh("row"), fresh("done")
	offs, n := t.word("Offsets"), t.word("Offsets.len")
	DECQ(n)
	JLE(LabelRef(done))
	Label(row)
	k, end := GP64(), GP64()
	MOVQ(Mem{Base: offs}, k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	body(k, end)
	ADDQ(Imm(8), offs)
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
}

// advance adds a stride to a pointer.
func (t *tile) advance(p reg.GPVirtual, stride string) {
	s := t.word(stride)
	LEAQ(Mem{Base: p, Index: s, Scale: 4}, p)
}

// at returns where the row of edge k's column is.
func (t *tile) at(cols, base, k reg.GPVirtual, stride string) Mem {
	u := GP64()
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, u)
	IMULQ(t.field(stride), u)
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
	skip := fresh("skip")
	for i, f := range tables {
		if i == 0 || f.ahead != tables[i-1].ahead {
			CMPQ(t.field(f.ahead), Imm(0))
			JE(LabelRef(skip))
		}
		far, base := t.word(f.ahead), t.word(f.base)
		ADDQ(k, far)
		CMPQ(far, t.field("Last"))
		CMOVQGT(t.field("Last"), far)
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

// gather writes simd.Tile.Gather.
func (t *tile) gather() {
	cols, far, near, rec := t.word("Cols"), t.word("Far"), t.word("Near"), t.word("Rec")
	z, id := t.word("Z"), t.word("Edge")
	t.rows(func(k, end reg.GPVirtual) {
		again, over := fresh("edge"), fresh("over")
		own := t.load(Mem{Base: near})
		t.store(own, Mem{Base: rec})
		count := GP64()
		MOVQ(end, count)
		SUBQ(k, count)
		JZ(LabelRef(over))
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
		t.pad(count, slot{z, 4 * t.w}, slot{id, 4})
		Label(over)
		t.advance(near, "NearStride")
		t.advance(rec, "RecStride")
	})
	finish()
}

// leaky is LeakyReLU, and where it is the identity.
func leaky(z, slope vec) (s, positive vec) {
	positive = compare(greater, z, num(0))
	return pick(positive, z, mul(z, slope)), positive
}

// weight is exp(s − top) as simd.Weigh has it. The exponential of −Inf, which is
// slow, is not taken.
func weight(s, top vec) vec {
	none := compare(equal, s, num(math.Inf(-1)))
	d := andNot(or(compare(equal, s, top), none), sub(s, top))
	return andNot(none, exp(d))
}

// soften writes simd.Tile.Soften.
func (t *tile) soften() {
	z, rec, cols, slope := t.word("Z"), t.word("Rec"), t.word("Cols"), t.everywhere("Slope")
	t.rows(func(k, end reg.GPVirtual) {
		empty, next := fresh("empty"), fresh("next")
		n := end
		SUBQ(k, n)
		JZ(LabelRef(empty))
		at, top := GP64(), get(num(math.Inf(-1)))
		MOVQ(z, at)
		step := func(mask vec) {
			s, _ := leaky(get(Mem{Base: at}), slope)
			if mask != nil {
				s = pick(mask, s, get(num(math.Inf(-1))))
			}
			VMOVUPS(s, Mem{Base: at})
			VMAXPS(top, s, top) // of a NaN, what is there
			ADDQ(Imm(32), at)
		}
		again := fresh("logit")
		if t.w == 8 {
			Label(again)
			step(nil)
			DECQ(n)
			JNZ(LabelRef(again))
		} else {
			last := fresh("last")
			SHLQ(Imm(uint64(bits.Len(uint(t.w))-1)), n)
			SUBQ(Imm(8), n)
			JLE(LabelRef(last))
			Label(again)
			step(nil)
			SUBQ(Imm(8), n)
			JG(LabelRef(again))
			Label(last)
			ADDQ(Imm(8), n)
			step(maskOf(n))
		}
		t.fold(top, func(x, y, z Op) { VMAXPS(x, y, z) })
		sum, more := YMM(), fresh("weight")
		VXORPS(sum, sum, sum)
		Label(more)
		if t.w == 8 { // exponentials leave memory the most time
			t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 1, 2})
			INCQ(k)
		}
		p := weight(get(Mem{Base: z}), top)
		VADDPS(p, sum, sum)
		VMOVUPS(p, Mem{Base: z})
		ADDQ(Imm(32), z)
		CMPQ(z, at)
		JL(LabelRef(more))
		t.fold(sum, func(x, y, z Op) { VADDPS(x, y, z) })
		one := get(num(1))
		by := pick(compare(equal, sum, num(0)), one, sum)
		t.store(top, Mem{Base: rec, Disp: 4 * t.w})
		t.store(div(one, by), Mem{Base: rec, Disp: 8 * t.w})
		t.store(sum, Mem{Base: rec, Disp: 12 * t.w})
		JMP(LabelRef(next))
		Label(empty)
		zero := YMM()
		VXORPS(zero, zero, zero)
		for i := 1; i < 4; i++ {
			t.store(zero, Mem{Base: rec, Disp: 4 * t.w * i})
		}
		Label(next)
		t.advance(rec, "RecStride")
	})
	finish()
}

var patterns = map[string]Mem{}

// pattern returns the memory of eight words, one of a name.
func pattern(name string, f func(i int) uint32) Mem {
	if m, ok := patterns[name]; ok {
		return m
	}
	m := GLOBL(name, 24) // RODATA | NOPTR
	for i := range lanes {
		DATA(4*i, U32(f(i)))
	}
	patterns[name] = m
	return m
}

// mask writes simd.Tile.Mask.
func (t *tile) mask() {
	columns := pattern(fmt.Sprintf("columns%d", t.w), func(i int) uint32 { return uint32(i%t.w) * golden })
	spread := get(pattern(fmt.Sprintf("spread%d", t.w), func(i int) uint32 { return uint32(i / t.w) }))
	m, id, n := t.word("M"), t.word("Edge"), t.word("Slots")
	k0, k1, scale, col := t.everywhere("k0"), t.everywhere("k1"), t.everywhere("scale"), t.everywhere("Column")
	bar := newThreshold(t.field("drop"))
	VPMULLD(wide(golden), col, col)
	VPADDD(columns, col, col)
	again, done := fresh("again"), fresh("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	Label(again)
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
	VPADDD(k0, e, e)
	key := mix(e)
	VPXOR(k1, key, key)
	VPADDD(col, key, key)
	VMOVUPS(andNot(bar.drops(key), scale), Mem{Base: m})
	ADDQ(Imm(32), m)
	ADDQ(Imm(uint64(32/t.w)), id)
	DECQ(n)
	JNZ(LabelRef(again))
	Label(done)
	finish()
}

// recall writes simd.Tile.Recall.
func (t *tile) recall() {
	cols, far, near := t.word("Cols"), t.word("Far"), t.word("Near")
	perm, id, s := t.word("Perm"), t.word("Edge"), GP64()
	z := t.word("Z")
	others := []string{"T", "A", "B", "G"}
	XORQ(s, s)
	t.rows(func(k, end reg.GPVirtual) {
		again, over := fresh("edge"), fresh("over")
		own, zero := t.load(Mem{Base: near}), YMM()
		VXORPS(zero, zero, zero)
		count := GP64()
		MOVQ(end, count)
		SUBQ(k, count)
		JZ(LabelRef(over))
		put := func(v vec, at string) {
			to := t.word(at)
			t.store(v, Mem{Base: to, Index: s, Scale: 1})
		}
		Label(again)
		t.fetch(cols, k, table{"Far", "FarStride", "Ahead", 0, max(1, t.w/4)}, table{"Der", "DerStride", "Ahead", 0, 1})
		m := t.at(cols, far, k, "FarStride")
		v := t.load(m)
		VADDPS(own, v, v)
		t.store(v, Mem{Base: z, Index: s, Scale: 1})
		for i, at := range others[:3] {
			put(t.load(m.Offset(4*t.w*(i+1))), at)
		}
		put(zero, "G")
		e := GP32()
		MOVL(Mem{Base: perm, Index: k, Scale: 4}, e)
		MOVL(e, Mem{Base: id})
		ADDQ(Imm(uint64(4*t.w)), s)
		ADDQ(Imm(4), id)
		INCQ(k)
		CMPQ(k, end)
		JL(LabelRef(again))
		if t.w < 8 { // slots without an edge weigh nothing
			for _, at := range append([]string{"Z"}, others...) {
				VMOVUPS(zero, Mem{Base: t.word(at), Index: s, Scale: 1})
			}
		}
		t.pad(count, slot{s, 4 * t.w}, slot{id, 4})
		Label(over)
		t.advance(near, "NearStride")
	})
	finish()
}

// weigh writes simd.Tile.Weigh, which with eight numbers an edge asks for what
// will be read.
func (t *tile) weigh() {
	z, top, a, b, n := t.word("Z"), t.word("T"), t.word("A"), t.word("B"), t.word("Slots")
	slope := t.everywhere("Slope")
	again, done := fresh("again"), fresh("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	var cols, k reg.GPVirtual
	if t.w == 8 {
		cols, k = t.word("Cols"), t.word("Offsets")
		MOVQ(Mem{Base: k}, k)
	}
	Label(again)
	if t.w == 8 {
		t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 2, 2})
		INCQ(k)
	}
	s, positive := leaky(get(Mem{Base: z}), slope)
	alpha := mul(weight(s, get(Mem{Base: top})), Mem{Base: a})
	g := pick(positive, alpha, mul(alpha, slope))
	VMOVUPS(alpha, Mem{Base: a})
	VMOVUPS(g, Mem{Base: top})
	VMOVUPS(mul(g, Mem{Base: b}), Mem{Base: b})
	for _, p := range []reg.GPVirtual{z, top, a, b} {
		ADDQ(Imm(32), p)
	}
	DECQ(n)
	JNZ(LabelRef(again))
	Label(done)
	finish()
}

// score writes simd.Tile.Score.
func (t *tile) score() {
	cols, der, rec := t.word("Cols"), t.word("Der"), t.word("Rec")
	tt, b, g := t.word("T"), t.word("B"), t.word("G")
	t.rows(func(k, end reg.GPVirtual) {
		acc, none := YMM(), fresh("none")
		VXORPS(acc, acc, acc)
		CMPQ(k, end)
		JE(LabelRef(none))
		step := func() vec {
			dz := get(Mem{Base: tt})
			VMULPS(Mem{Base: g}, dz, dz)
			VSUBPS(Mem{Base: b}, dz, dz)
			VMOVUPS(dz, Mem{Base: g})
			VADDPS(dz, acc, acc)
			for _, p := range []reg.GPVirtual{tt, b, g} {
				ADDQ(Imm(32), p)
			}
			return dz
		}
		add := func(dz vec) {
			m := t.at(cols, der, k, "DerStride")
			own := t.load(m)
			VADDPS(dz, own, own)
			t.store(own, m)
			INCQ(k)
			CMPQ(k, end)
		}
		again := fresh("slot")
		if t.w == 8 {
			Label(again)
			t.fetch(cols, k, table{"Ask", "AskStride", "AskAhead", 0, 2})
			add(step())
			JL(LabelRef(again))
		} else {
			from, n, edge := GP64(), GP64(), fresh("edge")
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
	finish()
}
