package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// DotWalks writes the kernels of DotWalk, for both widths of registers.
func DotWalks() {
	for _, k := range []struct {
		name, doc    string
		by16, narrow func(s *dotWalk)
	}{
		{"dotAttend", "Attend", (*dotWalk).attend, func(s *dotWalk) { dotWalk8{s}.attend() }},
		{"dotRetrace", "Retrace", (*dotWalk).retrace, func(s *dotWalk) { dotWalk8{s}.retrace() }},
		{"dotReturn", "Return", (*dotWalk).back, func(s *dotWalk) { dotWalk8{s}.back() }},
	} {
		k.narrow(newDotWalk(k.name, "DotWalk."+k.doc))
		k.by16(newDotWalk(k.name+"512", "DotWalk."+k.doc))
	}
}

// dotWalk is a kernel on a DotWalk. It takes rows in registers of sixteen lanes, two
// heads in each, and two edges at a time, as gatv2By16 does.
type dotWalk struct {
	walk
	longLivedSet
	columns [2]reg.GPVirtual  // those of the two edges
	some    reg.OpmaskVirtual // the lanes of the numbers of the edges that there are
	second  reg.OpmaskVirtual // all lanes, or none where there is no second edge
}

func newDotWalk(name, doc string) *dotWalk {
	s := &dotWalk{}
	s.Args = StartOn("DotWalk", name, "", name+" is "+doc+".")
	return s
}

// dotTable is an array with rows that columns name.
type dotTable struct {
	field        string
	bytes, lines int // of a row
}

func rowsOf(field string) dotTable { return dotTable{field, 256, 4} }

// record is the array of the records.
func record() dotTable { return dotTable{"Rec", 4 * ConstantOf("DotRecord"), 2} }

// at returns where the row of a column is.
func (s *dotWalk) at(t dotTable, column reg.GPVirtual) reg.GPVirtual {
	row := GP64()
	IMUL3Q(U32(t.bytes), column, row)
	ADDQ(s.Field(t.field), row)
	return row
}

// both returns where the rows of the two edges are.
func (s *dotWalk) both(t dotTable) [2]reg.GPVirtual {
	return [2]reg.GPVirtual{s.at(t, s.columns[0]), s.at(t, s.columns[1])}
}

// column sets to to the column of edge k.
func (s *dotWalk) column(k, to reg.GPVirtual) {
	cols := s.Word("Cols")
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, to)
}

