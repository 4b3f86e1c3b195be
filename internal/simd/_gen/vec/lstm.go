package vec

import (
	"strings"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// LSTM writes the kernels of LSTMRows: a part of a row each.
func LSTM() {
	for _, inner := range []bool{false, true} {
		lstmForward(inner, false)
		lstmForward(inner, true)
		for _, set := range []bool{false, true} {
			lstmBackward(inner, set)
			lstmPeepBackward(inner, set)
		}
	}
	gatedTanhGrad()
}

// gateLoop is a loop over arrays of which some have blocks side by side in a row, each m
// elements behind the one before.
type gateLoop struct {
	*Loop
	next []reg.GPVirtual // the elements of each block
}

// newGates returns a loop of so many blocks.
func newGates(blocks int, pointers ...string) *gateLoop {
	l := &gateLoop{Loop: NewLoop(1, pointers...), next: make([]reg.GPVirtual, blocks)}
	m := Arg("m")
	l.next[0] = l.I
	for k := 1; k < blocks; k++ {
		l.next[k] = GP64()
		LEAQ(Mem{Base: l.next[k-1], Index: m, Scale: 1}, l.next[k])
	}
	return l
}

// in has f done at block k.
func (l *gateLoop) in(k int, f func()) {
	l.I = l.next[k]
	f()
	l.I = l.next[0]
}

// block loads the next elements of block k.
func (l *gateLoop) block(p string, k int) (v Vec) {
	l.in(k, func() { v = l.Load(p) })
	return v
}

// put stores at the next elements of block k.
func (l *gateLoop) put(v Vec, p string, k int) { l.in(k, func() { l.Store(v, p) }) }

// run writes the loop.
func (l *gateLoop) run(body func()) {
	l.Each(func(int) {
		body()
		if l.Mask == nil {
			l.step(l.next[1:])
		}
	})
}

// step moves on to the next elements.
func (l *gateLoop) step(next []reg.GPVirtual) {
	for _, i := range next {
		ADDQ(Imm(Lanes), i)
	}
}

// whole is run of whole registers, at least one.
func (l *gateLoop) whole(body func()) {
	again := Fresh("again")
	Label(again)
	body()
	l.step(l.next[:])
	CMPQ(l.I, l.N)
	JLT(LabelRef(again))
}

// lstmForward writes a forward kernel, with peepholes or without, which stops before what
// Sigmoid has a detour for.
func lstmForward(inner, peeps bool) {
	name, of := "lstmForward", []string{"gates", "cell", "next"}
	if peeps {
		name, of = name+"Peep", append(of, "peep")
	}
	if inner {
		name += "Inner"
	} else {
		of = append(of, "tanh", "h")
	}
	name += "AVX2"
	Start(name, "func("+strings.Join(of, ", ")+" *float32, n, m int) int",
		name+" is LSTMRows.Forward of elements of a row. It returns how many were ordinary and are done.")
	l, odd := newGates(4, of...), Fresh("odd")
	stop := func(rare Vec) { leave(rare, odd) }
	l.run(func() {
		zi, zf, zo := l.block("gates", 0), l.block("gates", 1), l.block("gates", 3)
		if peeps {
			c := l.Load("cell")
			zi, zf = Add(Mul(l.block("peep", 0), c), zi), Add(Mul(l.block("peep", 1), c), zf)
			stop(Or(NotOrdinary(zi), NotOrdinary(zf)))
		} else {
			stop(Or(Or(NotOrdinary(zi), NotOrdinary(zf)), NotOrdinary(zo)))
		}
		i, _ := SigmoidOrdinary(zi)
		f, _ := SigmoidOrdinary(zf)
		g := Tanh(l.block("gates", 2))
		next := Plus(Mul(f, l.Load("cell")), i, g)
		if peeps {
			zo = Add(Mul(l.block("peep", 2), next), zo)
			stop(NotOrdinary(zo))
		}
		l.put(i, "gates", 0)
		l.put(f, "gates", 1)
		l.put(g, "gates", 2)
		o, _ := SigmoidOrdinary(zo)
		if inner {
			l.put(o, "gates", 3)
			l.Store(next, "next")
			return
		}
		th := Tanh(next)
		h := Mul(o, th)
		l.put(o, "gates", 3)
		l.Store(next, "next")
		l.Store(th, "tanh")
		l.Store(h, "h")
	})
	l.count(odd)
}

// leave jumps where an element is rare.
func leave(rare Vec, to string) {
	bits := GP32()
	VMOVMSKPS(rare, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(to))
}

// count ends a kernel that returns how many elements it has done, also if it left at odd.
func (l *gateLoop) count(odd string) {
	ADDQ(l.N, l.I)
	Label(odd)
	Store(l.I, ReturnIndex(0))
	Finish()
}

// lstmBackward writes a backward kernel.
func lstmBackward(inner, set bool) {
	name, how := "lstmBackward", "adds to"
	if inner {
		name += "Inner"
	}
	if set {
		name, how = name+"Set", "sets"
	}
	name += "AVX2"
	Start(name, "func(dgates, dcell, dh, dnext, gates, cell, tanh *float32, n, m int)",
		name+" is LSTMRows.Backward of elements of a row, which "+how+" the cell's gradient.")
	l := newGates(4, "dgates", "dcell", "dh", "dnext", "gates", "cell", "tanh")
	sum := func(v Vec) Vec { return Add(v, Num(0)) } // as a sum with zero, which has no minus
	sigmoid := func(dy, y Vec) Vec { return sum(Mul(Mul(dy, y), Sub(Get(Num(1)), y))) }
	slope := func(dy, y Vec) Vec { return Mul(dy, Sub(Get(Num(1)), Mul(y, y))) }
	l.run(func() {
		dh, th, o := l.Load("dh"), l.Load("tanh"), l.block("gates", 3)
		l.put(sigmoid(Mul(dh, th), o), "dgates", 3)
		dn := l.Load("dnext")
		if !inner {
			dn = Add(slope(Mul(dh, o), th), dn)
		}
		i, g := l.block("gates", 0), l.block("gates", 2)
		l.put(sigmoid(Mul(dn, g), i), "dgates", 0)
		l.put(sum(slope(Mul(dn, i), g)), "dgates", 2)
		f := l.block("gates", 1)
		l.put(sigmoid(Mul(dn, l.Load("cell")), f), "dgates", 1)
		if set {
			l.Store(sum(Mul(dn, f)), "dcell")
			return
		}
		l.Store(Plus(l.Load("dcell"), dn, f), "dcell")
	})
	Finish()
}

// lstmPeepBackward writes a backward kernel with peepholes, of whole registers.
func lstmPeepBackward(inner, set bool) {
	name, how := "lstmPeepBackward", "adds to"
	if inner {
		name += "Inner"
	}
	if set {
		name, how = name+"Set", "sets"
	}
	name += "AVX2"
	of := []string{"dgates", "dcell", "dh", "dnext", "gates", "cell", "next", "tanh", "peep", "sums"}
	Start(name, "func("+strings.Join(of, ", ")+" *float32, n, m int)",
		name+" is LSTMRows.Backward of elements of a row with peepholes, which "+how+" the cell's gradient; n is a multiple of 8.")
	l := newGates(4, of...)
	sum := func(v Vec) Vec { return Add(v, Num(0)) } // as a sum with zero, which has no minus
	sigmoid := func(dy, y Vec) Vec { return Mul(Mul(dy, y), Sub(Get(Num(1)), y)) }
	slope := func(dy, y Vec) Vec { return Mul(dy, Sub(Get(Num(1)), Mul(y, y))) }
	each := func(d Vec, x string, k int) { // what a gate's gradient and what it saw add up to
		l.put(Add(Mul(d, l.Load(x)), l.block("sums", k)), "sums", k)
	}
	l.whole(func() {
		dh, th, o := l.Load("dh"), l.Load("tanh"), l.block("gates", 3)
		do := sigmoid(Mul(dh, th), o)
		dn := l.Load("dnext")
		if !inner {
			dn = Add(slope(Mul(dh, o), th), dn)
		}
		dn = Add(Mul(do, l.block("peep", 2)), dn)
		each(do, "next", 2)
		l.put(sum(do), "dgates", 3)
		i, g := l.block("gates", 0), l.block("gates", 2)
		di := sigmoid(Mul(dn, g), i)
		each(di, "cell", 0)
		l.put(sum(slope(Mul(dn, i), g)), "dgates", 2)
		f := l.block("gates", 1)
		df := sigmoid(Mul(dn, l.Load("cell")), f)
		each(df, "cell", 1)
		dc := Add(Mul(dn, f), Mul(di, l.block("peep", 0)))
		dc = Add(dc, Mul(df, l.block("peep", 1)))
		l.put(sum(di), "dgates", 0)
		l.put(sum(df), "dgates", 1)
		if set {
			l.Store(sum(dc), "dcell")
			return
		}
		l.Store(Add(l.Load("dcell"), dc), "dcell")
	})
	Finish()
}

// gatedTanhGrad writes the gradient before a tanh that a gate follows.
func gatedTanhGrad() {
	Start("gatedTanhGradAVX2", "func(d, dy, gate, tanh *float32, n int)", "gatedTanhGradAVX2 is GatedTanhGrad.")
	l := NewLoop(2, "d", "dy", "gate", "tanh")
	l.Run(func() {
		if l.Mask == nil {
			PREFETCHT0(l.At("gate").Offset(rowAhead))
		}
		th := l.Load("tanh")
		d := Mul(Mul(l.Load("dy"), l.Operand("gate")), Sub(Get(Num(1)), Mul(th, th)))
		l.Store(Add(d, Num(0)), "d") // no minus zero
	})
	l.Finish()
}
