package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotWalk8 takes rows in registers of eight lanes, one head in each, and one edge at a time.
// Numbers of heads stand in order, but in records, which all kernels share.
type dotWalk8 struct{ *dotWalk }

// edges writes a loop over the node's edges, whose columns the body gets.
func (s dotWalk8) edges(body func(column reg.GPVirtual), tables ...dotTable) {
	again, column := Fresh("edge"), GP64()
	Label(again)
	s.column(s.k, column)
	s.ask(1, tables)
	body(column)
	INCQ(s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// products8 are the sums of each head's elements of a row times another.
func products8(x, y reg.GPVirtual) Vec {
	var sums totaller
	for h := range Lanes {
		sums.take(Mul(Get(head8(x, h)), head8(y, h)))
	}
	return sums.totals()
}

// weights are the exponentials of scores under the largest, 0 where they are as good as that.
func (s dotWalk8) weights(z, top Vec) Vec {
	x := Sub(z, top)
	heavy := Compare(NotLess, x, Num(NumberOf("leastWeight")))
	return And(ExpOrdinary(x), heavy)
}

// scores are those of an edge.
func (s dotWalk8) scores(x, y reg.GPVirtual) Vec { return Mul(products8(x, y), s.Field("scales")) }

// recorded are numbers of a record, and toRecord brings such to its order.
func recorded(record reg.GPVirtual, i int) Vec {
	return ordered("headsOfRecord", laneOf, part(record, i))
}

func toRecord(x Vec) Vec { return ordered("recordOfHeads", headAt, x) }

func ordered(name string, f func(i int) int, x Op) Vec {
	order, v := Get(Pattern(name, func(i int) uint32 { return uint32(f(i)) })), YMM()
	VPERMPS(x, order, v)
	return v
}

// drop multiplies numbers of an edge with what dropout says, if there is any.
func (s dotWalk8) drop(numbers ...Vec) {
	s.kept(func(from Mem) {
		for _, x := range numbers {
			VMULPS(from, x, x)
		}
	})
}

// spread adds a row, each head times its number, to acc.
func (s dotWalk8) spread(numbers Vec, row reg.GPVirtual, acc []Vec) {
	toAll(numbers, func(h int, x Vec) { VFMADD231PS(head8(row, h), x, acc[h]) })
}

// cleared begins a node: with no edges the sums stay 0, and it goes on to none.
func (s dotWalk8) cleared(none string, sums ...Vec) []Vec {
	acc := make([]Vec, Lanes)
	zero(acc)
	zero(sums)
	CMPQ(s.k, s.end)
	JGE(LabelRef(none))
	return acc
}

// attend writes DotWalk.Attend.
func (s dotWalk8) attend() {
	stop := Fresh("stop")
	s.rows(stop, func() {
		none, top, sum := Fresh("none"), YMM(), YMM()
		acc := s.cleared(none, top, sum)
		// The scores, to Work, and the largest of each head.
		VBROADCASTSS(Num(math.Inf(-1)), top)
		q, work := s.Word("Q"), s.Word("Work")
		s.edges(func(column reg.GPVirtual) {
			z := s.scores(q, s.at(rowsOf("K"), column))
			VMOVUPS(z, Mem{Base: work})
			ADDQ(Imm(32), work)
			VMAXPS(z, top, top)
		}, rowsOf("K"), rowsOf("V"))
		bits := GP32()
		VMOVMSKPS(Compare(Less, Magnitude(top), Num(math.Inf(1))), bits)
		CMPL(bits, U32(0xff))
		JNE(LabelRef(stop))
		// Their weights, and the sources' rows times these.
		zero(acc)
		zero([]Vec{sum})
		s.rewind()
		again := s.Word("Work")
		s.edges(func(column reg.GPVirtual) {
			p := s.weights(Get(Mem{Base: again}), top)
			ADDQ(Imm(32), again)
			VADDPS(p, sum, sum)
			s.drop(p)
			s.spread(p, s.at(rowsOf("V"), column), acc)
		})
		Label(none)
		rec, add := s.Word("Rec"), s.Word("Add")
		VMOVUPS(toRecord(top), part(rec, 0))
		inverse := Div(Get(Num(1)), sum)
		inverse = AndNot(Compare(Equal, sum, Num(0)), inverse)
		VMOVUPS(toRecord(inverse), part(rec, 1))
		toAll(inverse, func(h int, x Vec) {
			VMULPS(x, acc[h], acc[h])
			VADDPS(head8(add, h), acc[h], acc[h])
		})
		StoreStream(s.Field("stream"), acc, s.Word("Y"))
	}, s.pastAttend)
	FenceStream(s.Field("stream"))
	Finish()
}

// retrace writes DotWalk.Retrace.
func (s dotWalk8) retrace() {
	stop := Fresh("stop")
	s.rows(stop, func() {
		none, given, over, c := Fresh("none"), Fresh("given"), Fresh("over"), YMM()
		acc := s.cleared(none, c)
		q, r, rec, work := s.Word("Q"), s.Word("R"), s.Word("Rec"), s.Word("Work")
		top, inverse := recorded(rec, 0), recorded(rec, 1)
		// The weights and their gradients, to Work, and the sum of their products.
		s.edges(func(column reg.GPVirtual) {
			a := Mul(s.weights(s.scores(q, s.at(rowsOf("K"), column)), top), inverse)
			g := products8(r, s.at(rowsOf("V"), column))
			s.drop(g)
			VMOVUPS(a, Mem{Base: work})
			VMOVUPS(g, Mem{Base: work, Disp: 32})
			ADDQ(Imm(64), work)
			VFMADD231PS(g, a, c)
		}, rowsOf("K"), rowsOf("V"))
		// Of a piece that sum is the caller's to add up, and comes back.
		rec = s.Word("Rec")
		s.stageIs("DotCentred", given)
		VMOVUPS(toRecord(c), part(rec, 2))
		s.stageIs("DotCenter", over)
		Label(given)
		center := recorded(rec, 2)
		// The gradients of the scores, and the sources' rows times these.
		zero(acc)
		s.rewind()
		again := s.Word("Work")
		s.edges(func(column reg.GPVirtual) {
			ds := Mul(Sub(Get(Mem{Base: again, Disp: 32}), center), Mem{Base: again})
			ADDQ(Imm(64), again)
			s.spread(ds, s.at(rowsOf("K"), column), acc)
		})
		Label(none)
		s.give(acc, "DQ", "SetQ", true)
		Label(over)
	}, s.pastRetrace)
	Finish()
}

// give stores a row of a gradient, as that of dotWalk does.
func (s dotWalk8) give(acc []Vec, field, set string, scaled bool) {
	as, to := Fresh("set"), s.Word(field)
	if scaled {
		for _, x := range acc {
			VMULPS(s.Field("scales"), x, x)
		}
	}
	CMPB(s.Field(set), Imm(0))
	JNE(LabelRef(as))
	for h, x := range acc {
		VADDPS(head8(to, h), x, x)
	}
	Label(as)
	for h, x := range acc {
		VMOVUPS(x, head8(to, h))
	}
}

// back writes DotWalk.Return, the gradients of values first: there are not registers for both.
func (s dotWalk8) back() {
	stop := Fresh("stop")
	s.rows(stop, func() {
		none, over := Fresh("none"), Fresh("over")
		dv := s.cleared(none)
		key, value, work := s.Word("K"), s.Word("V"), s.Word("Work")
		s.edges(func(column reg.GPVirtual) {
			// Weights and their gradients again, of the destination's record.
			rec, r := s.at(record(), column), s.at(rowsOf("R"), column)
			a := Mul(s.weights(s.scores(key, s.at(rowsOf("Q"), column)), recorded(rec, 0)), recorded(rec, 1))
			g, kept := products8(value, r), YMM()
			VMOVAPS(a, kept)
			s.drop(g, kept)
			ds := Mul(Sub(g, recorded(rec, 2)), a)
			VMOVUPS(ds, Mem{Base: work})
			ADDQ(Imm(32), work)
			s.spread(kept, r, dv)
		}, rowsOf("Q"), rowsOf("R"), record())
		s.give(dv, "DV", "SetV", false)
		s.rewind()
		again, dk := s.Word("Work"), make([]Vec, Lanes)
		zero(dk)
		s.edges(func(column reg.GPVirtual) {
			ds := Get(Mem{Base: again})
			ADDQ(Imm(32), again)
			s.spread(ds, s.at(rowsOf("Q"), column), dk)
		})
		s.give(dk, "DK", "SetK", true)
		JMP(LabelRef(over))
		Label(none)
		s.give(dv, "DV", "SetV", false)
		zero(dv)
		s.give(dv, "DK", "SetK", false)
		Label(over)
	}, s.pastReturn)
	Finish()
}
