package spmm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Spills writes the kernels that add rows to where their nonzeros point, of one,
// two or four registers.
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
	Start(name, "func(y, x *float32, cols *int32, w *float32, offsets *int64, rows, yStride, xStride int)", fmt.Sprintf("%s is Spill.Add of rows > 0 rows of %d elements.", name, nv*Lanes))
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	cols, w := Load(Param("cols"), GP64()), Load(Param("w"), GP64())
	offsets, rows := Load(Param("offsets"), GP64()), Load(Param("rows"), GP64())
	yStride, xStride := Load(Param("yStride"), GP64()), Load(Param("xStride"), GP64())
	// Strides in bytes.
	SHLQ(Imm(2), yStride)
	SHLQ(Imm(2), xStride)
	k, end, at := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: offsets}, k)
	from := make([]Vec, nv)
	for i := range from {
		from[i] = YMM()
	}
	by, t := YMM(), YMM()
	// The row stays in registers over its nonzeros.
	Label("row")
	MOVQ(Mem{Base: offsets, Disp: 8}, end)
	for i, v := range from {
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
	}
	// A nonzero: the row it points at, and its weight in all lanes.
	Label("each")
	CMPQ(k, end)
	JGE(LabelRef("next"))
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	IMULQ(yStride, at)
	VBROADCASTSS(Mem{Base: w, Index: k, Scale: 4}, by)
	// Multiply, add, store.
	for i, v := range from {
		to := Mem{Base: y, Index: at, Scale: 1, Disp: 32 * i}
		VMULPS(v, by, t)
		VADDPS(to, t, t)
		VMOVUPS(t, to)
	}
	INCQ(k)
	JMP(LabelRef("each"))
	// On to the next row.
	Label("next")
	ADDQ(xStride, x)
	ADDQ(Imm(8), offsets)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Finish()
}
