package spmm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Spills writes the kernels that add rows to where their nonzeros point, of one,
// two or four registers. Registers of sixteen lanes are no faster: the time goes into
// stores, of which the first cache takes as many bytes either way.
func Spills() {
	for _, nv := range []int{1, 2, 4} {
		spill(nv)
	}
}

// spill writes Spill.Add of rows of nv registers:
//
//	y[cols[k],:] += w[k]·x[i,:]    for the nonzeros k of row i
func spill(nv int) {
	name := fmt.Sprintf("spill%dAVX2", nv*Lanes)
	Start(name, "func(y, x *float32, cols *int32, w *float32, offsets *int64, rows, yStride, xStride, skip int)", fmt.Sprintf("%s is Spill.Add of rows > 0 rows of %d elements. A skip that is not 0 leaves out zeros.", name, nv*Lanes))
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	cols, w := Load(Param("cols"), GP64()), Load(Param("w"), GP64())
	offsets, rows := Load(Param("offsets"), GP64()), Load(Param("rows"), GP64())
	yStride, xStride := Load(Param("yStride"), GP64()), Load(Param("xStride"), GP64())
	skip := Load(Param("skip"), GP64())
	// Strides in bytes.
	SHLQ(Imm(2), yStride)
	SHLQ(Imm(2), xStride)
	k, end, at := GP64(), GP64(), GP64()
	from := make([]Vec, nv)
	for i := range from {
		from[i] = YMM()
	}
	by, t := YMM(), YMM()
	// From here on columns and weights are counted to the end of a row.
	MOVQ(Mem{Base: offsets}, end)
	LEAQ(Mem{Base: cols, Index: end, Scale: 4}, cols)
	LEAQ(Mem{Base: w, Index: end, Scale: 4}, w)
	// The row stays in registers over its nonzeros.
	Label("row")
	MOVQ(Mem{Base: offsets}, k)
	MOVQ(Mem{Base: offsets, Disp: 8}, end)
	SUBQ(end, k)
	JZ(LabelRef("next"))
	SHLQ(Imm(2), k)
	SUBQ(k, cols)
	SUBQ(k, w)
	SARQ(Imm(2), k)
	for i, v := range from {
		VMOVUPS(Mem{Base: x, Disp: 4 * Lanes * i}, v)
	}
	// A nonzero: the row it points at; multiply, add, store.
	nonzero := func() {
		MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
		IMULQ(yStride, at)
		ADDQ(y, at)
		VBROADCASTSS(Mem{Base: w, Index: k, Scale: 4}, by)
		for i, v := range from {
			to := Mem{Base: at, Disp: 4 * Lanes * i}
			VMULPS(v, by, t)
			VADDPS(to, t, t)
			VMOVUPS(t, to)
		}
	}
	TESTQ(skip, skip)
	JNZ(LabelRef("test"))
	Label("each")
	nonzero()
	INCQ(k)
	JNZ(LabelRef("each"))
	JMP(LabelRef("next"))
	// The same where the weight is not zero: its bits, but for the sign, are not.
	Label("test")
	bits := GP32()
	MOVL(Mem{Base: w, Index: k, Scale: 4}, bits)
	ADDL(bits, bits)
	JZ(LabelRef("zero"))
	nonzero()
	Label("zero")
	INCQ(k)
	JNZ(LabelRef("test"))
	// On to the next row.
	Label("next")
	ADDQ(xStride, x)
	ADDQ(Imm(8), offsets)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Finish()
}
