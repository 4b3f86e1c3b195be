package vec

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows writes the kernels of a softmax over rows, each on up to eight columns
// of a matrix whose rows are stride apart.
func Rows() {
	Start("topRowsAVX2", "func(x, top *float32, rows, stride, w int)", "topRowsAVX2 is TopRows of w ≤ 8 columns.")
	// top[j] = max(top[j], x[i,j])
	r := newStripe("x")
	top := r.fixed("top")
	r.run(func() { VMAXPS(top, r.load("x"), top) }) // of a NaN, what is there
	r.keep(top, "top")
	Finish()

	Start("weighRowsAVX2", "func(y, x, top, sum *float32, rows, stride, w int)", "weighRowsAVX2 is WeighRows of w ≤ 8 columns.")
	// y[i,j] = exp(x[i,j] − top[j])    sum[j] += y[i,j]
	r = newStripe("y", "x")
	top, sum := r.fixed("top"), r.fixed("sum")
	r.run(func() {
		x := r.load("x")
		d := AndNot(Compare(Equal, x, top), Sub(x, top))
		e := AndNot(Compare(Equal, x, Num(math.Inf(-1))), ExpDown(d))
		VADDPS(e, sum, sum)
		StoreFirst(e, r.w, Mem{Base: r.ptr["y"]})
	})
	r.keep(sum, "sum")
	Finish()

	Start("divideRowsAVX2", "func(y, sum *float32, rows, stride, w int)", "divideRowsAVX2 is DivideRows of w ≤ 8 columns.")
	// y[i,j] /= sum[j], where that is not 0
	r = newStripe("y")
	sum = r.fixed("sum")
	by := Pick(Compare(Equal, sum, Num(0)), Get(Num(1)), sum)
	r.run(func() { StoreFirst(Div(r.load("y"), by), r.w, Mem{Base: r.ptr["y"]}) })
	Finish()
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
		s.ptr[p] = Arg(p)
	}
	s.n = Arg("rows")
	s.stride = Arg("stride")
	s.w = Arg("w")
	SHLQ(Imm(2), s.stride)
	s.mask = MaskOf(s.w)
	return s
}

func (s *stripe) load(p string) Vec {
	v := YMM()
	VMASKMOVPS(Mem{Base: s.ptr[p]}, s.mask, v)
	return v
}

// fixed loads a row that stands for all.
func (s *stripe) fixed(p string) Vec {
	at, v := Load(Param(p), GP64()), YMM()
	VMASKMOVPS(Mem{Base: at}, s.mask, v)
	return v
}

// keep stores what fixed has loaded.
func (s *stripe) keep(v Vec, p string) {
	at := Load(Param(p), GP64())
	StoreFirst(v, s.w, Mem{Base: at})
}

// run writes the loop; there is at least one row.
func (s *stripe) run(body func()) {
	again := Fresh("row")
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
