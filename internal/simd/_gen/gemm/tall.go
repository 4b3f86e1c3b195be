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

// tallTile is the kernel of products for AVX-512.
type tallTile struct {
	Args
	tile
	next reg.GPVirtual // what is prefetched next
}

// Tall512 writes the product of twelve rows at a time and two panels of B. The rows go
// on in the Product itself, a copy.
func Tall512() {
	a := StartOn("Product", "gemm512", "", "gemm512 is Product.Panels of 32 columns and rows in twelves.")
	g := &tallTile{Args: a, tile: tile{wide: true, rs: GP64()}, next: GP64()}
	g.registers(tall, wideOf)
	MOVQ(g.Field("Ahead"), g.next)
	ADDQ(g.Field("A"), g.next)
	MOVQ(g.Field("RS"), g.rs)
	SHLQ(Imm(2), g.rs)
	again := Fresh("rows")
	Label(again)
	g.start()
	g.takeK()
	g.store()
	SUBQ(Imm(tall), g.Field("M"))
	JNZ(LabelRef(again))
	SUBQ(g.Field("A"), g.next)
	MOVQ(g.next, g.Field("Ahead"))
	Finish()
}

// bytes returns a register with a field of so many elements, in bytes.
func (g *tallTile) bytes(at string) reg.GPVirtual {
	s := GP64()
	MOVQ(g.Field(at), s)
	SHLQ(Imm(2), s)
	return s
}

// start sets the tile to the elements of C or to 0, and prefetches those of the next.
func (g *tallTile) start() {
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	g.load(c, ldc, func() Mem { return g.Field("Set") })
	for range tall {
		for j := range wideOf {
			PREFETCHT0(g.column(c, j))
		}
		ADDQ(ldc, c)
	}
}

// takeK takes the tile through the whole of k, in the order of k.
func (g *tallTile) takeK() {
	// Every third row of A, the last six of which are a group of their own.
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
	throughK(k, func() {
		for range tall / group * wideOf { // as often as the kernels of six rows and one panel
			PREFETCHT0(Mem{Base: g.next})
			ADDQ(g.Field("AheadStep"), g.next)
		}
	}, func() {
		// The rows of both panels of B, and their products with the column of A.
		g.multiply(a, []reg.VecVirtual{GetZ(Mem{Base: b}), GetZ(Mem{Base: b, Index: panel, Scale: 1})})
		// On to the next k.
		for _, p := range a {
			ADDQ(cs, p)
		}
		ADDQ(Imm(64), b)
	})
}

// store sets C, and goes on to the rows below.
func (g *tallTile) store() {
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	for _, row := range g.acc {
		for j, v := range row {
			VMOVUPS(v, g.column(c, j))
		}
		ADDQ(ldc, c)
	}
	MOVQ(c, g.Field("C"))
	tile := g.bytes("Tile")
	LEAQ(Mem{Base: tile, Index: tile, Scale: 1}, tile)
	ADDQ(tile, g.Field("A"))
}
