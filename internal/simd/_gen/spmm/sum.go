package spmm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ahead is how many nonzeros before its use a row is fetched into the second
// cache, and soon how many before it is fetched from there into the first.
const (
	ahead = 32
	soon  = 10
)

// wideTile is the registers from which a row is worth to be fetched from the
// second cache.
const wideTile = 4

// line is the length of a cache line.
const line = 64

// weighting is what the elements of a row of X are multiplied by.
type weighting int

const (
	unweighted weighting = iota
	scalar               // one number a nonzero
	perHead              // one number for every so many registers
	fullRow              // a row of numbers
	ofEdge               // nothing: the row is the result's, in the order of the nonzeros
)

// gather is a kernel over the nonzeros of a range of rows, on a tile of some
// columns that stays in registers for each row.
type gather struct {
	Args
	out, x, offsets, cols reg.GPVirtual
	k, end, stride        reg.GPVirtual
	weights               reg.GPVirtual
	edges                 reg.GPVirtual // nil: never any

	weight weighting
	share  int // registers of a head
	nv     int // registers of the tile
	masked bool
	arg    bool                           // there is a second result, of numbers
	empty  func()                         // of a row without nonzeros here; nil: nothing
	near   bool                           // rows are fetched from the second cache too: it cannot wait for them
	won    bool                           // each row of X comes with one of numbers, and all edges have one
	walk   func(over string, each func()) // the loop over the nonzeros of a row, if another
	mask   reg.VecVirtual
}

// newGather loads the fields that every nonzero needs.
func newGather(name, doc string, w weighting, share int) *gather {
	g := &gather{weight: w, share: share, Args: StartOn("rowCall", name, "", name+" is "+doc)}
	g.out, g.x, g.offsets, g.cols = g.Word("out"), g.Word("x"), g.Word("offsets"), g.Word("cols")
	g.k, g.stride, g.end = g.Word("from"), g.Word("stride"), GP64()
	if w != unweighted {
		g.weights = g.Word("w")
	}
	return g
}

// shapes are the tiles that a kernel has, in registers.
type shapes struct {
	whole int // whole tiles have up to so many,
	step  int // a multiple of this; 0: of one
	cut   int // tiles that are cut at the last column have up to so many
	wide  int // and one whole tile has so many; 0: none
}

// widths returns the numbers of registers that a tile may have.
func (s shapes) widths() (widths []int) {
	step := max(1, s.step)
	for nv := step; nv <= s.whole; nv += step {
		widths = append(widths, nv)
	}
	if s.wide > 0 {
		widths = append(widths, s.wide)
	}
	return widths
}

// shapes writes body for every tile, and jumps to the one asked for.
func (g *gather) shapes(s shapes, body func()) {
	shape := g.Word("shape")
	name := func(nv int, masked bool) string { return fmt.Sprintf("tile%d%t", nv, masked) }
	// Jump to the tile that the call asks for.
	for _, nv := range s.widths() {
		CMPQ(shape, Imm(uint64(2*nv)))
		JE(LabelRef(name(nv, false)))
		if nv <= s.cut {
			CMPQ(shape, Imm(uint64(2*nv+1)))
			JE(LabelRef(name(nv, true)))
		}
	}
	JMP(LabelRef("done"))
	// One copy of the kernel for each tile.
	for _, nv := range s.widths() {
		for _, masked := range []bool{false, true} {
			if masked && nv > s.cut {
				continue
			}
			g.nv, g.masked = nv, masked
			Label(name(nv, masked))
			if masked {
				g.mask = MaskOf(g.Word("left"))
			}
			body()
			JMP(LabelRef("done"))
		}
	}
	Label("done")
	FenceStream(g.Field("stream"))
	Finish()
}

