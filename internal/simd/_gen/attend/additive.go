package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Additive writes the kernels of Additive.
func Additive() {
	newAdditive("Logits", "K", "Q", "V", "Z").logits()
	newAdditive("Grad", "K", "Q", "V", "Z", "DK", "DQ", "DV").grad()
}

// additive is a kernel on an Additive.
type additive struct {
	Args
	at map[string]reg.GPVirtual // the arrays' pointers, by their fields
}

func newAdditive(name string, fields ...string) *additive {
	kernel := "additive" + name
	a := &additive{at: map[string]reg.GPVirtual{}}
	a.Args = StartOn("Additive", kernel, "", kernel+" is Additive."+name+".")
	for _, f := range fields {
		a.at[f] = a.Word(f)
	}
	return a
}

// bytes loads a number of elements, as bytes.
func (a *additive) bytes(field string) reg.GPVirtual {
	n := a.Word(field)
	SHLQ(Imm(2), n)
	return n
}

// column is the next elements of a row, as far as the mask goes.
func column(m Mem, mask Vec) Vec {
	if mask == nil {
		return Get(m)
	}
	v := YMM()
	VMASKMOVPS(m, mask, v)
	return v
}

// logits writes Additive.Logits. The products are added as those of vec.Runs are.
func (a *additive) logits() {
	stride, whole, rest, rows := a.bytes("KStride"), a.Word("Width"), a.Word("Width"), a.Word("rows")
	ANDQ(Imm(Lanes-1), rest)
	SUBQ(rest, whole)
	mask := MaskOf(rest)
	row, again, tail, done := Fresh("row"), Fresh("again"), Fresh("tail"), Fresh("done")
	j, acc := GP64(), YMM()
	at := func(field string) Mem { return Mem{Base: a.at[field], Index: j, Scale: 4} }
	Label(row)
	XORQ(j, j)
	VXORPS(acc, acc, acc)
	// Eight columns: tanh of the sum, multiply-add V.
	CMPQ(j, whole)
	JGE(LabelRef(tail))
	Label(again)
	VFMADD231PS(at("V"), Tanh(Add(Get(at("K")), at("Q"))), acc)
	ADDQ(Imm(Lanes), j)
	CMPQ(j, whole)
	JL(LabelRef(again))
	// The last columns: what is past them is zero, and its tanh.
	Label(tail)
	TESTQ(rest, rest)
	JZ(LabelRef(done))
	t := Tanh(Add(column(at("K"), mask), column(at("Q"), mask)))
	VFMADD231PS(column(at("V"), mask), t, acc)
	Label(done)
	// The sum over the lanes is the logit. On to the next key.
	VMOVSS(Across(acc), Mem{Base: a.at["Z"]})
	ADDQ(stride, a.at["K"])
	ADDQ(Imm(4), a.at["Z"])
	DECQ(rows)
	JNZ(LabelRef(row))
	Finish()
}

// grad writes Additive.Grad: eight columns of all keys at a time, whose sums stay in
// registers.
func (a *additive) grad() {
	left := a.Word("Width")
	again, tail, done := Fresh("columns"), Fresh("tail"), Fresh("done")
	SUBQ(Imm(Lanes), left)
	JL(LabelRef(tail))
	Label(again)
	a.gradColumns(nil, nil)
	for _, f := range []string{"K", "Q", "V", "DK", "DQ", "DV"} {
		ADDQ(Imm(4*Lanes), a.at[f])
	}
	SUBQ(Imm(Lanes), left)
	JGE(LabelRef(again))
	Label(tail)
	ADDQ(Imm(Lanes), left)
	JZ(LabelRef(done))
	a.gradColumns(left, MaskOf(left))
	Label(done)
	Finish()
}

// gradColumns is grad of eight columns, or of the first n.
func (a *additive) gradColumns(n reg.Register, mask Vec) {
	row := Fresh("row")
	load := func(f string) Vec { return column(Mem{Base: a.at[f]}, mask) }
	store := func(v Vec, to Mem) {
		if mask == nil {
			VMOVUPS(v, to)
			return
		}
		kept := YMM()
		VMOVAPS(v, kept)
		StoreFirst(kept, n, to)
	}
	q, v, dq, dv := load("Q"), load("V"), load("DQ"), load("DV")
	k, dk, z, rows := GP64(), GP64(), GP64(), a.Word("rows")
	MOVQ(a.at["K"], k)
	MOVQ(a.at["DK"], dk)
	MOVQ(a.at["Z"], z)
	kStride, dkStride := a.bytes("KStride"), a.bytes("DKStride")
	Label(row)
	// The tanh, made anew; the gradient of V.
	t, s := Tanh(Add(q, column(Mem{Base: k}, mask))), YMM()
	VBROADCASTSS(Mem{Base: z}, s)
	VFMADD231PS(s, t, dv)
	// The gradient of what the tanh is of, to the query and to the key.
	g := Mul(Mul(s, v), Sub(Get(Num(1)), Mul(t, t)))
	VADDPS(g, dq, dq)
	store(Add(g, column(Mem{Base: dk}, mask)), Mem{Base: dk})
	ADDQ(kStride, k)
	ADDQ(dkStride, dk)
	ADDQ(Imm(4), z)
	DECQ(rows)
	JNZ(LabelRef(row))
	store(dq, Mem{Base: a.at["DQ"]})
	store(dv, Mem{Base: a.at["DV"]})
}
