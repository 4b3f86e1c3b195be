package vec

import (
	"strings"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
)

// GRU writes the kernels of GRURows: a part of a row each.
func GRU() {
	for _, admits := range []bool{false, true} {
		gruForward(admits, false)
		gruForward(admits, true)
		gruBackward(admits)
	}
}

// gruForward writes a forward kernel, which stops before what Sigmoid has a detour for.
func gruForward(admits, bias bool) {
	name, of := "gruForward", []string{"gates", "q", "old", "next"}
	if bias {
		name, of = name+"Bias", append(of, "bias")
	}
	if admits {
		name += "Admits"
	}
	name += "AVX2"
	Start(name, "func("+strings.Join(of, ", ")+" *float32, n, m int) int",
		name+" is GRURows.Forward of elements of a row. It returns how many were ordinary and are done.")
	l, odd := newGates(3, of...), Fresh("odd")
	l.run(func() {
		zr := Add(l.block("gates", 0), l.block("q", 0))
		zz := Add(l.block("gates", 1), l.block("q", 1))
		leave(Or(NotOrdinary(zr), NotOrdinary(zz)), odd)
		r, _ := SigmoidOrdinary(zr)
		z, _ := SigmoidOrdinary(zz)
		inner := l.block("q", 2)
		if bias {
			inner = Add(inner, l.Load("bias"))
		}
		n := Tanh(Plus(l.block("gates", 2), r, inner))
		from, to := n, l.Load("old")
		if admits {
			from, to = to, n
		}
		next := Add(Mul(Sub(to, from), z), from)
		l.put(inner, "q", 2)
		l.put(r, "gates", 0)
		l.put(z, "gates", 1)
		l.put(n, "gates", 2)
		l.Store(next, "next")
	})
	l.count(odd)
}

// gruBackward writes a backward kernel.
func gruBackward(admits bool) {
	name := "gruBackward"
	if admits {
		name += "Admits"
	}
	name += "AVX2"
	Start(name, "func(dgates, dq, dold, dnext, gates, q, old *float32, n, m int)", name+" is GRURows.Backward of elements of a row.")
	l := newGates(3, "dgates", "dq", "dold", "dnext", "gates", "q", "old")
	sum := func(v Vec) Vec { return Add(v, Num(0)) } // as a sum with zero, which has no minus
	sigmoid := func(dy, y Vec) Vec { return sum(Mul(Mul(dy, y), Sub(Get(Num(1)), y))) }
	both := func(d Vec, k int) { // what is added up comes from both
		l.put(Add(d, Num(0)), "dgates", k)
		l.put(d, "dq", k)
	}
	l.run(func() {
		dy, z, n := l.Load("dnext"), l.block("gates", 1), l.block("gates", 2)
		toEnd := Mul(dy, z)
		toStart := Sub(dy, toEnd)
		from, to, dn, dold := n, l.Load("old"), toStart, toEnd
		if admits {
			from, to, dn, dold = to, from, toEnd, toStart
		}
		l.Store(Add(l.Load("dold"), dold), "dold")
		both(sigmoid(Mul(Sub(to, from), dy), z), 1)
		dn = sum(Mul(dn, Sub(Get(Num(1)), Mul(n, n))))
		r := l.block("gates", 0)
		both(sigmoid(Mul(dn, l.block("q", 2)), r), 0)
		l.put(Mul(dn, r), "dq", 2)
		l.put(dn, "dgates", 2)
	})
	Finish()
}
