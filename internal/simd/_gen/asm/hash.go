package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The numbers of dropout.go.
const (
	Golden  = 0x9e3779b9
	Factor1 = 0x7feb352d
	Factor2 = 0x846ca68b
)

// threshold compares hashes with drop. The last fold of a hash, h = m ^ m>>16,
// leaves the upper half as it is, and the lower half matters only where the upper
// is that of drop: so drop's upper half may be folded in instead of m's, and it
// is the same for all. The sign bit is flipped too, since the comparison takes
// signed numbers.
type threshold struct{ flip, drop Vec }

// NewThreshold is the threshold at a place in memory.
func NewThreshold(at Mem) threshold {
	drop, flip := GP32(), GP32()
	MOVL(at, drop)
	MOVL(drop, flip)
	SHRL(Imm(16), flip)
	XORL(U32(1<<31), flip)
	XORL(U32(1<<31), drop)
	return threshold{flip: inAll(flip), drop: inAll(drop)}
}

// inAll returns g in all lanes.
func inAll(g reg.GPVirtual) Vec {
	x, v := XMM(), YMM()
	VMOVD(g, x)
	VPBROADCASTD(x, v)
	return v
}

// Drops is all ones where the hash of count is below drop.
func (t threshold) Drops(count Vec) Vec {
	v := YMM()
	VPCMPGTD(Xor(t.flip, Stirred(count)), t.drop, v)
	return Made(v)
}

// Mix is Dropout's hash of 32 bits.
func Mix(x Vec) Vec { return fold(Stirred(x), 16) }

// Stirred is mix without its last fold.
func Stirred(x Vec) Vec {
	h := MulInt(fold(x, 16), Factor1)
	return MulInt(fold(h, 15), Factor2)
}

// fold is x with its upper bits folded in.
func fold(x Vec, by uint64) Vec { return Xor(right(x, by), x) }

// MulInt is x·by of whole numbers, modulo 2³².
func MulInt(x Vec, by uint32) Vec { v := YMM(); VPMULLD(Operand(Wide(by)), x, v); return Made(v) }
