package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Dropout writes Dropout.Add and Set of some rows.
//
//	dst[i] += src[i]·scale where Keep    or is set to that, and else to 0
func Dropout() {
	hashes := columnHashes()
	k := dropKernel{params: "dst, src", unroll: 4, rows: []string{"dst", "src"}}
	k.name, k.comment = "dropoutAddAVX2", "dropoutAddAVX2 is Dropout.Add of rows."
	dropRows(k, hashes, func(l *Loop, drops, scale Vec) Vec {
		return MulAdd(AndNot(drops, l.Operand("src")), scale, l.Operand("dst"))
	})
	k.name, k.comment = "dropoutSetAVX2", "dropoutSetAVX2 is Dropout.Set of rows."
	dropRows(k, hashes, func(l *Loop, drops, scale Vec) Vec {
		return Mul(AndNot(drops, l.Operand("src")), scale)
	})
}

// columnHashes is what the first columns add to the key of their row.
func columnHashes() Mem {
	return Pattern("columns", func(i int) uint32 { return uint32(i) * Golden })
}

// dropKernel is a kernel on rows of which elements are dropped.
type dropKernel struct {
	name, comment string
	params        string // its first ones, pointers
	rows, fixed   []string
	unroll        int
}

// dropRows writes a kernel that stores result, of what is dropped and by what the
// rest is scaled. The hash of a column starts at the row's key + column·golden;
// first is added to the key, and d is the mask.
func dropRows(k dropKernel, columns Mem, result func(l *Loop, drops, scale Vec) Vec) {
	Start(k.name, "func("+k.params+" *float32, n, rows int, row, first uint32, d *Dropout, scale float32)", k.comment)
	l := NewLoop(k.unroll, append(k.fixed, k.rows...)...)
	width, rows := GP64(), Load(Param("rows"), GP64())
	MOVQ(l.N, width)
	row, first := Load(Param("row"), GP32()).(reg.GPVirtual), Load(Param("first"), GP32())
	d := ArgsIn(Arg("d"), "Dropout")
	scale, count := Broadcast("scale"), YMM()
	bar := NewThreshold(d.Field("Below"))

	Label("row")
	// The hash of the row, and what the columns of the first register add to it.
	key := rowKey(row, d)
	ADDL(first, key)
	x := XMM()
	VMOVD(key, x)
	VPBROADCASTD(x, count)
	VPADDD(columns, count, count)
	l.Each(func(times int) {
		Interleave(times, func(u int) { l.U = u }, func() {
			// The hashes of this register's columns.
			at := YMM()
			VPADDD(Wide(uint32(l.U*Lanes*Golden&0xffffffff)), count, at)
			l.Store(result(l, bar.Drops(at), scale), "dst")
		})
		VPADDD(Wide(uint32(times*Lanes*Golden&0xffffffff)), count, count)
	})
	// On to the next row.
	for _, p := range k.rows {
		at := l.Ptr[p].(reg.GPVirtual)
		LEAQ(Mem{Base: at, Index: width, Scale: 4}, at)
	}
	MOVQ(width, l.N)
	XORQ(l.I, l.I)
	INCL(row)
	DECQ(rows)
	JNZ(LabelRef("row"))
	l.Finish()
}

// rowKey is Dropout.Row of d.
func rowKey(row reg.Register, d Args) reg.GPVirtual {
	k, t := GP32(), GP32()
	fold := func(by uint64) {
		MOVL(k, t)
		SHRL(Imm(by), t)
		XORL(t, k)
	}
	MOVL(row, k)
	ADDL(d.Field("K0"), k)
	fold(16)
	IMUL3L(U32(Factor1), k, k)
	fold(15)
	IMUL3L(U32(Factor2), k, k)
	fold(16)
	XORL(d.Field("K1"), k)
	return k
}
