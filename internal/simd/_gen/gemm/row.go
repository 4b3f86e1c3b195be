package gemm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowsOfB is how many rows of B the kernel of one row of A reads side by side.
const rowsOfB = 8

// Row writes the product of one row of A. B is read once and as it lies, some rows side by
// side from the first column to the last; what C has so far stays in the first cache.
func Row() {
	a := StartOn("Product", "gemmRow", "", "gemmRow is Product.MulAdd of one row and columns in sixteens, whatever Set is.")
	g := &oneRow{a: GP64(), b: GP64(), cs: GP64(), ldb: GP64(), k: GP64(), args: a}
	MOVQ(a.Field("A"), g.a)
	MOVQ(a.Field("B"), g.b)
	MOVQ(a.Field("CS"), g.cs)
	SHLQ(Imm(2), g.cs)
	MOVQ(a.Field("LDB"), g.ldb)
	SHLQ(Imm(2), g.ldb)
	MOVQ(a.Field("K"), g.k)
	many, rest, one, end := Fresh("many"), Fresh("rest"), Fresh("one"), Fresh("end")
	SUBQ(Imm(rowsOfB), g.k)
	JL(LabelRef(rest))
	Label(many)
	g.rows(rowsOfB)
	SUBQ(Imm(rowsOfB), g.k)
	JGE(LabelRef(many))
	Label(rest)
	ADDQ(Imm(rowsOfB), g.k)
	JZ(LabelRef(end))
	Label(one)
	g.rows(1)
	DECQ(g.k)
	JNZ(LabelRef(one))
	Label(end)
	Finish()
}

// oneRow is where the kernel is: at an element of A and a row of B.
type oneRow struct {
	args             Args
	a, b, cs, ldb, k reg.GPVirtual
}

// rows adds n rows of B, in their order, to C.
func (g *oneRow) rows(n int) {
	by := make([]reg.VecVirtual, n)
	for i := range by {
		by[i] = YMM()
		VBROADCASTSS(Mem{Base: g.a}, by[i])
		ADDQ(g.cs, g.a)
	}
	at := []reg.GPVirtual{GP64()} // every third row of B
	MOVQ(g.b, at[0])
	for i := 3; i < n; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: at[len(at)-1], Index: g.ldb, Scale: 2}, next)
		ADDQ(g.ldb, next)
		at = append(at, next)
	}
	c, left, again := GP64(), GP64(), Fresh("columns")
	MOVQ(g.args.Field("C"), c)
	MOVQ(g.args.Field("N"), left)
	Label(again)
	sums := []reg.VecVirtual{YMM(), YMM()}
	for j, s := range sums {
		VMOVUPS(Mem{Base: c, Disp: 4 * Lanes * j}, s)
	}
	for i, v := range by {
		row := Mem{Base: at[i/3]}
		if i%3 > 0 {
			row.Index, row.Scale = g.ldb, uint8(i%3)
		}
		for j, s := range sums {
			row.Disp = 4 * Lanes * j
			VFMADD231PS(row, v, s)
		}
	}
	for j, s := range sums {
		VMOVUPS(s, Mem{Base: c, Disp: 4 * Lanes * j})
	}
	for _, p := range append(at, c) {
		ADDQ(Imm(uint64(4*Lanes*len(sums))), p)
	}
	SUBQ(Imm(uint64(Lanes*len(sums))), left)
	JNZ(LabelRef(again))
	LEAQ(Mem{Base: g.b, Index: g.ldb, Scale: uint8(n)}, g.b)
}
