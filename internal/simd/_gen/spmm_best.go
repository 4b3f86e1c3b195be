package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bests writes the kernels that keep the largest or the smallest of the rows,
// and its nonzero.
func bests() {
	for _, b := range []struct {
		name      string
		weight    weighting
		predicate uint64
	}{
		{"rowMaxAVX2", unweighted, notLE}, {"rowMaxScalarAVX2", scalar, notLE}, {"rowMaxFullAVX2", fullRow, notLE},
		{"rowMinAVX2", unweighted, notGE}, {"rowMinScalarAVX2", scalar, notGE}, {"rowMinFullAVX2", fullRow, notGE},
	} {
		start(b.name, "func(p *byte)", b.name+" is a tile of RowBest.SetRows.")
		g := newGather(b.weight, 1)
		g.arg = true
		g.shapes(4, 4, 1, func() { g.best(b.predicate) })
	}
}

// notLE is a predicate of compare.
const notLE = 0x16

// best keeps what is better than all before it; a NaN is better than a number
// and nothing is better than a NaN. The output has −1 for the nonzero of a row
// that has had none.
func (g *gather) best(predicate uint64) {
	top, arg := make([]vec, g.nv), make([]vec, g.nv)
	open := func() {
		at := g.argRow()
		for v := range top {
			top[v], arg[v] = g.get(g.out, v), g.get(at, v)
		}
	}
	each := func() {
		x4, number := XMM(), YMM()
		VMOVQ(g.k, x4)
		VPBROADCASTD(x4, number)
		var w vec
		for v := range top {
			x := g.get(rowOfX, v)
			if g.weight != unweighted {
				w = g.factor(v, w)
				VMULPS(w, x, x)
			}
			takes := and(compare(predicate, x, top[v]), compare(ordered, top[v], top[v]))
			takes = or(takes, arg[v]) // its sign: nothing has been taken
			VBLENDVPS(takes, x, top[v], top[v])
			VBLENDVPS(takes, number, arg[v], arg[v])
		}
	}
	g.rows(open, each, func() {
		at := g.argRow()
		for v := range top {
			g.put(top[v], g.out, v)
			g.put(arg[v], at, v)
		}
	})
}

// bestGrads writes the kernels of the gradients of those: of each row of X, the
// elements whose number in Arg is the nonzero's.
func bestGrads() {
	for _, w := range []struct {
		name   string
		weight weighting
	}{
		{"rowWonAVX2", unweighted}, {"rowWonScalarAVX2", scalar}, {"rowWonFullAVX2", fullRow},
	} {
		start(w.name, "func(p *byte)", w.name+" is a tile of RowWon.AddRows.")
		g := newGather(w.weight, 1)
		g.edges, g.won = g.load(atEdges), true
		g.shapes(8, 8, 1, g.takings)
	}
}

// takings adds the elements that won; what a weight makes of another is left out
// after it is made, so that it may be anything.
func (g *gather) takings() {
	acc := make([]vec, g.nv)
	open := func() {
		for v := range acc {
			acc[v] = g.get(g.out, v)
		}
	}
	each := func() {
		at, number := g.load(atArg), YMM()
		ADDQ(rowOfX, at)
		SUBQ(g.x, at)
		VPBROADCASTD(Mem{Base: g.edges, Index: g.k, Scale: 4}, number)
		var w vec
		for v := range acc {
			x := YMM()
			VPCMPEQD(g.operand(at, v), number, x)
			if g.weight == unweighted {
				VANDPS(g.operand(rowOfX, v), x, x)
			} else {
				w = g.factor(v, w)
				VANDPS(mul(w, g.operand(rowOfX, v)), x, x)
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
	at := g.load(atArg)
	ADDQ(g.field(atDone), at)
	return at
}

// ordered is a predicate of compare: neither is NaN.
const ordered = 0x07
