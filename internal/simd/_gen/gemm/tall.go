package gemm

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const tall = 12 // rows of a tile that fills the registers with two panels

// wideTile is a tile of the kernels for AVX-512: of some rows and some panels of B, which
// are a register each.
type wideTile struct {
	Args
	tile
	panels int
	next   reg.GPVirtual // what is prefetched next; nil: nothing
	beside reg.GPVirtual // bytes from there to what is prefetched with it, every other time
}

// Tall512 writes the products of twelve rows at a time, with two panels of B or one. The
// rows go on in the Product itself, a copy.
func Tall512() {
	for _, t := range []struct {
		name   string
		panels int
	}{
		{"gemm512", 2},
		{"gemmOne512", 1},
	} {
		a := StartOn("Product", t.name, "", fmt.Sprintf("%s is Product.Panels of %d columns and rows in twelves.", t.name, 16*t.panels))
		newWideTile(a, tall, t.panels).twelves()
	}
}

// twelves writes the kernel of Tall512.
func (g *wideTile) twelves() {
	g.next, g.beside = GP64(), GP64()
	MOVQ(g.Field("Ahead"), g.next)
	ADDQ(g.Field("A"), g.next)
	MOVQ(g.Field("beside"), g.beside)
	again := Fresh("rows")
	Label(again)
	g.start()
	g.takeK()
	MOVQ(g.store(), g.Field("C"))
	tile := g.bytes("Tile")
	LEAQ(Mem{Base: tile, Index: tile, Scale: 1}, tile)
	ADDQ(tile, g.Field("A"))
	SUBQ(Imm(tall), g.Field("M"))
	JNZ(LabelRef(again))
	SUBQ(g.Field("A"), g.next)
	MOVQ(g.next, g.Field("Ahead"))
	Finish()
}

// Few512 writes the products of fewer rows. The fewer there are, the more panels it takes
// to keep the units of multiply-adds busy.
func Few512() {
	for _, t := range []struct {
		name         string
		panels, most int
	}{
		{"gemmFew512", 2, tall - 1},
		{"gemmFewOne512", 1, tall - 1},
		{"gemmLine512", 8, 3},
	} {
		a := StartOn("Product", t.name, "", fmt.Sprintf("%s is Product.Panels of %d columns and up to %d rows.", t.name, 16*t.panels, t.most))
		m, end := a.Word("M"), Fresh("end")
		body := make([]string, t.most+1)
		for r := 1; r < t.most; r++ {
			body[r] = Fresh("rows")
			CMPQ(m, Imm(uint64(r)))
			JE(LabelRef(body[r]))
		}
		for r := t.most; r > 0; r-- {
			if r < t.most {
				Label(body[r])
			}
			g := newWideTile(a, r, t.panels)
			g.start()
			g.takeK()
			g.store()
			if r > 1 {
				JMP(LabelRef(end))
			}
		}
		Label(end)
		Finish()
	}
}

func newWideTile(a Args, rows, panels int) *wideTile {
	g := &wideTile{Args: a, tile: tile{wide: true, rs: GP64()}, panels: panels}
	g.registers(rows, panels)
	MOVQ(g.Field("RS"), g.rs)
	SHLQ(Imm(2), g.rs)
	return g
}

// bytes returns a register with a field of so many elements, in bytes.
func (g *wideTile) bytes(at string) reg.GPVirtual {
	s := GP64()
	MOVQ(g.Field(at), s)
	SHLQ(Imm(2), s)
	return s
}

// start sets the tile to the elements of C or to 0, and prefetches those of the next.
func (g *wideTile) start() {
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	g.load(c, ldc, func() Mem { return g.Field("Set") })
	if g.next == nil {
		return
	}
	for range g.acc {
		for j := range g.panels {
			PREFETCHT0(g.column(c, j))
		}
		ADDQ(ldc, c)
	}
}

// takeK takes the tile through the whole of k, in the order of k.
func (g *wideTile) takeK() {
	// Every third row of A; after six a group of their own begins.
	a := []reg.GPVirtual{GP64()}
	MOVQ(g.Field("A"), a[0])
	for i := 3; i < len(g.acc); i += 3 {
		next := GP64()
		if i%group == 0 {
			LEAQ(Mem{Base: a[len(a)-2], Index: g.bytes("Tile"), Scale: 1}, next)
		} else {
			LEAQ(Mem{Base: a[len(a)-1], Index: g.rs, Scale: 2}, next)
			ADDQ(g.rs, next)
		}
		a = append(a, next)
	}
	// And every third panel of B.
	panel, cs, ldb, k := g.bytes("panel"), g.bytes("CS"), g.bytes("LDB"), GP64()
	b := []reg.GPVirtual{GP64()}
	MOVQ(g.Field("B"), b[0])
	for j := 3; j < g.panels; j += 3 {
		next := GP64()
		LEAQ(Mem{Base: b[len(b)-1], Index: panel, Scale: 2}, next)
		ADDQ(panel, next)
		b = append(b, next)
	}
	MOVQ(g.Field("K"), k)
	throughK(k, func() {
		if g.next == nil {
			return
		}
		for i := range tall / group * g.panels { // as often as the kernels of six rows and one panel
			at := Mem{Base: g.next}
			if i%2 > 0 {
				at.Index, at.Scale = g.beside, 1
			}
			PREFETCHT0(at)
			ADDQ(g.Field("AheadStep"), g.next)
		}
	}, func() {
		// The rows of the panels of B, and their products with the column of A.
		row := make([]Op, g.panels)
		for j := range row {
			at := Mem{Base: b[j/3]}
			if j%3 > 0 {
				at.Index, at.Scale = panel, uint8(j%3)
			}
			if row[j] = at; g.panels <= 2 {
				row[j] = GetZ(at)
			}
		}
		g.multiply(a, row)
		// On to the next k.
		for _, p := range a {
			ADDQ(cs, p)
		}
		for _, p := range b {
			ADDQ(ldb, p)
		}
	})
}

// store sets C, and returns where the rows below it are.
func (g *wideTile) store() reg.GPVirtual {
	ldc, c := g.bytes("LDC"), GP64()
	MOVQ(g.Field("C"), c)
	for _, row := range g.acc {
		for j, v := range row {
			VMOVUPS(v, g.column(c, j))
		}
		ADDQ(ldc, c)
	}
	return c
}
