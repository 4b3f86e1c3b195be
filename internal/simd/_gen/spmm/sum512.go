package spmm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quads are the numbers of registers of sixteen lanes that a tile has.
var quads = []int{1, 2, 3, 4, 8}

// Sums512 writes the kernels of sums of rows in registers of sixteen lanes, plain ones and
// those with a number for each nonzero. They do with half the instructions of
// those of AVX2, which are what sums of rows from the first caches take time for.
func Sums512() {
	sums512("rowSumAVX512", unweighted)
	sums512("rowSumScalarAVX512", scalar)
}

func sums512(kernel string, w weighting) {
	g := newGather(kernel, "a tile of RowSum.AddRows, of half so many registers of sixteen lanes.", w, 1)
	if w != unweighted {
		g.edges = g.Word("edges")
	}
	shape := g.Word("shape")
	name := func(n int) string { return fmt.Sprintf("quads%d", n) }
	for _, n := range quads {
		CMPQ(shape, Imm(uint64(4*n)))
		JE(LabelRef(name(n)))
	}
	JMP(LabelRef("done"))
	for _, n := range quads {
		g.nv = 2 * n // what is fetched of a row
		Label(name(n))
		quadSum{quickWalk: quickWalk{gather: g}, n: n}.write()
		JMP(LabelRef("done"))
	}
	Label("done")
	FenceStream(g.Field("stream"))
	Finish()
}

// quadSum is such a kernel of rows of n registers.
type quadSum struct {
	quickWalk
	n   int
	acc []Vec
	t   Vec
}

// write writes the sums of rows, as [gather.sum] does.
//
//	Y[i,:] += Σ_k W[e]·X[Cols[k],:]    for the nonzeros k of row i, in order
func (q quadSum) write() {
	if q.weight != unweighted {
		q.by, q.t = ZMM(), ZMM()
	}
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
	// A nonzero: add the row, times its weight.
	q.add = q.addRow
	q.walk = q.quickWalk.nonzeros
	q.rows(open, q.one, keep)
	q.walk, q.empty = nil, nil
}

// addRow adds a row, times the weight at hand if there is one. A product is rounded before
// it is added.
func (q quadSum) addRow(row reg.Register) {
	for v, a := range q.acc {
		if q.weight == unweighted {
			VADDPS(Quad(row, v), a, a)
			continue
		}
		VMULPS(Quad(row, v), q.by, q.t)
		VADDPS(q.t, a, a)
	}
}
