package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// walk is a kernel that takes node after node, and the edges of each one after another.
type walk struct {
	Args
	k, end reg.GPVirtual // the edge, and that after the last
}

// rows writes the loop over nodes, which goes to stop before one whose edges end beyond
// the most. further goes on to the next node's rows.
func (s *walk) rows(stop string, body, further func()) {
	row := Fresh("row")
	Label(row)
	// The range of the edges, which one call must not go beyond.
	offs := s.Word("Offsets")
	s.k, s.end = GP64(), GP64()
	MOVQ(Mem{Base: offs}, s.k)
	MOVQ(Mem{Base: offs, Disp: 8}, s.end)
	CMPQ(s.end, s.Field("most"))
	JG(LabelRef(stop))
	body()
	// On to the next node: its offset, its rows.
	ADDQ(Imm(8), s.Field("Offsets"))
	further()
	DECQ(s.Field("left"))
	JNZ(LabelRef(row))
	Label(stop)
}

// fetch asks for the rows that some edges will read, each by request, as fetch of edgeRows does.
func (s *walk) fetch(edges int, request func(e reg.GPVirtual, fetch func(Op))) {
	none, far := Fresh("near"), s.Word("ahead")
	// Nothing to ask for: the rows are near, or the edges are the last.
	TESTQ(far, far)
	JZ(LabelRef(none))
	ADDQ(s.k, far)
	CMPQ(far, s.Field("last"))
	JGE(LabelRef(none))
	// From memory to the second cache; then, of edges that come soon, to the first.
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: far, Disp: e}, row)
		request(row, PREFETCHT1)
	}
	for e := range edges {
		row := GP64()
		LEAQ(Mem{Base: s.k, Disp: NearAhead + e}, row)
		request(row, PREFETCHT0)
	}
	Label(none)
}