// rows writes the loop over the rows, around open and shut of a row that has
// nonzeros here. A row is cut where the call's nonzeros end.
// open may go to the label it is given, which is after the last of them.
func (g *gather) rows(open func(over string), each, shut func()) {
	again, next, none := Fresh("row"), Fresh("next"), Fresh("none")
	Label(again)
	// The nonzeros of the row that belong to this call.
	MOVQ(Mem{Base: g.offsets, Disp: 8}, g.end)
	CMPQ(g.end, g.Field("to"))
	CMOVQGT(g.Field("to"), g.end)
	CMPQ(g.k, g.end)
	JGE(LabelRef(none))
	over := Fresh("over")
	open(over)
	if g.walk != nil {
		g.walk(over, each)
	} else {
		g.nonzeros(over, each)
	}
	shut()
	if g.empty != nil {
		JMP(LabelRef(next))
	}
	Label(none)
	if g.empty != nil {
		g.empty()
	}
	// On to the next row of the result.
	Label(next)
	ADDQ(Imm(8), g.offsets)
	ADDQ(g.Field("outs"), g.out)
	if g.arg {
		next := g.Word("outs")
		ADDQ(next, g.Field("done"))
	}
	DECQ(g.Field("rows"))
	JNZ(LabelRef(again))
}

// nonzeros writes the loop over the nonzeros of a row, with and without
// fetching ahead, with and without numbers of edges.
func (g *gather) nonzeros(over string, each func()) {
	far := Fresh("far")
	CMPQ(g.Field("far"), Imm(0))
	JNE(LabelRef(far))
	g.loops(false, over, each)
	JMP(LabelRef(over))
	Label(far)
	g.loops(true, over, each)
	Label(over)
}

func (g *gather) loops(far bool, over string, each func()) {
	if g.edges == nil {
		g.loop(far, false, each)
		return
	}
	if g.won {
		g.loop(far, true, each)
		return
	}
	direct := Fresh("direct")
	TESTQ(g.edges, g.edges)
	JZ(LabelRef(direct))
	g.loop(far, true, each)
	JMP(LabelRef(over))
	Label(direct)
	g.loop(far, false, each)
}

// The row of X and of weights of the nonzero at hand, for each's code.
var (
	rowOfX reg.GPVirtual
	rowOfW reg.GPVirtual
)

func (g *gather) loop(far, indirect bool, each func()) {
	again := Fresh("each")
	Label(again)
	// Ask for the row of a nonzero some way ahead, or that of one which comes soon.
	if far {
		g.fetch(indirect)
	}
	if g.near && g.nv >= wideTile {
		g.fetchSoon()
	}
	// This nonzero's row, and what the kernel does with it.
	g.row(g.k, indirect)
	each()
	INCQ(g.k)
	CMPQ(g.k, g.end)
	JL(LabelRef(again))
}

// row sets the rows of nonzero k.
func (g *gather) row(k reg.GPVirtual, indirect bool) {
	rowOfX = GP64()
	MOVLQSX(Mem{Base: g.cols, Index: k, Scale: 4}, rowOfX)
	IMULQ(g.stride, rowOfX)
	ADDQ(g.x, rowOfX)
	if g.weight != unweighted {
		rowOfW = GP64()
		g.edge(k, rowOfW, indirect)
	}
}

// edge sets to to where the weights of nonzero k are.
func (g *gather) edge(k, to reg.GPVirtual, indirect bool) {
	if indirect {
		MOVLQSX(Mem{Base: g.edges, Index: k, Scale: 4}, to)
	} else {
		MOVQ(k, to)
	}
	IMULQ(g.Field("weights"), to)
	ADDQ(g.weights, to)
}

// later returns the nonzero that is so many after the one at hand, or the last,
// and where its row of X is.
func (g *gather) later(distance int) (later, at reg.GPVirtual) {
	later, at = GP64(), GP64()
	LEAQ(Mem{Base: g.k, Disp: distance}, later)
	CMPQ(later, g.Field("end"))
	CMOVQGT(g.Field("end"), later)
	MOVLQSX(Mem{Base: g.cols, Index: later, Scale: 4}, at)
	IMULQ(g.stride, at)
	ADDQ(g.x, at)
	return later, at
}

