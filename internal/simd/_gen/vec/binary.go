package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
)

// Binary writes the forward kernels of Binary, of two slices and of a
// slice and a number on either side, and the products that gradients add.
func Binary() {
	ops := []struct {
		name string
		f    func(x, y Vec) Vec
		both bool // the number can be on either side, with different results
	}{
		{"add", func(x, y Vec) Vec { return Add(x, y) }, false},
		{"sub", func(x, y Vec) Vec { return Sub(x, y) }, true},
		{"mul", func(x, y Vec) Vec { return Mul(x, y) }, false},
		{"div", func(x, y Vec) Vec { return Div(x, y) }, true},
		{"min", func(x, y Vec) Vec { return Pick(Compare(Unorder, x, x), x, Lower(x, y)) }, false},
		{"max", func(x, y Vec) Vec { return Pick(Compare(Unorder, x, x), x, Higher(x, y)) }, false},
	}
	for _, op := range ops {
		Start(op.name+"AVX2", "func(z, x, y *float32, n int)", op.name+"AVX2 is Binary.Forward with steps 1, 1.")
		l := NewLoop(4, "z", "x", "y")
		l.Run(func() { l.Store(op.f(l.Load("x"), l.Load("y")), "z") })
		Finish()

		Start(op.name+"StreamAVX2", "func(z, x, y *float32, n int)", op.name+"StreamAVX2 is Binary.Stream with z aligned to 32 bytes.")
		l = NewLoop(4, "z", "x", "y")
		l.Run(func() { l.Stream(op.f(l.Load("x"), l.Load("y")), "z") })
		SFENCE()
		l.Finish()

		Start(op.name+"NumAVX2", "func(z, x *float32, n int, c float32)", op.name+"NumAVX2 is Binary.Forward with steps 1, 0.")
		l = NewLoop(4, "z", "x")
		c := Broadcast("c")
		l.Run(func() { l.Store(op.f(l.Load("x"), c), "z") })
		Finish()
		if op.both {
			Start("numBy"+op.name+"AVX2", "func(z, y *float32, n int, c float32)", "numBy"+op.name+"AVX2 is Binary.Forward with steps 0, 1.")
			l = NewLoop(4, "z", "y")
			c = Broadcast("c")
			l.Run(func() { l.Store(op.f(c, l.Load("y")), "z") })
			Finish()
		}
	}
	products()
	shares()
}

// products writes what the gradients of products and quotients add.
func products() {
	Start("mulAddAVX2", "func(z, x, y *float32, n int)", "mulAddAVX2 is MulAdd.")
	l := NewLoop(4, "z", "x", "y")
	l.Run(func() { l.Store(Plus(l.Load("z"), l.Load("x"), l.Load("y")), "z") })
	l.Finish()

	Start("mulAddLessAVX2", "func(z, x, y *float32, n int, c float32)", "mulAddLessAVX2 is z += x·(y − c).")
	l = NewLoop(4, "z", "x", "y")
	less := Broadcast("c")
	l.Run(func() { l.Store(Plus(l.Load("z"), l.Load("x"), Sub(l.Load("y"), less)), "z") })
	l.Finish()

	Start("addQuotientAVX2", "func(z, x *float32, n int, c float32)", "addQuotientAVX2 is z += x/c.")
	l = NewLoop(4, "z", "x")
	c := Broadcast("c")
	l.Run(func() { l.Store(Add(Div(l.Load("x"), c), l.Load("z")), "z") })
	l.Finish()

	Start("divisorAVX2", "func(dy, dz, x, y *float32, n int)", "divisorAVX2 is dy −= dz·x/y².")
	l = NewLoop(2, "dy", "dz", "x", "y")
	l.Run(func() {
		y := l.Load("y")
		l.Store(Sub(l.Load("dy"), Div(Mul(l.Load("dz"), l.Load("x")), Mul(y, y))), "dy")
	})
	l.Finish()

	Start("divisorOfNumAVX2", "func(dy, dz, y *float32, n int, c float32)", "divisorOfNumAVX2 is dy −= dz·c/y².")
	l = NewLoop(2, "dy", "dz", "y")
	c = Broadcast("c")
	l.Run(func() {
		y := l.Load("y")
		l.Store(Sub(l.Load("dy"), Div(Mul(l.Load("dz"), c), Mul(y, y))), "dy")
	})
	l.Finish()
}

// shares writes the gradients of the smaller and of the larger of two: d += dz
// where x is in a relation to y.
func shares() {
	for _, s := range []struct {
		name      string
		predicate uint64
	}{{"AtMost", LessEqual}, {"Below", Less}} {
		Start("addWhere"+s.name+"AVX2", "func(d, dz, x, y *float32, n int)", "addWhere"+s.name+"AVX2 adds dz to d where x is so to y.")
		l := NewLoop(4, "d", "dz", "x", "y")
		l.Run(func() {
			l.Store(Add(And(l.Load("dz"), Compare(s.predicate, l.Load("x"), l.Load("y"))), l.Load("d")), "d")
		})
		l.Finish()

		Start("addWhere"+s.name+"NumAVX2", "func(d, dz, x *float32, n int, c float32)", "addWhere"+s.name+"NumAVX2 adds dz to d where x is so to c.")
		l = NewLoop(4, "d", "dz", "x")
		c := Broadcast("c")
		l.Run(func() { l.Store(Add(And(l.Load("dz"), Compare(s.predicate, l.Load("x"), c)), l.Load("d")), "d") })
		l.Finish()

		Start("addWhereNum"+s.name+"AVX2", "func(d, dz, y *float32, n int, c float32)", "addWhereNum"+s.name+"AVX2 adds dz to d where c is so to y.")
		l = NewLoop(4, "d", "dz", "y")
		c = Broadcast("c")
		l.Run(func() { l.Store(Add(And(l.Load("dz"), Compare(s.predicate, c, l.Load("y"))), l.Load("d")), "d") })
		l.Finish()
	}
}
