package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quickWalk is a loop over the nonzeros of a row, with a number for each or none, of as few
// instructions as there can be: beside those that add a row there are six, or five.
type quickWalk struct {
	*gather
	by    Vec                    // the number of the nonzero at hand, in all lanes
	add   func(row reg.Register) // what is done with its row
	apart bool                   // numbers may stand apart, of several heads
}

// one does a nonzero whose rows are set.
func (q quickWalk) one() {
	VBROADCASTSS(Mem{Base: rowOfW}, q.by)
	q.add(rowOfX)
}

// nonzeros writes the loop over the nonzeros of a row. It does not look out for the last
// nonzero of all when it fetches ahead: near that it does not fetch.
func (q quickWalk) nonzeros(over string, each func()) {
	careful, far, near, last := Fresh("careful"), Fresh("far"), Fresh("near"), GP64()
	if q.apart {
		CMPQ(q.Field("weights"), Imm(4))
		JNE(LabelRef(careful))
	}
	CMPQ(q.Field("far"), Imm(0))
	JNE(LabelRef(far))
	Label(near)
	q.either(over, false)
	Label(far)
	LEAQ(Mem{Base: q.end, Disp: ahead - 1}, last)
	CMPQ(last, q.Field("end"))
	JG(LabelRef(near)) // the last rows of all
	q.either(over, true)
	if q.apart {
		Label(careful)
		q.gather.nonzeros(over, each)
		return
	}
	Label(over)
}

// either writes the loop for weights in the order of the nonzeros, and for others.
func (q quickWalk) either(over string, far bool) {
	if q.edges == nil {
		q.quick(far, false)
		JMP(LabelRef(over))
		return
	}
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
func (q quickWalk) quick(far, indirect bool) {
	cols, weights, again := GP64(), GP64(), Fresh("quick")
	list := q.weights
	if indirect {
		list = q.edges
	}
	LEAQ(Mem{Base: q.cols, Index: q.end, Scale: 4}, cols)
	if q.weight != unweighted {
		LEAQ(Mem{Base: list, Index: q.end, Scale: 4}, weights)
	}
	SUBQ(q.end, q.k)
	Label(again)
	row := GP64()
	if far {
		MOVLQSX(Mem{Base: cols, Index: q.k, Scale: 4, Disp: 4 * ahead}, row)
		IMULQ(q.stride, row)
		ADDQ(q.x, row)
		prefetch(row, 4*Lanes*q.nv)
		q.fetchWeight(weights, indirect)
	}
	MOVLQSX(Mem{Base: cols, Index: q.k, Scale: 4}, row)
	IMULQ(q.stride, row)
	ADDQ(q.x, row)
	switch {
	case q.weight == unweighted:
	case indirect:
		e := GP64()
		MOVLQSX(Mem{Base: weights, Index: q.k, Scale: 4}, e)
		VBROADCASTSS(Mem{Base: q.weights, Index: e, Scale: 4}, q.by)
	default:
		VBROADCASTSS(Mem{Base: weights, Index: q.k, Scale: 4}, q.by)
	}
	q.add(row)
	INCQ(q.k)
	JNZ(LabelRef(again))
	MOVQ(q.end, q.k)
}

// fetchWeight asks for the number of a later nonzero: between rows here and there the
// processor does not see that they are read in turn.
func (q quickWalk) fetchWeight(weights reg.GPVirtual, indirect bool) {
	switch {
	case q.weight == unweighted:
	case indirect:
		e := GP64()
		MOVLQSX(Mem{Base: weights, Index: q.k, Scale: 4, Disp: 4 * ahead}, e)
		PREFETCHT1(Mem{Base: q.weights, Index: e, Scale: 4})
	default:
		PREFETCHT1(Mem{Base: weights, Index: q.k, Scale: 4, Disp: 8 * ahead})
	}
}
