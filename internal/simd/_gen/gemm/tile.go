package gemm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is a block of C in registers, of eight lanes or, if wide, of sixteen:
//
//	C[i,j] += Σ_k A[i,k]·B[k,j]
type tile struct {
	wide bool
	acc  [][]reg.VecVirtual // by row and register
	mask reg.VecVirtual     // where the last register of a row is cut; nil: nowhere
	rs   reg.GPVirtual      // bytes from a row of A to the next of its three
}

// registers makes the tile's, of some rows.
func (t *tile) registers(rows, columns int) {
	t.acc = make([][]reg.VecVirtual, rows)
	for i := range t.acc {
		for range columns {
			t.acc[i] = append(t.acc[i], t.register())
		}
	}
}

func (t *tile) register() reg.VecVirtual {
	if t.wide {
		return ZMM()
	}
	return YMM()
}

// column is the j-th register of a row at base.
func (t *tile) column(base reg.Register, j int) Mem {
	if t.wide {
		return Quad(base, j)
	}
	return Mem{Base: base, Disp: 4 * Lanes * j}
}

// cut reports whether register j of a row is.
func (t *tile) cut(j int) bool { return t.mask != nil && j == len(t.acc[0])-1 }

// get loads register j of a row at base into v.
func (t *tile) get(base reg.Register, j int, v reg.VecVirtual) {
	if t.cut(j) {
		VMASKMOVPS(t.column(base, j), t.mask, v)
	} else {
		VMOVUPS(t.column(base, j), v)
	}
}

// load sets the tile to the elements of C from c on or, where the byte that set finds is
// not 0, to 0. c is left at the row below.
func (t *tile) load(c, ldc reg.GPVirtual, set func() Mem) {
	zero, loaded := Fresh("zero"), Fresh("loaded")
	CMPB(set(), Imm(0))
	JNE(LabelRef(zero))
	for _, row := range t.acc {
		for j, v := range row {
			t.get(c, j, v)
		}
		ADDQ(ldc, c)
	}
	JMP(LabelRef(loaded))
	Label(zero)
	for _, row := range t.acc {
		for _, v := range row {
			if t.wide {
				VPXORD(v, v, v)
			} else {
				VXORPS(v, v, v)
			}
		}
		ADDQ(ldc, c)
	}
	Label(loaded)
}

// multiply adds the products of one k: each row's element of A, of which a has every third
// row, with those of B, registers or places.
func (t *tile) multiply(a []reg.GPVirtual, b []Op) {
	for i, row := range t.acc {
		at := Mem{Base: a[i/3]}
		if i%3 > 0 {
			at.Index, at.Scale = t.rs, uint8(i%3)
		}
		av := t.register()
		VBROADCASTSS(at, av)
		for j, v := range row {
			VFMADD231PS(b[j], av, v)
		}
	}
}

// throughK writes the loop over k, four steps at a time and then one by one; prefetch goes
// before each four.
func throughK(k reg.GPVirtual, prefetch, step func()) {
	four, rest, one, end := Fresh("four"), Fresh("rest"), Fresh("one"), Fresh("end")
	SUBQ(Imm(4), k)
	JL(LabelRef(rest))
	Label(four)
	prefetch()
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
}
