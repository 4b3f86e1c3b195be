package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// QuickBests writes the kernels of bests for numbers: one comparison an element,
// and an answer to whether there was a NaN, after which another kernel has to do
// it all again. Rows are whole, unweighted and of pairs of registers.
func QuickBests() {
	for _, op := range []struct {
		name   string
		worse  uint64
		higher bool
	}{{"rowMaxQuickAVX2", Less, true}, {"rowMinQuickAVX2", Greater, false}} {
		q := &quickBest{gather: newGather(op.name, "a tile of RowBest.SetRows unless it sets unordered.", unweighted, 1), worse: op.worse, higher: op.higher}
		q.near = true
		q.shapes(shapes{whole: 8, step: 2}, q.tile)
	}
}

// quickBest is such a kernel. The numbers of the nonzeros within a row take 16 bits,
// two registers of X in one, so that a row of 64 elements is walked once.
type quickBest struct {
	*gather
	worse  uint64 // the predicate by which a top gives way
	higher bool

	top, arg  []Vec
	unordered Vec
	number    Vec
	t, u      Vec
}

func (q *quickBest) tile() {
	q.top, q.arg = make([]Vec, q.nv), make([]Vec, q.nv/2)
	for v := range q.top {
		q.top[v] = YMM()
	}
	for i := range q.arg {
		q.arg[i] = YMM()
	}
	// Nothing unordered was seen yet.
	q.unordered, q.number, q.t, q.u = YMM(), YMM(), YMM(), YMM()
	VXORPS(q.unordered, q.unordered, q.unordered)
	bare, over := Fresh("bare"), Fresh("tiled")
	// With numbers, or without.
	CMPQ(q.Field("arg"), Imm(0))
	JE(LabelRef(bare))
	q.withNumbers()
	JMP(LabelRef(over))
	Label(bare)
	q.gather.arg = false
	q.rows(q.open, q.bare, q.keepTop)
	Label(over)
	// Tell the caller whether there was a NaN.
	mask := GP32()
	VMOVMSKPS(q.unordered, mask)
	ORL(mask, q.Field("unordered"))
}

// withNumbers is the loop that keeps the numbers too.
func (q *quickBest) withNumbers() {
	q.gather.arg = true
	q.rows(func(over string) {
		VPXOR(q.number, q.number, q.number)
		for _, a := range q.arg {
			VPXOR(a, a, a)
		}
		q.open(over)
	}, q.challenge, func() {
		q.keepTop()
		q.keepArg()
	})
}

// open starts a row with its first nonzero. That may be NaN: nothing displaces it.
func (q *quickBest) open(over string) {
	near := Fresh("near")
	CMPQ(q.Field("far"), Imm(0))
	JE(LabelRef(near))
	q.fetch(false)
	Label(near)
	if q.nv >= wideTile {
		q.fetchSoon()
	}
	q.row(q.k, false)
	for v, top := range q.top {
		VMOVUPS(Column(rowOfX, v), top)
	}
	INCQ(q.k)
	CMPQ(q.k, q.end)
	JGE(LabelRef(over))
}

// challenge lets the nonzero at hand displace what is worse.
func (q *quickBest) challenge() {
	// The number of the nonzero within the row, 16 bits a lane.
	VPADDW(Operand(Wide(1<<16|1)), q.number, q.number)
	for i, arg := range q.arg {
		x0, x1 := Column(rowOfX, 2*i), Column(rowOfX, 2*i+1)
		top0, top1 := q.top[2*i], q.top[2*i+1]
		// Any NaN in two registers of the row?
		VMOVUPS(x0, q.t)
		VCMPPS(Imm(Unorder), x1, q.t, q.u)
		VORPS(q.u, q.unordered, q.unordered)
		// Where the top is worse, the element displaces it.
		VCMPPS(Imm(q.worse), q.t, top0, q.u)
		VBLENDVPS(q.u, q.t, top0, top0)
		VCMPPS(Imm(q.worse), x1, top1, q.t)
		VBLENDVPS(q.t, x1, top1, top1)
		// Both comparisons, 16 bits a lane, choose the number.
		VPACKSSDW(q.t, q.u, q.u)
		VPBLENDVB(q.u, q.number, arg, arg)
	}
}

// bare is challenge without numbers. Of equal zeros the first stays.
func (q *quickBest) bare() {
	for v := 0; v < q.nv; v += 2 {
		VMOVUPS(Column(rowOfX, v), q.t)
		VMOVUPS(Column(rowOfX, v+1), q.u)
		for i, x := range []Vec{q.t, q.u} {
			if top := q.top[v+i]; q.higher {
				VMAXPS(top, x, top)
			} else {
				VMINPS(top, x, top)
			}
		}
		VCMPPS(Imm(Unorder), q.u, q.t, q.t)
		VORPS(q.t, q.unordered, q.unordered)
	}
}

func (q *quickBest) keepTop() { q.keep(q.top, q.out) }

// keepArg stores the numbers, which count from the row's first.
func (q *quickBest) keepArg() {
	at, first, zero := q.argRow(), q.t, q.number
	// Widen the numbers to 32 bits and count from the row's first nonzero.
	VPXOR(zero, zero, zero)
	VPBROADCASTD(Mem{Base: q.offsets}, first)
	for i, arg := range q.arg { // the tops have been stored
		VPUNPCKLWD(zero, arg, q.top[2*i])
		VPADDD(first, q.top[2*i], q.top[2*i])
		VPUNPCKHWD(zero, arg, q.top[2*i+1])
		VPADDD(first, q.top[2*i+1], q.top[2*i+1])
	}
	q.keep(q.top, at)
}
