package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Picks writes the kernels that drop zeros. Which those are cannot be foreseen,
// so they do not branch.
func Picks() {
	Start("pickAVX2", "func(toCols *int32, toW *float32, cols *int32, w *float32, n int) int", "pickAVX2 is Pick of n > 0 nonzeros.")
	pickNonzeros("")
	Start("pickEdgesAVX2", "func(toCols *int32, toW *float32, cols *int32, w *float32, edges *int32, n int) int", "pickEdgesAVX2 is PickEdges of n > 0 nonzeros.")
	pickNonzeros("edges")
}

// pickNonzeros writes the copy of the nonzeros whose value is not 0, in order, and returns
// how many there are:
//
//	toCols[n], toW[n] = cols[k], w[k] or w[edges[k]]
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
	// Copy the nonzero to the next free place.
	MOVL(Mem{Base: cols, Index: k, Scale: 4}, c)
	MOVL(from, v)
	MOVL(c, Mem{Base: toCols, Index: kept, Scale: 4})
	MOVL(v, Mem{Base: toW, Index: kept, Scale: 4})
	// The place is taken only if the value is not ±0.
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

// Means writes the kernels that divide rows by how many they are the sums of.
func Means() {
	mean("addMeansAVX2", "addMeansAVX2 is AddMeans.", true)
	mean("divideRangesAVX2", "divideRangesAVX2 is DivideRanges.", false)
}

// mean writes such a kernel, which adds to y or else to zero, and divides by 1
// where there are none.
//
//	y[i,:] += x[i,:]/n[i]    or y[i,:] = x[i,:]/max(n[i], 1)
func mean(name, comment string, adds bool) {
	Start(name, "func(y, x *float32, offsets *int64, rows, f int)", comment)
	l := newRowWalk()
	n, one, count, by := GP64(), GP64(), XMM(), YMM()
	Label("row")
	// How many the row is the sum of.
	MOVQ(Mem{Base: l.offsets, Disp: 8}, n)
	SUBQ(Mem{Base: l.offsets}, n)
	if adds {
		JZ(LabelRef("next"))
	} else {
		MOVQ(U32(1), one)
		CMOVQEQ(one, n)
	}
	// As a float in all lanes.
	VXORPS(count, count, count)
	VCVTSI2SSQ(n, count, count)
	VBROADCASTSS(count, by)
	l.columns(func(y, x Mem, masked bool) {
		// Load, divide, add, store.
		m, t := YMM(), YMM()
		if masked {
			VMASKMOVPS(x, l.mask, m)
		} else {
			VMOVUPS(x, m)
		}
		switch {
		case !adds:
			VXORPS(t, t, t)
		case masked:
			VMASKMOVPS(y, l.mask, t)
		default:
			VMOVUPS(y, t)
		}
		VDIVPS(by, m, m)
		VADDPS(t, m, m)
		if masked {
			StoreFirst(m, l.left, y)
		} else {
			VMOVUPS(m, y)
		}
	})
	Label("next")
	l.step()
	Finish()
}

// rowWalk is a kernel over the columns of the rows of y and x, which may be one.
type rowWalk struct {
	y, x, offsets, rows, f reg.GPVirtual
	left, whole            reg.GPVirtual // columns in the last register, 0 to 7, and before it
	mask                   Vec
}

func newRowWalk() *rowWalk {
	l := &rowWalk{y: Arg("y"), x: Arg("x"), offsets: Arg("offsets"), rows: Arg("rows"), f: Arg("f"), left: GP64(), whole: GP64()}
	MOVQ(l.f, l.left)
	ANDQ(Imm(Lanes-1), l.left)
	MOVQ(l.f, l.whole)
	SUBQ(l.left, l.whole)
	l.mask = MaskOf(l.left)
	return l
}

// columns writes the loop over the columns of a row.
func (l *rowWalk) columns(body func(y, x Mem, masked bool)) {
	j := GP64()
	XORQ(j, j)
	y, x := Mem{Base: l.y, Index: j, Scale: 4}, Mem{Base: l.x, Index: j, Scale: 4}
	again, rest, end := Fresh("columns"), Fresh("rest"), Fresh("end")
	Label(again)
	CMPQ(j, l.whole)
	JGE(LabelRef(rest))
	body(y, x, false)
	ADDQ(Imm(Lanes), j)
	JMP(LabelRef(again))
	Label(rest)
	TESTQ(l.left, l.left)
	JZ(LabelRef(end))
	body(y, x, true)
	Label(end)
}

// step goes on to the next row.
func (l *rowWalk) step() {
	LEAQ(Mem{Base: l.y, Index: l.f, Scale: 4}, l.y)
	LEAQ(Mem{Base: l.x, Index: l.f, Scale: 4}, l.x)
	ADDQ(Imm(8), l.offsets)
	DECQ(l.rows)
	JNZ(LabelRef("row"))
}
