package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// KeepColumn writes Dropout.Column: the hashes of successive rows in one column.
func KeepColumn() {
	Start("keepColumnAVX2", "func(dst *float32, n int, row, col uint32, d *Dropout, scale float32)", "keepColumnAVX2 is Dropout.Column of whole eights.")
	dst, n, d := Arg("dst"), Arg("n"), ArgsIn(Arg("d"), "Dropout")
	scale, bar := Broadcast("scale"), NewThreshold(d.Field("Below"))
	inAll := func(at Op) Vec {
		g, x, v := GP32(), XMM(), YMM()
		MOVL(at, g)
		VMOVD(g, x)
		VPBROADCASTD(x, v)
		return v
	}
	col, key, count := YMM(), inAll(d.Field("K1")), inAll(d.Field("K0"))
	for _, p := range []struct {
		name string
		to   Vec
	}{{"row", count}, {"col", col}} {
		g, x, v := Load(Param(p.name), GP32()), XMM(), YMM()
		VMOVD(g, x)
		VPBROADCASTD(x, v)
		if p.name == "row" {
			VPADDD(v, count, count)
		} else {
			VMOVAPS(v, col)
		}
	}
	VPADDD(Pattern("ordinals", func(i int) uint32 { return uint32(i) }), count, count)
	one := func() {
		// Hash the row, and then the column in it.
		row := Xor(Mix(count), key)
		v := AndNot(bar.Drops(AddInt(row, col)), scale)
		VMOVUPS(v, Mem{Base: dst})
		VPADDD(Wide(Lanes), count, count)
		ADDQ(Imm(4*Lanes), dst)
	}
	again, over := Fresh("again"), Fresh("over")
	Label(again)
	SUBQ(Imm(Lanes), n)
	JL(LabelRef(over))
	one()
	JMP(LabelRef(again))
	Label(over)
	Finish()
}
