package attend

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// compactGrads is a kernel of CompactGrads.
type compactGrads struct {
	Args
	list, i          reg.GPVirtual
	e                reg.GPVirtual // the edge
	du, r, a         reg.GPVirtual // the rows
	pairs, signs     reg.GPVirtual // the edge's numbers
	slope            Vec
	number, gradient Vec // of the head
}

// CompactGrads writes the kernels of CompactGrads: one for heads of any number of
// registers, and one for eight heads of one.
//
//	DU[To[e],h,:] += Z[e,h,1]·R[From[e],h,:] + Z[e,h,0]·A[h,:]·(1 or, where the sign is not set, Slope)
func CompactGrads() {
	for _, eight := range []bool{false, true} {
		name, of := "addCompactGrads", "."
		if eight {
			name, of = name+"8", " of eight heads of eight elements."
		}
		k := &compactGrads{Args: StartOn("CompactGrads", name, "", name+" is CompactGrads.Add"+of), slope: YMM()}
		VBROADCASTSS(k.Field("Slope"), k.slope)
		k.list = k.Word("edges")
		k.a = k.Word("A")
		k.i = GP64()
		XORQ(k.i, k.i)
		again := Fresh("edge")
		Label(again)
		k.locate()
		k.fetch()
		if eight {
			k.eight()
		} else {
			k.heads()
		}
		INCQ(k.i)
		CMPQ(k.i, k.Field("n"))
		JL(LabelRef(again))
		Finish()
	}
}

// locate finds the rows and numbers of the edge.
func (k *compactGrads) locate() {
	k.e = GP64()
	// The edge, and the rows of its ends.
	MOVLQSX(Mem{Base: k.list, Index: k.i, Scale: 4}, k.e)
	k.du, k.r = k.row("DU", "To", k.e), k.row("R", "From", k.e)
	// Its pairs of numbers, two a head; its signs, a bit an element.
	at := GP64()
	MOVQ(k.e, at)
	IMULQ(k.Field("H"), at)
	k.pairs = k.Word("Z")
	LEAQ(Mem{Base: k.pairs, Index: at, Scale: 8}, k.pairs)
	k.signs = k.e
	IMULQ(k.Field("bytes"), k.signs)
	SHRQ(Imm(5), k.signs)
	ADDQ(k.Field("Signs"), k.signs)
}

// row is that of an array which another one names for an edge.
func (k *compactGrads) row(array, names string, e reg.GPVirtual) reg.GPVirtual {
	at := k.Word(names)
	MOVLQSX(Mem{Base: at, Index: e, Scale: 4}, at)
	IMULQ(k.Field("bytes"), at)
	ADDQ(k.Field(array), at)
	return at
}

// fetch asks for the rows of an edge some places later, and again for those of one that
// is soon added to.
func (k *compactGrads) fetch() {
	none := Fresh("near")
	// The last edges have none so far after them.
	CMPQ(k.i, k.Field("near"))
	JGE(LabelRef(none))
	e := k.Word("ahead")
	ADDQ(k.i, e)
	// One row for the second cache, one for the first.
	k.request(Mem{Base: k.list, Index: e, Scale: 4}, PREFETCHT1)
	k.request(Mem{Base: k.list, Index: k.i, Scale: 4, Disp: 4 * NearAhead}, PREFETCHT0)
	Label(none)
}

// request asks for the rows of an edge, that of the source by fetch.
func (k *compactGrads) request(named Mem, fetch func(Op)) {
	line, e, at := Fresh("line"), GP64(), GP64()
	MOVLQSX(named, e)
	du, r := k.row("DU", "To", e), k.row("R", "From", e)
	XORQ(at, at)
	Label(line)
	fetch(Mem{Base: du, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: r, Index: at, Scale: 1})
	ADDQ(Imm(LineBytes), at)
	CMPQ(at, k.Field("bytes"))
	JL(LabelRef(line))
}

// head reads the numbers of a head that stand so many bytes on.
func (k *compactGrads) head(disp int) {
	k.number, k.gradient = YMM(), YMM()
	VBROADCASTSS(Mem{Base: k.pairs, Disp: disp}, k.gradient)
	VBROADCASTSS(Mem{Base: k.pairs, Disp: disp + 4}, k.number)
}

// step adds eight elements; the sign bits of positive tell which are.
func (k *compactGrads) step(positive Vec, at func(base reg.GPVirtual) Mem) {
	d := Mul(k.gradient, at(k.a))
	d = Pick(positive, d, Mul(d, k.slope))
	d = Plus(d, k.number, at(k.r))
	VMOVUPS(Add(d, at(k.du)), at(k.du))
}

// shifted has the bit of each lane's element as its sign: of the elements of a
// head that stands so many heads after the first of those whose bits are in v.
func shifted(v Vec, head int) Vec {
	to := YMM()
	m, ok := shifts[head]
	if !ok {
		m = Pattern(fmt.Sprint("signsOf", head), func(i int) uint32 { return uint32(31 - i - 8*head) })
		shifts[head] = m
	}
	VPSLLVD(m, v, to)
	return to
}

var shifts = map[int]Mem{}

func (k *compactGrads) eight() {
	var bits Vec
	for h := range 8 {
		if h%4 == 0 {
			bits = YMM()
			VPBROADCASTD(Mem{Base: k.signs, Disp: h}, bits)
		}
		k.head(8 * h)
		k.step(shifted(bits, h%4), func(base reg.GPVirtual) Mem { return Mem{Base: base, Disp: 32 * h} })
	}
}

func (k *compactGrads) heads() {
	head, some := Fresh("head"), Fresh("elements")
	j, end := GP64(), GP64()
	XORQ(j, j)
	Label(head)
	MOVQ(k.Field("Width"), end)
	LEAQ(Mem{Base: j, Index: end, Scale: 4}, end)
	k.head(0)
	Label(some)
	bits := YMM()
	VPBROADCASTB(Mem{Base: k.signs}, bits)
	k.step(shifted(bits, 0), func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: j, Scale: 1} })
	INCQ(k.signs)
	ADDQ(Imm(32), j)
	CMPQ(j, end)
	JL(LabelRef(some))
	ADDQ(Imm(8), k.pairs)
	CMPQ(j, k.Field("bytes"))
	JL(LabelRef(head))
}
