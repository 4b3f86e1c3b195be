package gemm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// group is how many rows of A lie at the row stride of each other.
const group = 6

// panel is a kernel for all rows of a product and one panel of its columns,
// nv registers wide. Tiles of rows are as tall as the registers allow.
type panel struct {
	nv     int
	rows   int  // of the tallest tile
	masked bool // the last register is cut at the product's last column
	ahead  bool // it prefetches

	m, a, c, rs reg.GPVirtual
	next        reg.GPVirtual // what is prefetched next
	mask        reg.VecVirtual
}

// Product writes the kernels of Product.MulAdd:
//
//	C[i·LDC + j] += Σ_k A[i/6·Tile + i%6·RS + k·CS]·B[k·LDB + j]
func Product() {
	for _, t := range []struct {
		name string
		panel
	}{
		{"gemm16", panel{nv: 2, rows: 6, ahead: true}},
		{"gemm16cut", panel{nv: 2, rows: 6, ahead: true, masked: true}},
		{"gemm8cut", panel{nv: 1, rows: 12, masked: true}},
	} {
		t.panel.generate(t.name)
	}
}

// generate writes the kernel of a name.
func (g *panel) generate(name string) {
	Start(name, "func(p *Product, j int)", fmt.Sprintf("%s is Product.MulAdd of %d columns from j.", name, g.nv*Lanes))
	j := Arg("j")
	g.m, g.a, g.c, g.rs = GP64(), GP64(), GP64(), GP64()
	b0 := GP64()
	p := ArgsIn(Arg("p"), "Product")
	MOVQ(p.Field("M"), g.m)
	MOVQ(p.Field("A"), g.a)
	MOVQ(p.Field("C"), g.c)
	MOVQ(p.Field("B"), b0)
	// Where the next panel or the next rows are, to be asked for.
	if g.ahead {
		g.next = GP64()
		MOVQ(p.Field("Ahead"), g.next)
		ADDQ(g.a, g.next)
	}
	MOVQ(p.Field("RS"), g.rs)
	SHLQ(Imm(2), g.rs)
	// The panel's columns of B and C.
	LEAQ(Mem{Base: g.c, Index: j, Scale: 4}, g.c)
	LEAQ(Mem{Base: b0, Index: j, Scale: 4}, b0)
	if g.masked {
		g.mask = MaskOf(g.left())
	}
	// All rows in tiles of the most, and the rest in a tile of what is left.
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
	if g.ahead {
		SUBQ(g.field("A"), g.next)
		MOVQ(g.next, g.field("Ahead"))
	}
	VZEROUPPER()
	RET()
}

// left returns a register with the columns in the last register.
func (g *panel) left() reg.GPVirtual {
	n, j := GP64(), Load(Param("j"), GP64())
	MOVQ(g.field("N"), n)
	SUBQ(j, n)
	SUBQ(Imm(uint64((g.nv-1)*Lanes)), n)
	return n
}

// field is a field of the Product.
func (g *panel) field(at string) Mem { return ArgsIn(Arg("p"), "Product").Field(at) }

// bytes returns a register with a field of so many elements, in bytes.
func (g *panel) bytes(at string) reg.GPVirtual {
	s := GP64()
	MOVQ(g.field(at), s)
	SHLQ(Imm(2), s)
	return s
}

// pointers returns registers with every third row of A, of r rows.
func (g *panel) pointers(r int) []reg.GPVirtual {
	a := []reg.GPVirtual{GP64()}
	MOVQ(g.a, a[0])
	for i := 3; i < r; i += 3 {
		next := GP64()
		if i%group == 0 {
			LEAQ(Mem{Base: a[len(a)-2], Index: g.bytes("Tile"), Scale: 1}, next)
		} else {
			LEAQ(Mem{Base: a[len(a)-1], Index: g.rs, Scale: 2}, next)
			ADDQ(g.rs, next)
		}
		a = append(a, next)
	}
	return a
}

// tile takes r rows through the whole of k, in the order of k, and goes on to
// the rows below. Each accumulator starts at the element of C, or at 0.
func (g *panel) tile(r int, b0 reg.GPVirtual) {
	t := g.load(r)
	a := g.pointers(r)
	cs, ldb, b, k := g.bytes("CS"), g.bytes("LDB"), GP64(), GP64()
	MOVQ(b0, b)
	MOVQ(g.field("K"), k)
	throughK(k, func() {
		if g.ahead {
			PREFETCHT0(Mem{Base: g.next})
			ADDQ(g.field("AheadStep"), g.next)
		}
	}, func() {
		// The row of B, and its products with the column of A.
		row := make([]Op, g.nv)
		for j := range row {
			v := YMM()
			t.get(b, j, v)
			row[j] = v
		}
		t.multiply(a, row)
		// On to the next k.
		for _, p := range a {
			ADDQ(cs, p)
		}
		ADDQ(ldb, b)
	})
	g.store(t)
	for range r / group {
		ADDQ(g.bytes("Tile"), g.a)
	}
}

// load returns the tile of r rows, and prefetches the rows of C of the next.
func (g *panel) load(r int) *tile {
	t := &tile{mask: g.mask, rs: g.rs}
	t.registers(r, g.nv)
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.c, c)
	t.load(c, ldc, func() Mem { return g.field("Set") })
	if r == g.rows {
		for range r {
			PREFETCHT0(Mem{Base: c})
			ADDQ(ldc, c)
		}
	}
	return t
}

// store sets C, and goes on to the rows below.
func (g *panel) store(t *tile) {
	ldc := g.bytes("LDC")
	var left reg.GPVirtual
	if g.masked {
		left = g.left()
	}
	for _, row := range t.acc {
		for j, v := range row {
			if t.cut(j) {
				StoreFirst(v, left, t.column(g.c, j))
			} else {
				VMOVUPS(v, t.column(g.c, j))
			}
		}
		ADDQ(ldc, g.c)
	}
}
