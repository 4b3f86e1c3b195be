package attend

import (
	"fmt"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// DotPairs writes the kernels of DotPair: of some heads of one register each,
// which is cut where a head ends before it.
func DotPairs() {
	for _, cut := range []bool{false, true} {
		for _, n := range []int{8, 1} {
			newPairBlock("dotPairs", "DotPair.Pairs", pairShape{n, cut}, "x, a, b, l, r").pairs()
		}
	}
	for _, s := range []pairShape{{2, false}, {1, false}, {1, true}} {
		newPairBlock("dotPairGrads", "DotPair.Grad", s, "x, dx, a, b, da, db, l, r").grads()
	}
}

// pairShape is how many heads a kernel has, and whether they are cut.
type pairShape struct {
	heads int
	cut   bool
}

// pairBlock is a kernel on rows of all heads, width elements each.
type pairBlock struct {
	block
	width, count, across reg.GPVirtual // elements of a head; heads of a row, in bytes of numbers; a row, in bytes
	rows                 reg.GPVirtual
}

func newPairBlock(name, doc string, s pairShape, pointers string) *pairBlock {
	name = fmt.Sprintf("%s%d", name, s.heads)
	last := "."
	if s.cut {
		name, last = name+"cut", ", fewer than eight elements wide."
	}
	Start(name, "func("+pointers+" *float32, rows, heads, width int)", fmt.Sprintf("%s is %s of rows > 0 rows of %d of the heads%s", name, doc, s.heads, last))
	e := &pairBlock{block: block{nh: s.heads, nv: 1, cut: s.cut}, rows: Arg("rows"), count: Arg("heads"), width: Arg("width")}
	// Bytes of a head, of a row, and of a row of numbers.
	e.size, e.across = GP64(), GP64()
	if s.cut {
		e.mask = MaskOf(e.width)
	}
	MOVQ(e.width, e.size)
	SHLQ(Imm(2), e.size)
	MOVQ(e.size, e.across)
	IMULQ(e.count, e.across)
	SHLQ(Imm(2), e.count)
	if s.heads > 2 {
		e.three = GP64()
		LEAQ(Mem{Base: e.size, Index: e.size, Scale: 2}, e.three)
	}
	return e
}

// each writes a loop over the rows, at all of which the pointers to rows and to
// numbers are moved on.
func (e *pairBlock) each(rows, numbers []reg.GPVirtual, body func()) {
	Label("row")
	body()
	for _, p := range rows {
		ADDQ(e.across, p)
	}
	for _, p := range numbers {
		ADDQ(e.count, p)
	}
	DECQ(e.rows)
	JNZ(LabelRef("row"))
}

// one returns where each of one head or two is.
func (e *pairBlock) one(base reg.GPVirtual) []Mem {
	return []Mem{{Base: base}, {Base: base, Disp: 4 * Lanes}}[:e.nh]
}

// put stores a head; v is lost.
func (e *pairBlock) put(v Vec, m Mem) {
	if e.cut {
		StoreFirst(v, e.width, m)
	} else {
		VMOVUPS(v, m)
	}
}

// pairs writes DotPair.Pairs. A sum is made in the order of Heads.Pairs.
//
//	L[r,h] = ⟨X[r,h,:], A[h,:]⟩    R[r,h] = ⟨X[r,h,:], B[h,:]⟩
func (e *pairBlock) pairs() {
	x, l, r := Arg("x"), Arg("l"), Arg("r")
	if e.nh == 1 {
		e.pairsOfOne(x, l, r)
		return
	}
	a, b := e.heads(Arg("a")), e.heads(Arg("b"))
	e.each([]reg.GPVirtual{x}, []reg.GPVirtual{l, r}, func() {
		at := e.heads(x)
		VMOVUPS(e.product(at, a, alone), Mem{Base: l})
		VMOVUPS(e.product(at, b, alone), Mem{Base: r})
	})
	Finish()
}

// pairsOfOne is pairs of one head: both products are added up together.
func (e *pairBlock) pairsOfOne(x, l, r reg.GPVirtual) {
	a, b := e.load(Mem{Base: Arg("a")}, 0), e.load(Mem{Base: Arg("b")}, 0)
	e.each([]reg.GPVirtual{x}, []reg.GPVirtual{l, r}, func() {
		v := e.load(Mem{Base: x}, 0)
		// Multiply, and add the upper half to the lower.
		half := func(y Vec) reg.VecVirtual {
			p, high := YMM(), XMM()
			VMULPS(y, v, p)
			VEXTRACTF128(Imm(1), p, high)
			VADDPS(high, p.AsX(), high)
			return high
		}
		// Horizontal sums of both at once.
		sum, other := half(a), half(b)
		VHADDPS(other, sum, sum)
		VHADDPS(sum, sum, sum)
		VMOVSS(sum, Mem{Base: l})
		VEXTRACTPS(Imm(1), sum, Mem{Base: r})
	})
	Finish()
}

// grads writes DotPair.Grad.
//
//	DX[r,h,:] += L[r,h]·A[h,:] + R[r,h]·B[h,:]    DA[h,:] += L·X    DB[h,:] += R·X
func (e *pairBlock) grads() {
	x, dx, l, r := Arg("x"), Arg("dx"), Arg("l"), Arg("r")
	rows := func(name string) (vs []Vec) {
		for _, m := range e.one(Arg(name)) {
			vs = append(vs, e.load(m, 0))
		}
		return vs
	}
	// The rows A and B and their gradients stay in registers.
	a, b, da, db := rows("a"), rows("b"), rows("da"), rows("db")
	e.each([]reg.GPVirtual{x, dx}, []reg.GPVirtual{l, r}, func() {
		from, to := e.one(x), e.one(dx)
		for h := range e.nh {
			// The two numbers of the head, in all lanes.
			left, right := YMM(), YMM()
			VBROADCASTSS(Mem{Base: l, Disp: 4 * h}, left)
			VBROADCASTSS(Mem{Base: r, Disp: 4 * h}, right)
			// Four multiply-adds: two to the row, one to each of the shared rows.
			v, dv := e.load(from[h], 0), e.load(to[h], 0)
			VFMADD231PS(right, b[h], dv)
			VFMADD231PS(left, a[h], dv)
			VFMADD231PS(left, v, da[h])
			VFMADD231PS(right, v, db[h])
			e.put(dv, to[h])
		}
	})
	// Store the gradients of the shared rows.
	for h, m := range e.one(Arg("da")) {
		e.put(da[h], m)
	}
	for h, m := range e.one(Arg("db")) {
		e.put(db[h], m)
	}
	Finish()
}
