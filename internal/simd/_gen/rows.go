package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows writes the kernels of a softmax over rows, each on up to eight columns
// of a matrix whose rows are stride apart.
func rows() {
	start("topRowsAVX2", "func(x, top *float32, rows, stride, w int)", "topRowsAVX2 is TopRows of w ≤ 8 columns.")
	r := newStripe("x")
	top := r.fixed("top")
	r.run(func() { VMAXPS(top, r.load("x"), top) }) // of a NaN, what is there
	r.keep(top, "top")
	finish()

	start("weighRowsAVX2", "func(y, x, top, sum *float32, rows, stride, w int)", "weighRowsAVX2 is WeighRows of w ≤ 8 columns.")
	r = newStripe("y", "x")
	top, sum := r.fixed("top"), r.fixed("sum")
	r.run(func() {
		x := r.load("x")
		d := andNot(compare(equal, x, top), sub(x, top))
		e := andNot(compare(equal, x, num(math.Inf(-1))), expDown(d))
		VADDPS(e, sum, sum)
		storeFirst(e, r.w, Mem{Base: r.ptr["y"]})
	})
	r.keep(sum, "sum")
	finish()

	start("divideRowsAVX2", "func(y, sum *float32, rows, stride, w int)", "divideRowsAVX2 is DivideRows of w ≤ 8 columns.")
	r = newStripe("y")
	sum = r.fixed("sum")
	by := pick(compare(equal, sum, num(0)), get(num(1)), sum)
	r.run(func() { storeFirst(div(r.load("y"), by), r.w, Mem{Base: r.ptr["y"]}) })
	finish()
}

// stripe is a kernel over the rows of up to eight columns.
type stripe struct {
	ptr       map[string]reg.GPVirtual
	n, stride reg.GPVirtual
	w         reg.GPVirtual
	mask      reg.VecVirtual
}

func newStripe(pointers ...string) *stripe {
	s := &stripe{ptr: map[string]reg.GPVirtual{}}
	for _, p := range pointers {
		s.ptr[p] = param(p)
	}
	s.n = param("rows")
	s.stride = param("stride")
	s.w = param("w")
	SHLQ(Imm(2), s.stride)
	s.mask = maskOf(s.w)
	return s
}

func (s *stripe) load(p string) vec {
	v := YMM()
	VMASKMOVPS(Mem{Base: s.ptr[p]}, s.mask, v)
	return v
}

// fixed loads a row that stands for all.
func (s *stripe) fixed(p string) vec {
	at, v := Load(Param(p), GP64()), YMM()
	VMASKMOVPS(Mem{Base: at}, s.mask, v)
	return v
}

// keep stores what fixed has loaded.
func (s *stripe) keep(v vec, p string) {
	at := Load(Param(p), GP64())
	storeFirst(v, s.w, Mem{Base: at})
}

// run writes the loop; there is at least one row.
func (s *stripe) run(body func()) {
	again := fresh("row")
	Label(again)
	body()
	for _, p := range []string{"x", "y"} {
		if at, ok := s.ptr[p]; ok {
			ADDQ(s.stride, at)
		}
	}
	DECQ(s.n)
	JNZ(LabelRef(again))
}
