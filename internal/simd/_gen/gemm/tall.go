package gemm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	tall   = 12 // rows of a tile
	wideOf = 2  // panels, which are a register each
)

// tall512 is the kernel of products for AVX-512.
type tall512 struct {
	Args
	rs, next reg.GPVirtual
	acc      [tall][wideOf]reg.VecVirtual
}

// Tall512 writes the product of twelve rows at a time and two panels of B. The rows go
// on in the Product itself, a copy.
func Tall512() {
	a := StartOn("Product", "gemm512", "", "gemm512 is Product.Panels of 32 columns and rows in twelves.")
	g := &tall512{Args: a, rs: GP64(), next: GP64()}
	for i := range g.acc {
		for j := range g.acc[i] {
			g.acc[i][j] = ZMM()
		}
	}
	MOVQ(g.Field("Ahead"), g.next)
	ADDQ(g.Field("A"), g.next)
	MOVQ(g.Field("RS"), g.rs)
	SHLQ(Imm(2), g.rs)
	again := Fresh("rows")
	Label(again)
	g.load()
	g.multiply()
	g.store()
	SUBQ(Imm(tall), g.Field("M"))
	JNZ(LabelRef(again))
	SUBQ(g.Field("A"), g.next)
	MOVQ(g.next, g.Field("Ahead"))
	Finish()
}

// bytes returns a register with a field of so many elements, in bytes.
func (g *tall512) bytes(at string) reg.GPVirtual {
	s := GP64()
	MOVQ(g.Field(at), s)
	SHLQ(Imm(2), s)
	return s
}

// load sets the accumulators to the elements of C or to 0, and prefetches those of the
// next tile.
func (g *tall512) load() {
	zero, loaded := Fresh("zero"), Fresh("loaded")
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	CMPB(g.Field("Set"), Imm(0))
	JNE(LabelRef(zero))
	for _, row := range g.acc {
		for j, v := range row {
			VMOVUPS(Quad(c, j), v)
		}
		ADDQ(ldc, c)
	}
	JMP(LabelRef(loaded))
	Label(zero)
	for _, row := range g.acc {
		for _, v := range row {
			VPXORD(v, v, v)
		}
		ADDQ(ldc, c)
	}
	Label(loaded)
	for range tall {
		for j := range wideOf {
			PREFETCHT0(Quad(c, j))
		}
		ADDQ(ldc, c)
	}
}

// multiply takes a tile through the whole of k, in the order of k.
func (g *tall512) multiply() {
	a := make([]reg.GPVirtual, tall/3)
	for i := range a {
		a[i] = GP64()
	}
	MOVQ(g.Field("A"), a[0])
	LEAQ(Mem{Base: a[0], Index: g.bytes("Tile"), Scale: 1}, a[2])
	for i := 0; i < len(a); i += 2 {
		LEAQ(Mem{Base: a[i], Index: g.rs, Scale: 2}, a[i+1])
		ADDQ(g.rs, a[i+1])
	}
	b, panel, cs, k := GP64(), g.bytes("panel"), g.bytes("CS"), GP64()
	MOVQ(g.Field("B"), b)
	MOVQ(g.Field("K"), k)
	step := func() {
		one, two := GetZ(Mem{Base: b}), GetZ(Mem{Base: b, Index: panel, Scale: 1})
		for i, row := range g.acc {
			at := Mem{Base: a[i/3]}
			if i%3 > 0 {
				at.Index, at.Scale = g.rs, uint8(i%3)
			}
			av := ZMM()
			VBROADCASTSS(at, av)
			VFMADD231PS(one, av, row[0])
			VFMADD231PS(two, av, row[1])
		}
		for _, p := range a {
			ADDQ(cs, p)
		}
		ADDQ(Imm(64), b)
	}
	four, rest, single, end := Fresh("four"), Fresh("rest"), Fresh("one"), Fresh("end")
	SUBQ(Imm(4), k)
	JL(LabelRef(rest))
	Label(four)
	for range tall / group * wideOf { // as often as the kernels of six rows and one panel
		PREFETCHT0(Mem{Base: g.next})
		ADDQ(g.Field("AheadStep"), g.next)
	}
	for range 4 {
		step()
	}
	SUBQ(Imm(4), k)
	JGE(LabelRef(four))
	Label(rest)
	ADDQ(Imm(4), k)
	JZ(LabelRef(end))
	Label(single)
	step()
	DECQ(k)
	JNZ(LabelRef(single))
	Label(end)
}

// store sets C, and goes on to the rows below.
func (g *tall512) store() {
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	for _, row := range g.acc {
		for j, v := range row {
			VMOVUPS(v, Quad(c, j))
		}
		ADDQ(ldc, c)
	}
	MOVQ(c, g.Field("C"))
	tile := g.bytes("Tile")
	LEAQ(Mem{Base: tile, Index: tile, Scale: 1}, tile)
	ADDQ(tile, g.Field("A"))
}
