package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of simd.Product are; a test compares them.
const (
	atA, atB, atC = 0, 24, 48
	atRS, atCS    = 72, 80
	atLDB, atLDC  = 88, 96
	atM, atN, atK = 104, 112, 120
)

// panel is a kernel for all rows of a product and one panel of its columns,
// nv registers wide. Tiles of rows are as tall as the registers allow.
type panel struct {
	nv     int
	rows   int  // of the tallest tile
	masked bool // the last register is cut at the product's last column

	p, m, a, c, rs reg.GPVirtual
	left           reg.GPVirtual // columns in the last register
	mask           reg.VecVirtual
}

func gemm() {
	for _, t := range []struct {
		name string
		panel
	}{
		{"gemm16", panel{nv: 2, rows: 6}},
		{"gemm16cut", panel{nv: 2, rows: 6, masked: true}},
		{"gemm8cut", panel{nv: 1, rows: 8, masked: true}},
	} {
		TEXT(t.name, NOSPLIT, "func(p *byte, j int)")
		Doc(fmt.Sprintf("%s is Product.MulAdd of %d columns from j.", t.name, t.nv*lanes))
		Pragma("noescape")
		t.panel.generate()
	}
}

func (g *panel) generate() {
	g.p = Load(Param("p"), GP64()).(reg.GPVirtual)
	j := Load(Param("j"), GP64()).(reg.GPVirtual)
	g.m, g.a, g.c, g.rs = GP64(), GP64(), GP64(), GP64()
	b0 := GP64()
	MOVQ(g.field(atM), g.m)
	MOVQ(g.field(atA), g.a)
	MOVQ(g.field(atC), g.c)
	MOVQ(g.field(atB), b0)
	MOVQ(g.field(atRS), g.rs)
	SHLQ(Imm(2), g.rs)
	LEAQ(Mem{Base: g.c, Index: j, Scale: 4}, g.c)
	LEAQ(Mem{Base: b0, Index: j, Scale: 4}, b0)
	if g.masked {
		g.left = GP64()
		MOVQ(g.field(atN), g.left)
		SUBQ(j, g.left)
		SUBQ(Imm(uint64((g.nv-1)*lanes)), g.left)
		g.mask = maskOf(g.left)
	}
	Label("rows")
	for r := 1; r < g.rows; r++ {
		CMPQ(g.m, Imm(uint64(r)))
		JE(LabelRef(fmt.Sprintf("tile%d", r)))
	}
	TESTQ(g.m, g.m)
	JZ(LabelRef("done"))
	for r := g.rows; r > 0; r-- {
		Label(fmt.Sprintf("tile%d", r))
		g.tile(r, b0)
		if r == g.rows {
			SUBQ(Imm(uint64(r)), g.m)
			JMP(LabelRef("rows"))
		} else if r > 1 {
			JMP(LabelRef("done"))
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}

func (g *panel) field(at int) Mem { return Mem{Base: g.p, Disp: at} }

// stride returns a register with a stride in bytes.
func (g *panel) stride(at int) reg.GPVirtual {
	s := GP64()
	MOVQ(g.field(at), s)
	SHLQ(Imm(2), s)
	return s
}

// tile takes r rows through the whole of k, in the order of k, and goes on to
// the rows below. Each accumulator starts at the element of C.
func (g *panel) tile(r int, b0 reg.GPVirtual) {
	acc := g.load(r)
	a := []reg.GPVirtual{GP64()}
	MOVQ(g.a, a[0])
	for i := 3; i < r; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: a[len(a)-1], Index: g.rs, Scale: 2}, next)
		ADDQ(g.rs, next)
		a = append(a, next)
	}
	cs, ldb, b, k := g.stride(atCS), g.stride(atLDB), GP64(), GP64()
	MOVQ(b0, b)
	MOVQ(g.field(atK), k)
	step := func() {
		g.multiply(acc, a, b)
		for _, p := range a {
			ADDQ(cs, p)
		}
		ADDQ(ldb, b)
	}
	four, rest, one, end := fresh("four"), fresh("rest"), fresh("one"), fresh("end")
	SUBQ(Imm(4), k)
	JL(LabelRef(rest))
	Label(four)
	for range 4 {
		step()
	}
	SUBQ(Imm(4), k)
	JGE(LabelRef(four))
	Label(rest)
	ADDQ(Imm(4), k)
	JZ(LabelRef(end))
	Label(one)
	step()
	DECQ(k)
	JNZ(LabelRef(one))
	Label(end)
	g.store(acc)
	for range r {
		ADDQ(g.rs, g.a)
	}
}

// multiply adds the products of one k.
func (g *panel) multiply(acc [][]reg.VecVirtual, a []reg.GPVirtual, b reg.GPVirtual) {
	bv := make([]reg.VecVirtual, g.nv)
	for j := range bv {
		bv[j] = YMM()
		at := Mem{Base: b, Disp: 4 * lanes * j}
		if g.masked && j == g.nv-1 {
			VMASKMOVPS(at, g.mask, bv[j])
		} else {
			VMOVUPS(at, bv[j])
		}
	}
	for i := range acc {
		at := Mem{Base: a[i/3]}
		if i%3 > 0 {
			at.Index, at.Scale = g.rs, uint8(i%3)
		}
		av := YMM()
		VBROADCASTSS(at, av)
		for j := range bv {
			VFMADD231PS(bv[j], av, acc[i][j])
		}
	}
}

func (g *panel) load(r int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, r)
	ldc, c := g.stride(atLDC), GP64()
	MOVQ(g.c, c)
	for i := range acc {
		acc[i] = make([]reg.VecVirtual, g.nv)
		for j := range acc[i] {
			acc[i][j] = YMM()
			at := Mem{Base: c, Disp: 4 * lanes * j}
			if g.masked && j == g.nv-1 {
				VMASKMOVPS(at, g.mask, acc[i][j])
			} else {
				VMOVUPS(at, acc[i][j])
			}
		}
		if i < r-1 {
			ADDQ(ldc, c)
		}
	}
	return acc
}

func (g *panel) store(acc [][]reg.VecVirtual) {
	ldc := g.stride(atLDC)
	for i := range acc {
		for j, v := range acc[i] {
			if g.masked && j == g.nv-1 {
				storeFirst(v, g.left, Mem{Base: g.c, Disp: 4 * lanes * j})
			} else {
				VMOVUPS(v, Mem{Base: g.c, Disp: 4 * lanes * j})
			}
		}
		ADDQ(ldc, g.c)
	}
}
