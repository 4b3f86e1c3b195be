package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quadsMost is the most registers of sixteen lanes that a row has.
const quadsMost = 4

// Sums512 writes the kernel of weighted sums of rows of one to four registers of sixteen
// lanes, with a number for each nonzero. It does with half the instructions of
// rowSumScalarAVX2, which are what sums of rows from the first caches take time for.
func Sums512() {
	g := newGather("rowSumScalarAVX512", "RowSum.AddRows of whole rows, of half so many registers of sixteen lanes.", scalar, 1)
	g.edges = g.Word("edges")
	shape := g.Word("shape")
	name := func(n int) string { return "quads" + string(rune('0'+n)) }
	for n := 1; n <= quadsMost; n++ {
		CMPQ(shape, Imm(uint64(4*n)))
		JE(LabelRef(name(n)))
	}
	JMP(LabelRef("done"))
	for n := 1; n <= quadsMost; n++ {
		g.nv = 2 * n // what is fetched of a row
		Label(name(n))
		quadSum{gather: g, n: n}.write()
		JMP(LabelRef("done"))
	}
	Label("done")
	FenceStream(g.Field("stream"))
	Finish()
}

// quadSum is such a kernel of rows of n registers.
type quadSum struct {
	*gather
	n   int
	acc []Vec
	by  Vec
	t   Vec
}

// write writes the sums of rows, as [gather.sum] does.
//
//	Y[i,:] += Σ_k W[e]·X[Cols[k],:]    for the nonzeros k of row i, in order
func (q quadSum) write() {
	q.by, q.t = ZMM(), ZMM()
	for range q.n {
		q.acc = append(q.acc, ZMM())
	}
	zero := func() {
		for _, a := range q.acc {
			VXORPS(a.AsX(), a.AsX(), a.AsX())
		}
	}
	keep := func() {
		EitherWay(q.Field("stream"), func(move func(x, to Op)) {
			for v, a := range q.acc {
				move(a, Quad(q.out, v))
			}
		})
	}
	// A row starts at zero or at what is in Y.
	open := func(string) {
		add, opened := Fresh("add"), Fresh("opened")
		CMPQ(q.Field("set"), Imm(0))
		JE(LabelRef(add))
		zero()
		JMP(LabelRef(opened))
		Label(add)
		for v, a := range q.acc {
			VMOVUPS(Quad(q.out, v), a)
		}
		Label(opened)
	}
	// A row without nonzeros is set to zero, where rows are set.
	q.empty = func() {
		add := Fresh("add")
		CMPQ(q.Field("set"), Imm(0))
		JE(LabelRef(add))
		zero()
		keep()
		Label(add)
	}
	q.walk = q.nonzeros
	// A nonzero: add the row, times its weight.
	q.rows(open, func() {
		VBROADCASTSS(Mem{Base: rowOfW}, q.by)
		q.add(rowOfX)
	}, keep)
	q.walk, q.empty = nil, nil
}

// add adds a row, times the weight at hand. A product is rounded before it is added.
func (q quadSum) add(row reg.Register) {
	for v, a := range q.acc {
		VMULPS(Quad(row, v), q.by, q.t)
		VADDPS(q.t, a, a)
	}
}

// nonzeros writes the loop over the nonzeros of a row. Where rows that are fetched ahead are
// all before the last of the call, and weights are near, it does not look out for either.
func (q quadSum) nonzeros(over string, each func()) {
	careful, far, last := Fresh("careful"), Fresh("far"), GP64()
	CMPQ(q.Field("far"), Imm(fetchWeights))
	JGE(LabelRef(careful))
	CMPQ(q.Field("far"), Imm(0))
	JNE(LabelRef(far))
	q.either(over, false)
	Label(far)
	LEAQ(Mem{Base: q.end, Disp: ahead - 1}, last)
	CMPQ(last, q.Field("end"))
	JG(LabelRef(careful))
	q.either(over, true)
	Label(careful)
	q.gather.nonzeros(over, each)
}

// either writes the loop for weights in the order of the nonzeros, and for others.
func (q quadSum) either(over string, far bool) {
	direct := Fresh("direct")
	TESTQ(q.edges, q.edges)
	JZ(LabelRef(direct))
	q.quick(far, true)
	JMP(LabelRef(over))
	Label(direct)
	q.quick(far, false)
	JMP(LabelRef(over))
}

// quick writes one loop. The nonzeros are counted up to zero, from the end of the row on.
func (q quadSum) quick(far, indirect bool) {
	cols, weights, again := GP64(), GP64(), Fresh("quick")
	list := q.weights
	if indirect {
		list = q.edges
	}
	LEAQ(Mem{Base: q.cols, Index: q.end, Scale: 4}, cols)
	LEAQ(Mem{Base: list, Index: q.end, Scale: 4}, weights)
	SUBQ(q.end, q.k)
	Label(again)
	row := GP64()
	if far {
		MOVLQSX(Mem{Base: cols, Index: q.k, Scale: 4, Disp: 4 * ahead}, row)
		IMULQ(q.stride, row)
		ADDQ(q.x, row)
		prefetch(row, 8*Lanes*q.n)
	}
	MOVLQSX(Mem{Base: cols, Index: q.k, Scale: 4}, row)
	IMULQ(q.stride, row)
	ADDQ(q.x, row)
	if indirect {
		e := GP64()
		MOVLQSX(Mem{Base: weights, Index: q.k, Scale: 4}, e)
		VBROADCASTSS(Mem{Base: q.weights, Index: e, Scale: 4}, q.by)
	} else {
		VBROADCASTSS(Mem{Base: weights, Index: q.k, Scale: 4}, q.by)
	}
	q.add(row)
	INCQ(q.k)
	JNZ(LabelRef(again))
	MOVQ(q.end, q.k)
}
