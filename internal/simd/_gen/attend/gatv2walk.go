package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// GATv2 writes the kernels of GATv2Walk, for both widths of registers.
func GATv2() {
	for _, wide := range []bool{false, true} {
		newGATv2("gatv2Attend", "GATv2Walk.Attend", wide).attend()
		newGATv2("gatv2Retrace", "GATv2Walk.Retrace", wide).retrace()
	}
}

// gatv2 is a kernel on a GATv2Walk: it walks destinations and their edges, and leaves
// what it does with an edge to a width.
type gatv2 struct {
	walk
	width
	u, v, a reg.GPVirtual // rows
}

// width is what a kernel does with rows in registers of some lanes.
type width interface {
	// open loads what stays in registers for all destinations.
	open()
	// start clears a destination's sums.
	start()
	// attendEdges walks the edges: weights from scores, their sum and that of the rows they weigh.
	attendEdges()
	// result divides a destination's row by the sum of its weights and stores it.
	result()
	// startBack loads what the backward pass of a destination needs, and clears its sum.
	startBack()
	// weighEdges walks the edges: their weights, and gradients of the weights, to Work.
	weighEdges()
	// grads walks the edges again: the gradients of scores, and what comes of them.
	grads()
	// allInRange goes to stop if a score is out of range, or NaN.
	allInRange(stop string)
}

func newGATv2(name, doc string, wide bool) *gatv2 {
	if wide {
		name += "512"
	}
	s := &gatv2{}
	s.Args = StartOn("GATv2Walk", name, "", name+" is "+doc+".")
	s.u, s.v, s.a = GP64(), s.Word("V"), s.Word("A")
	if s.width = (&gatv2By8{gatv2: s}); wide {
		s.width = &gatv2By16{gatv2: s}
	}
	return s
}

// attend writes GATv2Walk.Attend:
//
//	Y[r,h,:] = Σ_e α[e,h]·U[Cols[e],h,:] + Bias[h,:]
func (s *gatv2) attend() {
	stop := Fresh("stop")
	s.open()
	s.rows(stop, func() {
		none := Fresh("none")
		s.start()
		CMPQ(s.k, s.end) // no edges: the row is the bias
		JGE(LabelRef(none))
		s.attendEdges()
		s.allInRange(stop)
		Label(none)
		s.result()
	})
	FenceStream(s.Field("stream"))
	Finish()
}

// retrace writes GATv2Walk.Retrace: of each edge's score the gradient
//
//	ds[e,h] = α·(Σ_j U[Cols[e],h,j]·R[r,h,j] − Σ_e α·dα)
//
// which is kept with α at the edge's place, and summed into DV and DA.
func (s *gatv2) retrace() {
	stop := Fresh("stop")
	s.open()
	s.rows(stop, func() {
		none, unread, some := Fresh("none"), Fresh("unread"), Fresh("some")
		CMPQ(s.k, s.end)
		JGE(LabelRef(unread))
		s.ordinaryStats(stop)
		JMP(LabelRef(some))
		Label(unread) // no edges: nothing has statistics
		s.emptyRow()
		JMP(LabelRef(none))
		Label(some)
		s.startBack()
		s.weighEdges()
		s.allInRange(stop)
		s.emptyRow() // only now, since a destination that stops is left as it was
		s.grads()
		Label(none)
		ADDQ(U32(256), s.Field("R")) // the next destination
		ADDQ(U32(256), s.Field("DV"))
	})
	Finish()
}

// source finds the row of edge k's source.
func (s *gatv2) source(k, at reg.GPVirtual) {
	cols := s.Word("Cols")
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	SHLQ(Imm(8), at)
	ADDQ(s.Field("U"), at)
}

// fetch asks for the rows of the sources of some edges.
func (s *gatv2) fetch(edges int) { s.walk.fetch(edges, s.request) }

// request asks for the row of edge e's source.
func (s *gatv2) request(e reg.GPVirtual, fetch func(Op)) {
	s.source(e, e)
	for l := range 4 {
		fetch(Mem{Base: e, Disp: LineBytes * l})
	}
}

// rows writes the loop over destinations.
func (s *gatv2) rows(stop string, body func()) {
	s.walk.rows(stop, body, func() {
		ADDQ(U32(256), s.v)
		for _, f := range []string{"Top", "Sum"} {
			by := s.Word("Apart")
			SHLQ(Imm(2), by)
			ADDQ(by, s.Field(f))
		}
	})
}

// edges writes a loop over the destination's edges, of which there are some.
func (s *gatv2) edges(body func()) {
	again := Fresh("edge")
	Label(again)
	s.source(s.k, s.u)
	body()
	INCQ(s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// ordinaryStats goes to stop where the statistics cannot be Attend's: the largest score
// is not 0, which that has for all it did, or the sum no ordinary number.
func (s *gatv2) ordinaryStats(stop string) {
	top, sum, bits := Get(Mem{Base: s.Word("Top")}), Get(Mem{Base: s.Word("Sum")}), GP32()
	fine := And(Compare(Equal, top, Num(0)), Compare(Less, sum, Num(math.Inf(1))))
	fine = And(fine, Compare(Greater, sum, Num(0)))
	VMOVMSKPS(fine, bits)
	CMPL(bits, U32(0xff))
	JNE(LabelRef(stop))
}

// emptyRow clears the row of DV, if it is not added to.
func (s *gatv2) emptyRow() {
	around, nothing, dv := Fresh("add"), YMM(), s.Word("DV")
	CMPB(s.Field("Set"), Imm(0))
	JE(LabelRef(around))
	VXORPS(nothing, nothing, nothing)
	for h := range Lanes {
		VMOVUPS(nothing, head8(dv, h))
	}
	Label(around)
}
