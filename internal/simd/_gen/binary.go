package main

import (
	. "github.com/mmcloughlin/avo/build"
)

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
	start("mulAddAVX2", "func(z, x, y *float32, n int)", "mulAddAVX2 is z += x·y.")
	l := newLoop(4, "z", "x", "y")
	l.run(func() {
		z := l.load("z")
		VFMADD231PS(l.load("y"), l.load("x"), z)
		l.store(z, "z")
	})
	finish()
}
