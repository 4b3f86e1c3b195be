package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The numbers of dropout.go.
const (
	golden  = 0x9e3779b9
	factor1 = 0x7feb352d
	factor2 = 0x846ca68b
)

// dropout writes simd.Dropout.Add and Set of some rows.
func dropout() {
	hashes := columnHashes()
	k := dropKernel{params: "dst, src", unroll: 4, rows: []string{"dst", "src"}}
	k.name, k.comment = "dropoutAddAVX2", "dropoutAddAVX2 is Dropout.Add of rows."
	dropRows(k, hashes, func(l *loop, drops, scale vec) vec {
		return mulAdd(andNot(drops, l.operand("src")), scale, l.operand("dst"))
	})
	k.name, k.comment = "dropoutSetAVX2", "dropoutSetAVX2 is Dropout.Set of rows."
	dropRows(k, hashes, func(l *loop, drops, scale vec) vec {
		return mul(andNot(drops, l.operand("src")), scale)
	})
}

// columnHashes is what the first columns add to the key of their row.
func columnHashes() Mem {
	return pattern("columns", func(i int) uint32 { return uint32(i) * golden })
}

// dropKernel is a kernel on rows of which elements are dropped.
type dropKernel struct {
	name, comment string
	params        string // its first ones, pointers
	rows, fixed   []string
	unroll        int
}

// dropRows writes a kernel that stores result, of what is dropped and by what the
// rest is scaled. The hash of a column starts at the row's key + column·golden;
// first is added to the key, and d is the mask.
func dropRows(k dropKernel, columns Mem, result func(l *loop, drops, scale vec) vec) {
	start(k.name, "func("+k.params+" *float32, n, rows int, row, first uint32, d *Dropout, scale float32)", k.comment)
	l := newLoop(k.unroll, append(k.fixed, k.rows...)...)
	width, rows := GP64(), Load(Param("rows"), GP64())
	MOVQ(l.n, width)
	row, first := Load(Param("row"), GP32()).(reg.GPVirtual), Load(Param("first"), GP32())
	d := argsIn(param("d"), "Dropout")
	scale, count := broadcast("scale"), YMM()
	bar := newThreshold(d.field("Below"))

	Label("row")
	key := rowKey(row, d)
	ADDL(first, key)
	x := XMM()
	VMOVD(key, x)
	VPBROADCASTD(x, count)
	VPADDD(columns, count, count)
	l.each(func(times int) {
		weave(times, func(u int) { l.u = u }, func() {
			at := YMM()
			VPADDD(wide(uint32(l.u*lanes*golden&0xffffffff)), count, at)
			l.store(result(l, bar.drops(at), scale), "dst")
		})
		VPADDD(wide(uint32(times*lanes*golden&0xffffffff)), count, count)
	})
	for _, p := range k.rows {
		at := l.ptr[p].(reg.GPVirtual)
		LEAQ(Mem{Base: at, Index: width, Scale: 4}, at)
	}
	MOVQ(width, l.n)
	XORQ(l.i, l.i)
	INCL(row)
	DECQ(rows)
	JNZ(LabelRef("row"))
	l.finish()
}

// rowKey is Dropout.Row of d.
func rowKey(row reg.Register, d args) reg.GPVirtual {
	k, t := GP32(), GP32()
	fold := func(by uint64) {
		MOVL(k, t)
		SHRL(Imm(by), t)
		XORL(t, k)
	}
	MOVL(row, k)
	ADDL(d.field("K0"), k)
	fold(16)
	IMUL3L(U32(factor1), k, k)
	fold(15)
	IMUL3L(U32(factor2), k, k)
	fold(16)
	XORL(d.field("K1"), k)
	return k
}

// threshold compares hashes with drop. The last fold of a hash, h = m ^ m>>16,
// leaves the upper half as it is, and the lower half matters only where the upper
// is that of drop: so drop's upper half may be folded in instead of m's, and it
// is the same for all. The sign bit is flipped too, since the comparison takes
// signed numbers.
type threshold struct{ flip, drop vec }

func newThreshold(at Mem) threshold {
	drop, flip := GP32(), GP32()
	MOVL(at, drop)
	MOVL(drop, flip)
	SHRL(Imm(16), flip)
	XORL(U32(1<<31), flip)
	XORL(U32(1<<31), drop)
	return threshold{flip: inAll(flip), drop: inAll(drop)}
}

// inAll returns g in all lanes.
func inAll(g reg.GPVirtual) vec {
	x, v := XMM(), YMM()
	VMOVD(g, x)
	VPBROADCASTD(x, v)
	return v
}

// drops is all ones where the hash of count is below drop.
func (t threshold) drops(count vec) vec {
	v := YMM()
	VPCMPGTD(xor(t.flip, stirred(count)), t.drop, v)
	return made(v)
}

// mix is simd's hash of 32 bits.
func mix(x vec) vec { return fold(stirred(x), 16) }

// stirred is mix without its last fold.
func stirred(x vec) vec {
	h := mulInt(fold(x, 16), factor1)
	return mulInt(fold(h, 15), factor2)
}

// fold is x with its upper bits folded in.
func fold(x vec, by uint64) vec { return xor(right(x, by), x) }

func mulInt(x vec, by uint32) vec { v := YMM(); VPMULLD(operand(wide(by)), x, v); return made(v) }
