package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Additive512 writes the kernels of Additive in registers of sixteen lanes: logits of two
// keys at once, whose columns are the halves of a register, and gradients of sixteen
// columns. They have the bits of those of eight lanes.
func Additive512() {
	newAdditive("Logits512", "K", "Q", "V", "Z").logits16()
	newAdditive("Grad512", "K", "Q", "V", "Z", "DK", "DQ", "DV").grad16()
}

// tanh16 is Tanh in registers of sixteen lanes, with its constants in others.
type tanh16 struct {
	end, start  Vec
	over, under []Vec
}

func newTanh16() *tanh16 {
	everywhere := func(x float64) Vec {
		v := ZMM()
		VBROADCASTSS(Num(x), v)
		return v
	}
	all := func(xs []float64) (vs []Vec) {
		for _, x := range xs {
			vs = append(vs, everywhere(x))
		}
		return vs
	}
	return &tanh16{everywhere(TanhEnd), everywhere(-TanhEnd), all(TanhOver), all(TanhUnder)}
}

// of is the tanh of x, which is lost.
func (t *tanh16) of(x Vec) Vec {
	z := ZMM()
	VMINPS(x, t.end, x)
	VMAXPS(x, t.start, x)
	VMULPS(x, x, z)
	over := horner16(z, t.over)
	VMULPS(x, over, over)
	VDIVPS(horner16(z, t.under), over, over)
	return over
}

func horner16(x Vec, coefficients []Vec) Vec {
	p := ZMM()
	VMOVAPS(coefficients[0], p)
	for _, c := range coefficients[1:] {
		VFMADD213PS(c, x, p)
	}
	return p
}

// lanesBelow is the mask of the first n lanes.
func lanesBelow(n reg.Register) reg.OpmaskVirtual {
	bits, mask := GP64(), K()
	MOVQ(U32(1), bits)
	MOVQ(n, reg.RCX)
	SHLQ(reg.CL, bits)
	DECQ(bits)
	KMOVW(bits.As32(), mask)
	return mask
}

// logits16 writes Additive.Logits of an even number of keys.
func (a *additive) logits16() {
	tanh := newTanh16()
	stride, whole, rest, rows := a.bytes("KStride"), a.Word("Width"), a.Word("Width"), a.Word("rows")
	ANDQ(Imm(Lanes-1), rest)
	SUBQ(rest, whole)
	mask := lanesBelow(rest)
	row, again, tail, done := Fresh("row"), Fresh("again"), Fresh("tail"), Fresh("done")
	j, acc, second := GP64(), ZMM(), GP64()
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: j, Scale: 4} }
	Label(row)
	LEAQ(Mem{Base: a.at["K"], Index: stride, Scale: 1}, second)
	XORQ(j, j)
	VPXORD(acc, acc, acc)
	// Eight columns of each: tanh of the sum, multiply-add V.
	CMPQ(j, whole)
	JGE(LabelRef(tail))
	Label(again)
	x, q, v := ZMM(), ZMM(), ZMM()
	VMOVUPS(at(a.at["K"]), x.AsY())
	VINSERTF64X4(Imm(1), at(second), x, x)
	VBROADCASTF64X4(at(a.at["Q"]), q)
	VBROADCASTF64X4(at(a.at["V"]), v)
	VADDPS(q, x, x)
	VFMADD231PS(v, tanh.of(x), acc)
	ADDQ(Imm(Lanes), j)
	CMPQ(j, whole)
	JL(LabelRef(again))
	// The last columns: what is past them is zero, and its tanh.
	Label(tail)
	TESTQ(rest, rest)
	JZ(LabelRef(done))
	both := func(first, second reg.Register) Vec {
		x, y := ZMM(), ZMM()
		VMOVUPS_Z(at(first), mask, x.AsY())
		VMOVUPS_Z(at(second), mask, y.AsY())
		VINSERTF64X4(Imm(1), y.AsY(), x, x)
		return x
	}
	end := addZ(both(a.at["Q"], a.at["Q"]), both(a.at["K"], second))
	VFMADD231PS(both(a.at["V"], a.at["V"]), tanh.of(end), acc)
	Label(done)
	// The sums over the lanes of each half, in the order of Across.
	turned := ZMM()
	VSHUFF32X4(Imm(0xb1), acc, acc, turned)
	VADDPS(turned, acc, acc)
	VPERMILPS(Imm(0xee), acc, turned)
	VADDPS(turned, acc, acc)
	VMOVSHDUP(acc, turned)
	VADDPS(turned, acc, acc)
	VMOVSS(acc.AsX(), Mem{Base: a.at["Z"]})
	upper := XMM()
	VEXTRACTF32X4(Imm(2), acc, upper)
	VMOVSS(upper, Mem{Base: a.at["Z"], Disp: 4})
	// On to the next two keys.
	LEAQ(Mem{Base: a.at["K"], Index: stride, Scale: 2}, a.at["K"])
	ADDQ(Imm(8), a.at["Z"])
	SUBQ(Imm(2), rows)
	JNZ(LabelRef(row))
	Finish()
}

// grad16 writes Additive.Grad of a multiple of sixteen columns.
func (a *additive) grad16() {
	tanh := newTanh16()
	one := tanh.over[len(tanh.over)-1]
	left := a.Word("Width")
	columns, row := Fresh("columns"), Fresh("row")
	kStride, dkStride := a.bytes("KStride"), a.bytes("DKStride")
	Label(columns)
	q, v, dq, dv := GetZ(Mem{Base: a.at["Q"]}), GetZ(Mem{Base: a.at["V"]}), GetZ(Mem{Base: a.at["DQ"]}), GetZ(Mem{Base: a.at["DV"]})
	k, dk, z, rows := GP64(), GP64(), GP64(), a.Word("rows")
	MOVQ(a.at["K"], k)
	MOVQ(a.at["DK"], dk)
	MOVQ(a.at["Z"], z)
	Label(row)
	// The tanh, made anew; the gradient of V.
	t, s, slope := tanh.of(addZ(q, Mem{Base: k})), ZMM(), ZMM()
	VBROADCASTSS(Mem{Base: z}, s)
	VFMADD231PS(s, t, dv)
	// The gradient of what the tanh is of, to the query and to the key.
	VMULPS(t, t, slope)
	VSUBPS(slope, one, slope)
	g := mulZ(mulZ(s, v), slope)
	VADDPS(g, dq, dq)
	VMOVUPS(addZ(g, Mem{Base: dk}), Mem{Base: dk})
	ADDQ(kStride, k)
	ADDQ(dkStride, dk)
	ADDQ(Imm(4), z)
	DECQ(rows)
	JNZ(LabelRef(row))
	VMOVUPS(dq, Mem{Base: a.at["DQ"]})
	VMOVUPS(dv, Mem{Base: a.at["DV"]})
	for _, f := range []string{"K", "Q", "V", "DK", "DQ", "DV"} {
		ADDQ(Imm(8*Lanes), a.at[f])
	}
	SUBQ(Imm(2*Lanes), left)
	JNZ(LabelRef(columns))
	Finish()
}
