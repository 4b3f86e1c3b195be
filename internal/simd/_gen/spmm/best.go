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
	for _, b := range []struct {
		name   string
		weight weighting
		share  int
		cut    int
	}{
		{"", unweighted, 1, 4}, {"Scalar", scalar, 1, 4}, {"Full", fullRow, 1, 4},
		{"Heads8", perHead, 1, 0}, {"Heads16", perHead, 2, 0}, {"Heads32", perHead, 4, 0},
	} {
		for _, op := range []struct {
			name      string
			predicate uint64
		}{{"rowMax", NotLE}, {"rowMin", NotGE}} {
			name := op.name + b.name + "AVX2"
			g := newGather(name, "a tile of RowBest.SetRows.", b.weight, b.share)
			g.arg = true
			g.shapes(4, b.cut, b.share, func() { g.best(op.predicate) })
		}
	}
}

// best keeps what is better than all before it; a NaN is better than a number
// and nothing is better than a NaN. A row starts with its first nonzero, or
// where the call before has left it.
//
//	Y[i,:] = max_k W[k,h]·X[Cols[k],:]    Arg[i,:] = the first k that has it
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
		var w Vec
		for v := range top {
			g.weigh(top[v], &w, v)
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
	var w Vec
	for v := range top {
		x := YMM()
		g.weigh(x, &w, v)
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

// weigh sets to to register v of the row of X at hand, weighted.
func (g *gather) weigh(to Vec, w *Vec, v int) {
	g.getTo(rowOfX, v, to)
	if g.weight != unweighted {
		*w = g.factor(v, *w)
		VMULPS(*w, to, to)
	}
}

// BestGrads writes the kernels of the gradients of those: of each row of X, the
// elements whose number in Arg is the nonzero's.
func BestGrads() {
	for _, w := range []struct {
		name   string
		weight weighting
	}{
		{"rowWonAVX2", unweighted}, {"rowWonScalarAVX2", scalar}, {"rowWonFullAVX2", fullRow},
	} {
		g := newGather(w.name, "a tile of RowWon.AddRows.", w.weight, 1)
		g.edges, g.won = g.Word("edges"), true
		g.shapes(8, 8, 1, g.takings)
	}
}

// takings adds the elements that won; what a weight makes of another is left out
// after it is made, so that it may be anything.
//
//	Y[i,j] += W[e,h]·X[Cols[k],j] if Arg[Cols[k],j] = e
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
		var w Vec
		for v := range acc {
			x := YMM()
			// All ones where it won: keep the element there, and add.
			VPCMPEQD(g.operand(at, v), number, x)
			if g.weight == unweighted {
				VANDPS(g.operand(rowOfX, v), x, x)
			} else {
				w = g.factor(v, w)
				VANDPS(Mul(w, g.operand(rowOfX, v)), x, x)
			}
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
