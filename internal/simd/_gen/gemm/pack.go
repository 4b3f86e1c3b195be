package gemm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// PackRuns writes the kernels that copy a matrix, row by row, in runs of some
// columns: those of the next row follow a run, and a pitch after it is the run
// of the next columns. A run of six is moved as eight, of which the next row
// overwrites two.
func PackRuns() {
	for _, t := range []struct {
		name string
		run  int
		says string
	}{
		{"packGroupsAVX2", group, "packGroupsAVX2 is PackGroups of whole groups. Two elements after each are lost."},
		{"packPanelsAVX2", 2 * Lanes, "packPanelsAVX2 is PackPanels of whole panels."},
	} {
		Start(t.name, "func(to *float32, from *float32, ld int, pitch int, runs int, rows int)", t.says)
		packRun(t.run)
	}
}

// packRun writes the copy of runs, of columns of from one after another:
//
//	to[i/run·pitch + k·run + i%run] = from[k·ld + i]
func packRun(run int) {
	to, from := Load(Param("to"), GP64()), Load(Param("from"), GP64())
	ld, pitch := Load(Param("ld"), GP64()), Load(Param("pitch"), GP64())
	runs := Load(Param("runs"), GP64())
	SHLQ(Imm(2), ld)
	SHLQ(Imm(2), pitch)
	far := GP64() // eight rows on
	MOVQ(ld, far)
	SHLQ(Imm(3), far)
	// A run of each row, and then the next run.
	Label("run")
	t, f, n := GP64(), GP64(), GP64()
	MOVQ(to, t)
	MOVQ(from, f)
	Load(Param("rows"), n)
	Label("row")
	// Move a run.
	for at := 0; at < run; at += Lanes {
		v := YMM()
		VMOVUPS(Mem{Base: f, Disp: 4 * at}, v)
		VMOVUPS(v, Mem{Base: t, Disp: 4 * at})
	}
	PREFETCHT0(Mem{Base: f, Index: far, Scale: 1})
	ADDQ(ld, f)
	ADDQ(Imm(uint64(4*run)), t)
	DECQ(n)
	JNZ(LabelRef("row"))
	ADDQ(Imm(uint64(4*run)), from)
	ADDQ(pitch, to)
	DECQ(runs)
	JNZ(LabelRef("run"))
	VZEROUPPER()
	RET()
}

// PackEight transposes eight rows, eight columns at a time.
//
//	to[k·ldt + j] = from[j·ldf + k]
func PackEight() {
	Start("packEightAVX2", "func(to *float32, from *float32, ldt int, ldf int, blocks int)",
		"packEightAVX2 transposes eight rows that are ldf apart to blocks of eight rows that are ldt apart.")
	to, from := Load(Param("to"), GP64()), Load(Param("from"), GP64())
	ldt, ldf := Load(Param("ldt"), GP64()), Load(Param("ldf"), GP64())
	blocks := Load(Param("blocks"), GP64())
	SHLQ(Imm(2), ldt)
	SHLQ(Imm(2), ldf)
	Label("block")
	f, lower := GP64(), GP64()
	MOVQ(from, f)
	LEAQ(Mem{Base: from, Index: ldf, Scale: 4}, lower)
	// Load eight rows of eight columns.
	var rows [8]reg.VecVirtual // of four: columns 0…3 and 4…7, row i in the low half, i+4 in the high
	for i := range 4 {
		for half := range 2 {
			v := YMM()
			VMOVUPS(Mem{Base: f, Disp: 16 * half}, v.AsX())
			VINSERTF128(Imm(1), Mem{Base: lower, Disp: 16 * half}, v, v)
			rows[i+4*half] = v
		}
		ADDQ(ldf, f)
		ADDQ(ldf, lower)
	}
	// Transpose the quarters, and store eight rows.
	for half := range 2 {
		for _, v := range turnFour(rows[4*half : 4*half+4]) {
			VMOVUPS(v, Mem{Base: to})
			ADDQ(ldt, to)
		}
	}
	ADDQ(Imm(4*Lanes), from)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// turnFour transposes the 4×4 in both halves of four registers.
func turnFour(r []reg.VecVirtual) [4]reg.VecVirtual {
	var mixed, out [4]reg.VecVirtual
	for i := range 2 {
		mixed[i], mixed[2+i] = YMM(), YMM()
		VUNPCKLPS(r[2*i+1], r[2*i], mixed[i])
		VUNPCKHPS(r[2*i+1], r[2*i], mixed[2+i])
	}
	for i := range 4 {
		out[i] = YMM()
		VSHUFPS(Imm(uint64([]int{0x44, 0xee}[i%2])), mixed[i/2*2+1], mixed[i/2*2], out[i])
	}
	return out
}