// fetchSoon asks for the row of a nonzero that comes soon, which is in the second
// cache.
func (g *gather) fetchSoon() {
	_, at := g.later(soon)
	for b := 0; b < 4*Lanes*g.nv; b += line {
		PREFETCHT0(Mem{Base: at, Disp: b})
	}
}

// fetch asks for the rows of a later nonzero.
func (g *gather) fetch(indirect bool) {
	later, at := g.later(ahead)
	size := 4 * Lanes * g.nv
	// The row of X.
	prefetch(at, size)
	// The row of numbers beside it.
	if g.won {
		SUBQ(g.x, at)
		ADDQ(g.Field("arg"), at)
		prefetch(at, size)
	}
	if g.weight == unweighted || g.weight == ofEdge {
		return
	}
	// The weights, where they are not read in order or exceed the caches.
	none := Fresh("unweighted")
	if !indirect {
		CMPQ(g.Field("far"), Imm(fetchWeights))
		JL(LabelRef(none))
	}
	g.edge(later, at, indirect)
	switch g.weight {
	case scalar:
		size = 4
	case perHead:
		size = 4 * g.nv / g.share
	}
	prefetch(at, size)
	Label(none)
}

// fetchWeights is the far of a call whose weights exceed the caches: between rows
// here and there the processor does not see that they are read in turn.
const fetchWeights = 2

// prefetch asks for the lines of some bytes, which may start within a line. The
// last of a tile that is cut may be beyond the row.
func prefetch(at reg.GPVirtual, size int) {
	for b := 0; b < size; b += line {
		PREFETCHT1(Mem{Base: at, Disp: b})
	}
	if size > line/2 && size%line != 0 {
		PREFETCHT1(Mem{Base: at, Disp: size - 4*Lanes})
	}
}

// isCut reports whether register v is cut at the last column.
func (g *gather) isCut(v int) bool { return g.masked && v == g.nv-1 }

// operand returns register v of a row: in memory where an instruction may read
// all of it there.
func (g *gather) operand(row reg.Register, v int) Op {
	if !g.isCut(v) {
		return Column(row, v)
	}
	return g.get(row, v)
}

func (g *gather) get(row reg.Register, v int) Vec {
	r := YMM()
	g.getTo(row, v, r)
	return r
}

func (g *gather) getTo(row reg.Register, v int, to Vec) {
	if g.isCut(v) {
		VMASKMOVPS(Column(row, v), g.mask, to)
	} else {
		VMOVUPS(Column(row, v), to)
	}
}

// put stores register v of a row; x may be lost.
func (g *gather) put(x Vec, row reg.Register, v int) {
	if g.isCut(v) {
		StoreFirst(x, g.Word("left"), Column(row, v))
	} else {
		VMOVUPS(x, Column(row, v))
	}
}

// keep stores a tile as a row of a result that is not read again here: past the
// caches where the call asks for that, which it may of whole lines only.
func (g *gather) keep(tile []Vec, row reg.Register) {
	if g.masked || 4*Lanes*g.nv%line != 0 {
		for v, x := range tile {
			g.put(x, row, v)
		}
		return
	}
	StoreStream(g.Field("stream"), tile, row)
}

// factor returns the weights of register v; last is that of the one before.
func (g *gather) factor(v int, last Vec) Vec {
	switch {
	case g.weight == fullRow:
		return g.get(rowOfW, v)
	case g.weight == scalar && v > 0, g.weight == perHead && v%g.share > 0:
		return last
	}
	at := Mem{Base: rowOfW}
	if g.weight == perHead {
		at.Disp = 4 * (v / g.share)
	}
	w := YMM()
	VBROADCASTSS(at, w)
	return w
}

