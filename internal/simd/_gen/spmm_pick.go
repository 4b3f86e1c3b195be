package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// picks writes the kernels that drop zeros. Which those are cannot be foreseen,
// so they do not branch.
func picks() {
	start("pickAVX2", "func(toCols *int32, toW *float32, cols *int32, w *float32, n int) int", "pickAVX2 is Pick of n > 0 nonzeros.")
	pickNonzeros("")
	start("pickEdgesAVX2", "func(toCols *int32, toW *float32, cols *int32, w *float32, edges *int32, n int) int", "pickEdgesAVX2 is PickEdges of n > 0 nonzeros.")
	pickNonzeros("edges")
}

func pickNonzeros(edges string) {
	ptr := func(name string) reg.Register { return Load(Param(name), GP64()) }
	toCols, toW, cols, w, n := ptr("toCols"), ptr("toW"), ptr("cols"), ptr("w"), ptr("n")
	k, kept, one, c, v := GP64(), GP64(), GP64(), GP32(), GP32()
	from := Mem{Base: w, Index: k, Scale: 4}
	var at reg.Register
	if edges != "" {
		at, from.Index = ptr(edges), GP64()
	}
	XORQ(k, k)
	XORQ(kept, kept)
	Label("each")
	if edges != "" {
		MOVLQSX(Mem{Base: at, Index: k, Scale: 4}, from.Index)
	}
	MOVL(Mem{Base: cols, Index: k, Scale: 4}, c)
	MOVL(from, v)
	MOVL(c, Mem{Base: toCols, Index: kept, Scale: 4})
	MOVL(v, Mem{Base: toW, Index: kept, Scale: 4})
	XORQ(one, one)
	ADDL(v, v) // but for the sign
	SETNE(one.As8())
	ADDQ(one, kept)
	INCQ(k)
	CMPQ(k, n)
	JL(LabelRef("each"))
	Store(kept, ReturnIndex(0))
	RET()
}

// means writes the kernels that end a mean.
func means() {
	mean("meanAVX2", "func(y, s *float32, offsets *int64, rows, f int)", "meanAVX2 is AddMeans.", true)
	mean("meanSetAVX2", "func(s *float32, offsets *int64, rows, f int)", "meanSetAVX2 is SetMeans.", false)
}

// mean writes such a kernel, which adds to y or else to zero, in s.
func mean(name, signature, comment string, toY bool) {
	start(name, signature, comment)
	l := newRowWalk(toY)
	n, count, by := GP64(), XMM(), YMM()
	Label("row")
	MOVQ(Mem{Base: l.offsets, Disp: 8}, n)
	SUBQ(Mem{Base: l.offsets}, n)
	JZ(LabelRef("next"))
	VXORPS(count, count, count)
	VCVTSI2SSQ(n, count, count)
	VBROADCASTSS(count, by)
	l.columns(func(y, s Mem, masked bool) {
		m, t := YMM(), YMM()
		if masked {
			VMASKMOVPS(s, l.mask, m)
		} else {
			VMOVUPS(s, m)
		}
		switch {
		case !toY:
			VXORPS(t, t, t)
		case masked:
			VMASKMOVPS(y, l.mask, t)
		default:
			VMOVUPS(y, t)
		}
		VDIVPS(by, m, m)
		VADDPS(t, m, m)
		if masked {
			storeFirst(m, l.left, y)
		} else {
			VMOVUPS(m, y)
		}
	})
	Label("next")
	l.step()
	finish()
}

// rowWalk is a kernel over the columns of the rows of y and s, which may be one.
type rowWalk struct {
	y, s, offsets, rows, f reg.GPVirtual
	left                   reg.GPVirtual // columns in the last register, 0 to 7
	mask                   vec
}

func newRowWalk(toY bool) *rowWalk {
	arg := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	l := &rowWalk{s: arg("s"), offsets: arg("offsets"), rows: arg("rows"), f: arg("f"), left: GP64()}
	if l.y = l.s; toY {
		l.y = arg("y")
	}
	MOVQ(l.f, l.left)
	ANDQ(Imm(lanes-1), l.left)
	l.mask = maskOf(l.left)
	return l
}

// columns writes the loop over the columns of a row.
func (l *rowWalk) columns(body func(y, s Mem, masked bool)) {
	j, whole := GP64(), GP64()
	XORQ(j, j)
	MOVQ(l.f, whole)
	SUBQ(l.left, whole)
	y, s := Mem{Base: l.y, Index: j, Scale: 4}, Mem{Base: l.s, Index: j, Scale: 4}
	again, rest, end := fresh("columns"), fresh("rest"), fresh("end")
	Label(again)
	CMPQ(j, whole)
	JGE(LabelRef(rest))
	body(y, s, false)
	ADDQ(Imm(lanes), j)
	JMP(LabelRef(again))
	Label(rest)
	TESTQ(l.left, l.left)
	JZ(LabelRef(end))
	body(y, s, true)
	Label(end)
}

// step goes on to the next row.
func (l *rowWalk) step() {
	if l.y != l.s {
		LEAQ(Mem{Base: l.y, Index: l.f, Scale: 4}, l.y)
	}
	LEAQ(Mem{Base: l.s, Index: l.f, Scale: 4}, l.s)
	ADDQ(Imm(8), l.offsets)
	DECQ(l.rows)
	JNZ(LabelRef("row"))
}
