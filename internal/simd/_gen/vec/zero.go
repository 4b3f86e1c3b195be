package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// zeroGroup is how many registers are compared before there is a branch.
func zeroGroup() int { return ConstantOf("zeroGroup") / Lanes }

// AnyZero writes HasZero of whole groups of registers.
func AnyZero() {
	Start("hasZeroAVX2", "func(x *float32, groups int) bool", "hasZeroAVX2 is HasZero of groups > 0 groups of 32 elements.")
	x, groups := Load(Param("x"), GP64()), Load(Param("groups"), GP64())
	zero, found := YMM(), GP32()
	VXORPS(zero, zero, zero)
	Label("again")
	// Compare a group of registers with zero, and branch once.
	var any Vec
	for i := range zeroGroup() {
		is := Compare(Equal, zero, Mem{Base: x, Disp: 32 * i})
		if i == 0 {
			any = is
		} else {
			VORPS(is, any, any)
		}
	}
	VMOVMSKPS(any, found)
	TESTL(found, found)
	JNZ(LabelRef("over"))
	// On to the next group.
	ADDQ(Imm(uint64(32*zeroGroup())), x)
	DECQ(groups)
	JNZ(LabelRef("again"))
	Label("over")
	yes := GP8()
	TESTL(found, found)
	SETNE(yes)
	Store(yes, ReturnIndex(0))
	Finish()
}
