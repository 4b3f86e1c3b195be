package main

import . "github.com/mmcloughlin/avo/build"

// binary writes the forward kernels of simd.Binary, of two slices and of a
// slice and a number on either side, and the products that gradients add.
func binary() {
	ops := []struct {
		name string
		f    func(x, y vec) vec
		both bool // the number can be on either side, with different results
	}{
		{"add", func(x, y vec) vec { return add(x, y) }, false},
		{"sub", func(x, y vec) vec { return sub(x, y) }, true},
		{"mul", func(x, y vec) vec { return mul(x, y) }, false},
		{"div", func(x, y vec) vec { return div(x, y) }, true},
		{"min", func(x, y vec) vec { return pick(compare(unorder, x, x), x, lower(x, y)) }, false},
		{"max", func(x, y vec) vec { return pick(compare(unorder, x, x), x, higher(x, y)) }, false},
	}
	for _, op := range ops {
		start(op.name+"AVX2", "func(z, x, y *float32, n int)", op.name+"AVX2 is Binary.Forward with steps 1, 1.")
		l := newLoop(4, "z", "x", "y")
		l.run(func() { l.store(op.f(l.load("x"), l.load("y")), "z") })
		finish()

		start(op.name+"StreamAVX2", "func(z, x, y *float32, n int)", op.name+"StreamAVX2 is Binary.Stream with z aligned to 32 bytes.")
		l = newLoop(4, "z", "x", "y")
		l.run(func() { l.stream(op.f(l.load("x"), l.load("y")), "z") })
		SFENCE()
		l.finish()

		start(op.name+"NumAVX2", "func(z, x *float32, n int, c float32)", op.name+"NumAVX2 is Binary.Forward with steps 1, 0.")
		l = newLoop(4, "z", "x")
		c := broadcast("c")
		l.run(func() { l.store(op.f(l.load("x"), c), "z") })
		finish()
		if op.both {
			start("numBy"+op.name+"AVX2", "func(z, y *float32, n int, c float32)", "numBy"+op.name+"AVX2 is Binary.Forward with steps 0, 1.")
			l = newLoop(4, "z", "y")
			c = broadcast("c")
			l.run(func() { l.store(op.f(c, l.load("y")), "z") })
			finish()
		}
	}
	products()
	shares()
}

// products writes what the gradients of products and quotients add.
func products() {
	start("mulAddAVX2", "func(z, x, y *float32, n int)", "mulAddAVX2 is MulAdd.")
	l := newLoop(4, "z", "x", "y")
	l.run(func() { l.store(plus(l.load("z"), l.load("x"), l.load("y")), "z") })
	l.finish()

	start("mulAddLessAVX2", "func(z, x, y *float32, n int, c float32)", "mulAddLessAVX2 is z += x·(y − c).")
	l = newLoop(4, "z", "x", "y")
	less := broadcast("c")
	l.run(func() { l.store(plus(l.load("z"), l.load("x"), sub(l.load("y"), less)), "z") })
	l.finish()

	start("addQuotientAVX2", "func(z, x *float32, n int, c float32)", "addQuotientAVX2 is z += x/c.")
	l = newLoop(4, "z", "x")
	c := broadcast("c")
	l.run(func() { l.store(add(div(l.load("x"), c), l.load("z")), "z") })
	l.finish()

	start("divisorAVX2", "func(dy, dz, x, y *float32, n int)", "divisorAVX2 is dy −= dz·x/y².")
	l = newLoop(2, "dy", "dz", "x", "y")
	l.run(func() {
		y := l.load("y")
		l.store(sub(l.load("dy"), div(mul(l.load("dz"), l.load("x")), mul(y, y))), "dy")
	})
	l.finish()

	start("divisorOfNumAVX2", "func(dy, dz, y *float32, n int, c float32)", "divisorOfNumAVX2 is dy −= dz·c/y².")
	l = newLoop(2, "dy", "dz", "y")
	c = broadcast("c")
	l.run(func() {
		y := l.load("y")
		l.store(sub(l.load("dy"), div(mul(l.load("dz"), c), mul(y, y))), "dy")
	})
	l.finish()
}

// shares writes the gradients of the smaller and of the larger of two: d += dz
// where x is in a relation to y.
func shares() {
	for _, s := range []struct {
		name      string
		predicate uint64
	}{{"AtMost", lessEqual}, {"Below", less}} {
		start("addWhere"+s.name+"AVX2", "func(d, dz, x, y *float32, n int)", "addWhere"+s.name+"AVX2 adds dz to d where x is so to y.")
		l := newLoop(4, "d", "dz", "x", "y")
		l.run(func() {
			l.store(add(and(l.load("dz"), compare(s.predicate, l.load("x"), l.load("y"))), l.load("d")), "d")
		})
		l.finish()

		start("addWhere"+s.name+"NumAVX2", "func(d, dz, x *float32, n int, c float32)", "addWhere"+s.name+"NumAVX2 adds dz to d where x is so to c.")
		l = newLoop(4, "d", "dz", "x")
		c := broadcast("c")
		l.run(func() { l.store(add(and(l.load("dz"), compare(s.predicate, l.load("x"), c)), l.load("d")), "d") })
		l.finish()

		start("addWhereNum"+s.name+"AVX2", "func(d, dz, y *float32, n int, c float32)", "addWhereNum"+s.name+"AVX2 adds dz to d where c is so to y.")
		l = newLoop(4, "d", "dz", "y")
		c = broadcast("c")
		l.run(func() { l.store(add(and(l.load("dz"), compare(s.predicate, c, l.load("y"))), l.load("d")), "d") })
		l.finish()
	}
}