// pairs writes a loop over the node's edges, two at a time. The last edge of an odd number
// comes with itself, which the masks tell. Rows of tables are asked for beforehand.
func (s *dotWalk) pairs(body func(), tables ...dotTable) {
	again := Fresh("pair")
	Label(again)
	next, lanes, all, half, none := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(U32(0xffff), lanes)
	MOVQ(lanes, all)
	MOVQ(U32(0xff), half)
	XORQ(none, none)
	LEAQ(Mem{Base: s.k, Disp: 1}, next)
	CMPQ(next, s.end)
	CMOVQGE(s.k, next)
	CMOVQGE(half, lanes)
	CMOVQGE(none, all)
	s.some, s.second = K(), K()
	KMOVW(lanes.As32(), s.some)
	KMOVW(all.As32(), s.second)
	s.columns = [2]reg.GPVirtual{GP64(), GP64()}
	s.column(s.k, s.columns[0])
	s.column(next, s.columns[1])
	s.ask(2, tables)
	body()
	ADDQ(Imm(2), s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// ask asks for rows of tables that some edges will read.
func (s *dotWalk) ask(edges int, tables []dotTable) {
	if len(tables) == 0 {
		return
	}
	s.fetch(edges, func(e reg.GPVirtual, fetch func(Op)) {
		s.column(e, e)
		for _, t := range tables {
			row := s.at(t, e)
			for l := range t.lines {
				fetch(Mem{Base: row, Disp: LineBytes * l})
			}
		}
	})
}

// rewind goes back to the node's first edge.
func (s *dotWalk) rewind() { MOVQ(Mem{Base: s.Word("Offsets")}, s.k) }

// products are the sums of each head's elements of a row times the rows of both edges.
func products(x row16, rows [2]reg.GPVirtual) Vec {
	var sums [2]Vec
	for e, at := range rows {
		var terms [quads]Vec
		for k := range terms {
			terms[k] = mulZ(x[k], Quad(at, k))
		}
		sums[e] = quarters(terms)
	}
	return pairTotals(sums[0], sums[1])
}

// scores are those of both edges.
func (s *dotWalk) scores(x row16, rows [2]reg.GPVirtual) Vec {
	z := products(x, rows)
	VMULPS(s.Field("scales"), z, z)
	return z
}

// weights are the exponentials of scores under the largest, which z is lost for: 0 where they are
// as good as that, and of edges that are not there.
func (s *dotWalk) weights(z Vec, top reg.Register) Vec {
	VSUBPS(top, z, z)
	heavy := K()
	VCMPPS_BCST(Imm(NotLess), Num(NumberOf("leastWeight")), z, heavy)
	KANDW(s.some, heavy, heavy)
	p := exp16(z)
	VMOVAPS_Z(p, heavy, p)
	return p
}

// kept does what dropout asks for, if there is any: from has its numbers of the edge and the next.
func (s *dotWalk) kept(do func(from Mem)) {
	none, step := Fresh("whole"), s.Word("keptStep")
	TESTQ(step, step)
	JZ(LabelRef(none))
	from := GP64()
	MOVQ(s.k, from)
	SUBQ(s.Field("first"), from)
	IMULQ(step, from)
	ADDQ(s.Field("Kept"), from)
	do(Mem{Base: from})
	Label(none)
}

// drop multiplies numbers of both edges with what dropout says, if there is any.
func (s *dotWalk) drop(numbers ...Vec) {
	s.kept(func(from Mem) {
		order, kept := GetZ(sixteen("lanesOfPairs", func(i int) uint32 { return uint32(headAt(i%8) + i&8) })), ZMM()
		VPERMPS(from, order, kept)
		for _, x := range numbers {
			VMULPS(kept, x, x)
		}
	})
}

// spread adds the rows of both edges, each head times its number, to a row.
func (s *dotWalk) spread(numbers Vec, rows [2]reg.GPVirtual, to row16) {
	for e, at := range rows {
		for k, w := range spread16(numbers, e) {
			if e == 0 {
				VFMADD231PS(Quad(at, k), w, to[k])
			} else {
				VFMADD231PS(Quad(at, k), w, s.second, to[k])
			}
		}
	}
}

// whole adds up the halves of x, one of each edge, to both.
func whole(x reg.Register) {
	other := ZMM()
	VSHUFF32X4(Imm(0x4e), x, x, other)
	VADDPS(other, x, x)
}

// part is number i of each head in a record.
func part(record reg.Register, i int) Mem { return Mem{Base: record, Disp: 32 * i} }

// attend writes DotWalk.Attend:
//
//	Y[v,h,:] = Σ_e α[e,h]·Kept[e,h]·V[Cols[e],h,:] + Add[v,h,:]
func (s *dotWalk) attend() {
	stop, q, acc, sum, top := Fresh("stop"), s.four(), s.four(), s.one(), s.one()
	s.rows(stop, func() {
		none := Fresh("none")
		zeroRow(acc)
		VPXORD(sum, sum, sum)
		VPXORD(top, top, top)
		CMPQ(s.k, s.end) // no edges: the row is what is added
		JGE(LabelRef(none))
		loadRow(s.Word("Q"), q)
		// The scores, to Work, and the largest of each head.
		VBROADCASTSS(Num(math.Inf(-1)), top)
		work := s.Word("Work")
		s.pairs(func() {
			z := s.scores(q, s.both(rowsOf("K")))
			VMOVUPS(z, Mem{Base: work})
			ADDQ(Imm(64), work)
			VMAXPS(z, top, top)
		}, rowsOf("K"), rowsOf("V"))
		s.finite(top, stop)
		// Their weights, and the sources' rows times these.
		s.rewind()
		again := s.Word("Work")
		s.pairs(func() {
			p := s.weights(GetZ(Mem{Base: again}), top)
			ADDQ(Imm(64), again)
			VADDPS(p, sum, sum)
			s.drop(p)
			s.spread(p, s.both(rowsOf("V")), acc)
		})
		Label(none)
		s.result(acc, sum, top)
	}, s.pastAttend)
	FenceStream(s.Field("stream"))
	Finish()
}

// pastAttend goes on to the next destination, and pastRetrace and pastReturn to the next node.
func (s *dotWalk) pastAttend() {
	ADDQ(U32(256), s.Field("Q"))
	ADDQ(U32(256), s.Field("Y"))
	ADDQ(s.Word("addStep"), s.Field("Add"))
	ADDQ(s.Word("recStep"), s.Field("Rec"))
}

// finite brings the largest scores of both edges together, and goes to stop if one is no number.
func (s *dotWalk) finite(top reg.Register, stop string) {
	other, size, fine, bits := ZMM(), ZMM(), K(), GP32()
	VSHUFF32X4(Imm(0x4e), top, top, other)
	VMAXPS(other, top, top)
	VPANDD_BCST(Wide(^uint32(SignBit)), top, size)
	VCMPPS_BCST(Imm(Less), Num(math.Inf(1)), size, fine)
	KMOVW(fine, bits)
	CMPL(bits, U32(0xffff))
	JNE(LabelRef(stop))
}

// result stores a destination's record and its row, divided by the sum of its weights.
func (s *dotWalk) result(acc row16, sum, top reg.VecPhysical) {
	whole(sum)
	inverse, rec := inverse16(sum), s.Word("Rec")
	VMOVUPS(top.AsY(), part(rec, 0))
	VMOVUPS(inverse.AsY(), part(rec, 1))
	add := s.Word("Add")
	divided16(s.Args, acc, inverse, func(k int) Op { return Quad(add, k) })
}

// retrace writes DotWalk.Retrace: the record's Σ α·dα, and
//
//	DQ[v,h,:] += Scale·Σ_e α·(dα − Σ_e α·dα)·K[Cols[e],h,:]
func (s *dotWalk) retrace() {
	stop, q, r, acc := Fresh("stop"), s.four(), s.four(), s.four()
	top, inverse, c := s.one(), s.one(), s.one()
	s.rows(stop, func() {
		none, given, over := Fresh("none"), Fresh("given"), Fresh("over")
		zeroRow(acc)
		CMPQ(s.k, s.end)
		JGE(LabelRef(none))
		loadRow(s.Word("Q"), q)
		loadRow(s.Word("R"), r)
		rec := s.Word("Rec")
		VBROADCASTF64X4(part(rec, 0), top)
		VBROADCASTF64X4(part(rec, 1), inverse)
		VPXORD(c, c, c)
		// The weights and their gradients, to Work, and the sum of their products.
		work := s.Word("Work")
		s.pairs(func() {
			a := s.weights(s.scores(q, s.both(rowsOf("K"))), top)
			VMULPS(inverse, a, a)
			g := products(r, s.both(rowsOf("V")))
			s.drop(g)
			VMOVAPS_Z(g, s.some, g) // 0·∞ else
			VMOVUPS(a, Mem{Base: work})
			VMOVUPS(g, Mem{Base: work, Disp: dotGradients()})
			ADDQ(Imm(64), work)
			VFMADD231PS(g, a, c)
		}, rowsOf("K"), rowsOf("V"))
		whole(c)
		// Of a piece that sum is the caller's to add up, and comes back.
		rec = s.Word("Rec")
		s.stageIs("DotCentred", given)
		VMOVUPS(c.AsY(), part(rec, 2))
		s.stageIs("DotCenter", over)
		Label(given)
		VBROADCASTF64X4(part(rec, 2), c)
		// The gradients of the scores, and the sources' rows times these.
		s.rewind()
		again := s.Word("Work")
		s.pairs(func() {
			ds := GetZ(Mem{Base: again, Disp: dotGradients()})
			VSUBPS(c, ds, ds)
			VMULPS(Mem{Base: again}, ds, ds)
			ADDQ(Imm(64), again)
			s.spread(ds, s.both(rowsOf("K")), acc)
		})
		Label(none)
		s.give(acc, "DQ", "SetQ", true)
		Label(over)
	}, s.pastRetrace)
	Finish()
}

func (s *dotWalk) pastRetrace() {
	ADDQ(U32(256), s.Field("Q"))
	ADDQ(U32(256), s.Field("R"))
	ADDQ(s.Word("recStep"), s.Field("Rec"))
	ADDQ(s.Word("qStep"), s.Field("DQ"))
}

// stageIs goes to a label in a stage of Retrace.
func (s *dotWalk) stageIs(stage, to string) {
	CMPQ(s.Field("Stage"), Imm(uint64(ConstantOf(stage))))
	JE(LabelRef(to))
}

// dotGradients is where the gradients of the weights stand in Work, behind the weights.
func dotGradients() int { return 4 * Lanes * (ConstantOf("DotMost") + 2) }

// give stores a row of a gradient, times the scale or not: as it is, or added to what is there.
func (s *dotWalk) give(x row16, field, set string, scaled bool) {
	if scaled {
		for k := range x {
			VMULPS(s.Field("scales"), x[k], x[k])
		}
	}
	as, to := Fresh("set"), s.Word(field)
	CMPB(s.Field(set), Imm(0))
	JNE(LabelRef(as))
	for k := range x {
		VADDPS(Quad(to, k), x[k], x[k])
	}
	Label(as)
	for k := range x {
		VMOVUPS(x[k], Quad(to, k))
	}
}

// back writes DotWalk.Return:
//
//	DK[u,h,:] += Scale·Σ_e ds[e,h]·Q[Cols[e],h,:]    DV[u,h,:] += Σ_e α[e,h]·Kept[e,h]·R[Cols[e],h,:]
func (s *dotWalk) back() {
	stop, key, value, dk, dv := Fresh("stop"), s.four(), s.four(), s.four(), s.four()
	s.rows(stop, func() {
		none := Fresh("none")
		zeroRow(dk)
		zeroRow(dv)
		CMPQ(s.k, s.end)
		JGE(LabelRef(none))
		loadRow(s.Word("K"), key)
		loadRow(s.Word("V"), value)
		s.pairs(func() {
			// Weights and their gradients again, of the records of both destinations.
			recs, qs, rs := s.both(record()), s.both(rowsOf("Q")), s.both(rowsOf("R"))
			number := func(i int) Vec {
				x := ZMM()
				VMOVUPS(part(recs[0], i), x.AsY())
				VINSERTF64X4(Imm(1), part(recs[1], i), x, x)
				return x
			}
			a := s.weights(s.scores(key, qs), number(0))
			VMULPS(number(1), a, a)
			g, kept := products(value, rs), ZMM()
			VMOVAPS(a, kept)
			s.drop(g, kept)
			VSUBPS(number(2), g, g)
			VMULPS(a, g, g)
			s.spread(kept, rs, dv)
			s.spread(g, qs, dk)
		}, rowsOf("Q"), rowsOf("R"), record())
		Label(none)
		s.give(dv, "DV", "SetV", false)
		s.give(dk, "DK", "SetK", true)
	}, s.pastReturn)
	Finish()
}

func (s *dotWalk) pastReturn() {
	ADDQ(U32(256), s.Field("K"))
	ADDQ(U32(256), s.Field("V"))
	ADDQ(s.Word("kStep"), s.Field("DK"))
	ADDQ(s.Word("vStep"), s.Field("DV"))
}