// Sums writes the kernels that add up rows.
func Sums() {
	for _, s := range []struct {
		name   string
		weight weighting
		share  int
		shapes shapes
	}{
		{"rowSumAVX2", unweighted, 1, shapes{whole: 8, cut: 8, wide: 16}},
		{"rowSumScalarAVX2", scalar, 1, shapes{whole: 8, cut: 8}},
		{"rowSumHeads8AVX2", perHead, 1, shapes{whole: 8}},
		{"rowSumHeads16AVX2", perHead, 2, shapes{whole: 8, step: 2}},
		{"rowSumHeads32AVX2", perHead, 4, shapes{whole: 8, step: 4}},
		{"rowSumFullAVX2", fullRow, 1, shapes{whole: 8, cut: 8}},
	} {
		g := newGather(s.name, "a tile of RowSum.AddRows.", s.weight, s.share)
		if s.weight != unweighted {
			g.edges = g.Word("edges")
		}
		g.shapes(s.shapes, g.sum)
	}
}

// sum adds the rows to what is there, or to zero, one chain an element. A product
// is rounded before it is added: that is as fast here as to fuse the two, and
// gives the bits of plain Go.
//
//	Y[i,:] += Σ_k W[e,h]·X[Cols[k],:]    for the nonzeros k of row i, in order
func (g *gather) sum() {
	acc := make([]Vec, g.nv)
	for v := range acc {
		acc[v] = YMM()
	}
	zero := func() {
		for _, a := range acc {
			VXORPS(a, a, a)
		}
	}
	keep := func() { g.keep(acc, g.out) }
	shut := func() {
		if g.nv <= meanTile {
			g.divide(acc)
		}
		keep()
	}
	// A row starts at zero or at what is in Y.
	open := func(string) {
		add, opened := Fresh("add"), Fresh("opened")
		CMPQ(g.Field("set"), Imm(0))
		JE(LabelRef(add))
		zero()
		JMP(LabelRef(opened))
		Label(add)
		for v := range acc {
			g.getTo(g.out, v, acc[v])
		}
		Label(opened)
	}
	// A row without nonzeros is set to zero, where rows are set.
	g.empty = func() {
		add := Fresh("add")
		CMPQ(g.Field("set"), Imm(0))
		JE(LabelRef(add))
		zero()
		keep()
		Label(add)
	}
	// A nonzero: add the row, times its weights.
	if g.weight == scalar || g.weight == unweighted {
		q := quickWalk{gather: g, apart: g.weight == scalar}
		if q.apart {
			q.by = YMM()
		}
		q.add = func(row reg.Register) {
			for v := range acc {
				x := g.operand(row, v)
				if q.apart {
					x = Mul(q.by, x)
				}
				VADDPS(x, acc[v], acc[v])
			}
		}
		g.walk = q.nonzeros
		g.rows(open, q.one, shut)
		g.walk = nil
		return
	}
	g.rows(open, func() {
		var w Vec
		for v := range acc {
			w = g.factor(v, w)
			VADDPS(Mul(w, g.operand(rowOfX, v)), acc[v], acc[v])
		}
	}, shut)
}

// meanTile is the most registers of a tile whose sums may be made means.
const meanTile = 8

// divide makes sums means where the call asks for those: here a division is done
// beside the loads of the next row.
func (g *gather) divide(acc []Vec) {
	sums := Fresh("sums")
	CMPQ(g.Field("mean"), Imm(0))
	JE(LabelRef(sums))
	n, count, by, zero := GP64(), XMM(), YMM(), YMM()
	MOVQ(Mem{Base: g.offsets, Disp: 8}, n)
	SUBQ(Mem{Base: g.offsets}, n)
	VXORPS(zero, zero, zero)
	VCVTSI2SSQ(n, zero.AsX(), count)
	VBROADCASTSS(count, by)
	for _, a := range acc {
		VDIVPS(by, a, a)
		VADDPS(zero, a, a)
	}
	Label(sums)
}
