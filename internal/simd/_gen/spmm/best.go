package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Bests writes the kernels that keep the largest or the smallest of the rows,
// and its nonzero.
func Bests() {
	for _, op := range []struct {
		name      string
		predicate uint64
	}{{"rowMaxAVX2", NotLE}, {"rowMinAVX2", NotGE}} {
		g := newGather(op.name, "a tile of RowBest.SetRows.", unweighted, 1)
		g.arg = true
		g.shapes(shapes{whole: 4, cut: 4}, func() { g.best(op.predicate) })
	}
}

// best keeps what is better than all before it; a NaN is better than a number
// and nothing is better than a NaN. A row starts with its first nonzero, or
// where the call before has left it.
//
//	Y[i,:] = max_k X[Cols[k],:]    Arg[i,:] = the first k that has it
func (g *gather) best(predicate uint64) {
	top, arg := make([]Vec, g.nv), make([]Vec, g.nv)
	for v := range top {
		top[v], arg[v] = YMM(), YMM()
	}
	each := func() { g.challenge(predicate, top, arg) }
	open := func(over string) {
		cut, opened := Fresh("cut"), Fresh("opened")
		// A row that begins here starts with its first nonzero;
		CMPQ(g.k, Mem{Base: g.offsets})
		JNE(LabelRef(cut))
		near := Fresh("near")
		CMPQ(g.Field("far"), Imm(0))
		JE(LabelRef(near))
		g.fetch(false)
		Label(near)
		g.row(g.k, false)
		g.number(arg[0])
		for v := range top {
			g.getTo(rowOfX, v, top[v])
			if v > 0 {
				VMOVAPS(arg[0], arg[v])
			}
		}
		INCQ(g.k)
		CMPQ(g.k, g.end)
		JGE(LabelRef(over))
		JMP(LabelRef(opened))
		// one that was cut goes on from what is stored.
		Label(cut)
		for v := range top {
			g.getTo(g.out, v, top[v])
		}
		g.ifAsked(func() {
			at := g.argRow()
			for v := range arg {
				g.getTo(at, v, arg[v])
			}
		})
		Label(opened)
	}
	// After the last nonzero: store the best, and the numbers if they are asked for.
	g.rows(open, each, func() {
		for v := range top {
			g.put(top[v], g.out, v)
		}
		g.ifAsked(func() {
			at := g.argRow()
			for v := range arg {
				g.put(arg[v], at, v)
			}
		})
	})
}

// ifAsked is what concerns the numbers of nonzeros, if there is room for them.
func (g *gather) ifAsked(do func()) {
	none := Fresh("unasked")
	CMPQ(g.Field("arg"), Imm(0))
	JE(LabelRef(none))
	do()
	Label(none)
}

// challenge lets the nonzero at hand displace what is worse.
func (g *gather) challenge(predicate uint64, top, arg []Vec) {
	// The nonzero's number, in all lanes.
	number := YMM()
	g.number(number)
	for v := range top {
		x := g.get(rowOfX, v)
		// Better, and what is there is no NaN: take the element and the number.
		takes := And(Compare(predicate, x, top[v]), Compare(ordered, top[v], top[v]))
		VBLENDVPS(takes, x, top[v], top[v])
		VBLENDVPS(takes, number, arg[v], arg[v])
	}
}

// number sets to to the number of the nonzero at hand.
func (g *gather) number(to Vec) {
	x := to.AsX()
	VMOVQ(g.k, x)
	VPBROADCASTD(x, to)
}

// BestGrads writes the kernel of the gradient of those: of each row of X, the
// elements whose number in Arg is the nonzero's.
func BestGrads() {
	g := newGather("rowWonAVX2", "a tile of RowWon.AddRows.", unweighted, 1)
	g.edges, g.won = g.Word("edges"), true
	g.shapes(shapes{whole: 8, cut: 8}, g.takings)
}

// takings adds the elements that won.
//
//	Y[i,j] += X[Cols[k],j] if Arg[Cols[k],j] = Edges[k]
func (g *gather) takings() {
	acc := make([]Vec, g.nv)
	open := func(string) {
		for v := range acc {
			acc[v] = g.get(g.out, v)
		}
	}
	each := func() {
		// The row of numbers beside that of X, and the nonzero's own.
		at, number := g.Word("arg"), YMM()
		ADDQ(rowOfX, at)
		SUBQ(g.x, at)
		VPBROADCASTD(Mem{Base: g.edges, Index: g.k, Scale: 4}, number)
		for v := range acc {
			x := YMM()
			// All ones where it won: keep the element there, and add.
			VPCMPEQD(g.operand(at, v), number, x)
			VANDPS(g.operand(rowOfX, v), x, x)
			VADDPS(x, acc[v], acc[v])
		}
	}
	g.rows(open, each, func() {
		for v := range acc {
			g.put(acc[v], g.out, v)
		}
	})
}

// argRow returns where the numbers of the row at hand are.
func (g *gather) argRow() reg.GPVirtual {
	at := g.Word("arg")
	ADDQ(g.Field("done"), at)
	return at
}

// ordered is a predicate of compare: neither is NaN.
const ordered = 0x07
