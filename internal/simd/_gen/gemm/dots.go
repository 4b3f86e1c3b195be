package gemm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Dots writes the product of rows of A with one column of B, all of them contiguous. Sixteen
// rows are the lanes of two registers, so that each element stays one chain in the order of k:
// their columns come by transposing. The rows come in fours, of which only the first has a
// place by itself, so that there may be fewer than sixteen.
func Dots() {
	a := StartOn("Product", "gemmDots", "two, three, four int",
		"gemmDots is Product.MulAdd of one column and rows in sixteens, whatever Set is. The fours of the first begin so many bytes after A.")
	g := &dots{one: a.Word("RS"), three: GP64(), sums: []reg.VecVirtual{YMM(), YMM()}}
	SHLQ(Imm(2), g.one)
	LEAQ(Mem{Base: g.one, Index: g.one, Scale: 2}, g.three)
	g.fours = []reg.Register{a.Word("A")}
	for _, name := range []string{"two", "three", "four"} {
		at := GP64()
		Load(Param(name), at)
		ADDQ(g.fours[0], at)
		g.fours = append(g.fours, at)
	}
	c, m := a.Word("C"), a.Word("M")
	rows, eight, rest, one, stored := Fresh("rows"), Fresh("eight"), Fresh("rest"), Fresh("one"), Fresh("stored")
	Label(rows)
	left := a.Word("K")
	g.x = a.Word("B")
	for i, s := range g.sums {
		VMOVUPS(Mem{Base: c, Disp: 4 * Lanes * i}, s)
	}
	SUBQ(Imm(Lanes), left)
	JL(LabelRef(rest))
	Label(eight)
	g.fourColumns(0)
	g.fourColumns(16)
	g.forward(4 * Lanes)
	SUBQ(Imm(Lanes), left)
	JGE(LabelRef(eight))
	Label(rest)
	ADDQ(Imm(Lanes), left)
	JZ(LabelRef(stored))
	Label(one)
	g.oneColumn()
	g.forward(4)
	DECQ(left)
	JNZ(LabelRef(one))
	Label(stored)
	for i, s := range g.sums {
		VMOVUPS(s, Mem{Base: c, Disp: 4 * Lanes * i})
	}
	// On to the next rows.
	ADDQ(Imm(2*4*Lanes), c)
	next := GP64()
	MOVQ(g.one, next)
	SHLQ(Imm(2), next)
	SUBQ(a.Field("K"), next)
	SHLQ(Imm(2), next)
	for _, at := range g.fours {
		ADDQ(next, at)
	}
	SUBQ(Imm(2*Lanes), m)
	JG(LabelRef(rows))
	Finish()
}

// dots is where the kernel is: at a column of four times four rows, and at an element of B.
type dots struct {
	fours      []reg.Register // the first of four rows each
	one, three reg.GPVirtual  // bytes to the next row, and to the last of the four
	x          reg.GPVirtual
	sums       []reg.VecVirtual
}

// row is the place some bytes after where a row is.
func (g *dots) row(i, disp int) Mem {
	m := Mem{Base: g.fours[i/4], Disp: disp}
	switch i % 4 {
	case 1, 2:
		m.Index, m.Scale = g.one, uint8(i%4)
	case 3:
		m.Index, m.Scale = g.three, 1
	}
	return m
}

// fourColumns adds the products of four columns, some bytes on.
func (g *dots) fourColumns(disp int) {
	var columns [2][4]reg.VecVirtual
	for s := range g.sums {
		four := make([]reg.VecVirtual, 4)
		for i := range four {
			four[i] = YMM()
			VBROADCASTF128(g.row(2*4*s+i, disp), four[i])
			VINSERTF128(Imm(1), g.row(2*4*s+4+i, disp), four[i], four[i])
		}
		columns[s] = turnFour(four)
	}
	for i := range columns[0] {
		by := YMM()
		VBROADCASTSS(Mem{Base: g.x, Disp: disp + 4*i}, by)
		for s, sum := range g.sums {
			VFMADD231PS(by, columns[s][i], sum)
		}
	}
}

// oneColumn adds the products of one column.
func (g *dots) oneColumn() {
	by := YMM()
	VBROADCASTSS(Mem{Base: g.x}, by)
	for s, sum := range g.sums {
		var halves [2]reg.VecVirtual
		for h := range halves {
			v := YMM()
			VBROADCASTSS(g.row(4*(2*s+h), 0), v)
			for i := 1; i < 4; i++ {
				VINSERTPS(Imm(uint64(i<<4)), g.row(4*(2*s+h)+i, 0), v.AsX(), v.AsX())
			}
			halves[h] = v
		}
		VINSERTF128(Imm(1), halves[1].AsX(), halves[0], halves[0])
		VFMADD231PS(by, halves[0], sum)
	}
}

// forward goes so many bytes on.
func (g *dots) forward(bytes int) {
	for _, at := range append(g.fours, reg.Register(g.x)) {
		ADDQ(Imm(uint64(bytes)), at)
	}
}
