package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Centred writes the kernels of a normalisation of columns.
func Centred() {
	centredSquares(false)
	centredSquares(true)
	for _, relu := range []bool{false, true} {
		centredDots(relu, false)
		centredDots(relu, true)
	}
	standardise("standardise", false, false)
	standardise("standardiseReLU", false, true)
	standardise("standardiseBias", true, false)
	standardise("standardiseBiasReLU", true, true)
	for _, relu := range []bool{false, true} {
		standardiseGrad(relu, false)
		standardiseGrad(relu, true)
	}
}

// columnBlock is a kernel that keeps what it needs of each column in registers while it walks
// down the rows: of 32 columns, or of up to eight with a mask.
type columnBlock struct {
	wide   bool
	mask   Vec // nil of 32 columns
	w      reg.GPVirtual
	rows   reg.GPVirtual
	stride reg.GPVirtual
	walked []reg.GPVirtual
	at     int // which eight of the columns
}

// startColumns begins one; fixed are the pointers to a row, walked those to rows.
func startColumns(name, fixed, walked, comment string, wide bool) *columnBlock {
	tail, columns := ", w int)", " of w ≤ 8 columns."
	if wide {
		name, tail, columns = name+"32", " int)", " of 32 columns."
	}
	name += "AVX2"
	Start(name, "func("+fixed+", "+walked+" *float32, rows, stride"+tail, name+" is "+comment+columns)
	return &columnBlock{wide: wide}
}

// begin loads what all blocks have; walked are the pointers that go from row to row.
func (b *columnBlock) begin(walked ...reg.GPVirtual) {
	b.walked, b.rows, b.stride = walked, Arg("rows"), Arg("stride")
	SHLQ(Imm(2), b.stride)
	if !b.wide {
		b.w = Arg("w")
		b.mask = MaskOf(b.w)
	}
}

// load returns eight columns of a row.
func (b *columnBlock) load(from reg.GPVirtual) Vec {
	at := Mem{Base: from, Disp: 32 * b.at}
	if b.wide {
		return Get(at)
	}
	v := YMM()
	VMASKMOVPS(at, b.mask, v)
	return v
}

// operand is load for the last operand of one instruction.
func (b *columnBlock) operand(from reg.GPVirtual) Op {
	if b.wide {
		return Mem{Base: from, Disp: 32 * b.at}
	}
	return b.load(from)
}

// each calls f for every eight columns.
func (b *columnBlock) each(f func(i int)) {
	times := 1
	if b.wide {
		times = 4
	}
	for i := range times {
		b.at = i
		f(i)
	}
}

// fixed loads a row that stands for all.
func (b *columnBlock) fixed(p string) []Vec {
	from, vs := Arg(p), []Vec(nil)
	b.each(func(int) { vs = append(vs, b.load(from)) })
	return vs
}

// keep stores what fixed has loaded.
func (b *columnBlock) keep(vs []Vec, p string) {
	to := Arg(p)
	b.each(func(i int) {
		at := Mem{Base: to, Disp: 32 * i}
		if b.wide {
			VMOVUPS(vs[i], at)
		} else {
			StoreFirst(vs[i], b.w, at)
		}
	})
}

// down writes the loop over the rows, of which there is one at least.
func (b *columnBlock) down(body func(i int)) {
	again := Fresh("row")
	Label(again)
	b.each(body)
	for _, p := range b.walked {
		ADDQ(b.stride, p)
	}
	DECQ(b.rows)
	JNZ(LabelRef(again))
}

// centredSquares writes sums[j] += (x[i,j] − centre[j])².
func centredSquares(wide bool) {
	b := startColumns("centredSquares", "sums", "x, centre", "CentredSquares", wide)
	x := Arg("x")
	b.begin(x)
	sums, centre := b.fixed("sums"), b.fixed("centre")
	b.down(func(i int) {
		o := Sub(b.load(x), centre[i])
		VADDPS(Mul(o, o), sums[i], sums[i])
	})
	b.keep(sums, "sums")
	Finish()
}

// centredDots writes dots[j] += g[i,j]·(x[i,j] − centre[j]) and sums[j] += g[i,j].
func centredDots(relu, wide bool) {
	name, of, doc := "centredDots", "centre", "CentredDots"
	if relu {
		name, of, doc = "reluDots", "centre, scale, bias", "Columns.ReLUDots"
	}
	b := startColumns(name, "dots, sums", "dy, x, "+of, doc, wide)
	x, dy := Arg("x"), Arg("dy")
	b.begin(x, dy)
	dots, sums, centre := b.fixed("dots"), b.fixed("sums"), b.fixed("centre")
	var scale, bias reg.GPVirtual
	if relu {
		scale, bias = Arg("scale"), Arg("bias")
	}
	b.down(func(i int) {
		if wide && i%2 == 0 {
			for _, p := range b.walked {
				PREFETCHT0(Mem{Base: p, Disp: 32*i + farAhead})
			}
		}
		o, g := Sub(b.load(x), centre[i]), Vec(nil)
		if relu {
			y := Add(Mul(o, b.operand(scale)), b.operand(bias))
			g = And(Compare(Greater, y, Num(0)), b.operand(dy))
		} else {
			g = b.load(dy)
		}
		VADDPS(g, sums[i], sums[i])
		VADDPS(Mul(g, o), dots[i], dots[i])
	})
	b.keep(dots, "dots")
	b.keep(sums, "sums")
	Finish()
}

// farAhead is how many bytes before its use a line is asked for: what a layer wrote on the
// way forward has left the second cache, and the processor asks for too little of the third.
const farAhead = 2048

// fetchAhead asks for later lines of some arrays of a loop.
func fetchAhead(l *Loop, arrays ...string) {
	if l.Mask != nil || l.U%2 > 0 {
		return // a line is two steps
	}
	for _, p := range arrays {
		at := l.At(p)
		at.Disp += farAhead
		PREFETCHT0(at)
	}
}

// standardise writes Columns.Standardise.
func standardise(name string, bias, relu bool) {
	name += "AVX2"
	more, of := "", []string{"y", "x", "centre", "scale"}
	if bias {
		more, of = ", bias", append(of, "bias")
	}
	Start(name, "func(y, x, centre, scale"+more+" *float32, n int)", name+" is Columns.Standardise.")
	l := NewLoop(4, of...)
	l.Run(func() {
		fetchAhead(l, "x", "y")
		v := Mul(Sub(l.Load("x"), l.Operand("centre")), l.Operand("scale"))
		if bias {
			v = Add(v, l.Operand("bias"))
		}
		if relu {
			v = Higher(Get(Num(0)), v)
		}
		l.Store(v, "y")
	})
	l.Finish()
}

// standardiseGrad writes ColumnSlopes.Grad, and ReLUGrad.
func standardiseGrad(relu, set bool) {
	name, of, pointers := "addStandardiseGrad", "Grad", []string{"dx", "dy", "x", "centre", "ofX", "at0", "ofDY"}
	if set {
		name = "setStandardiseGrad"
	}
	more := ""
	if relu {
		name, of, more, pointers = name+"ReLU", "ReLUGrad", ", bias", append(pointers, "bias")
	}
	name += "AVX2"
	Start(name, "func(dx, dy, x, centre, ofX, at0, ofDY"+more+" *float32, n int)", name+" is ColumnSlopes."+of+".")
	l := NewLoop(2, pointers...)
	l.Run(func() {
		fetchAhead(l, "x", "dy", "dx")
		o, g, by := Sub(l.Load("x"), l.Operand("centre")), l.Load("dy"), l.Load("ofDY")
		if relu {
			g = And(g, Compare(Greater, Add(Mul(o, by), l.Operand("bias")), Num(0)))
		}
		d := Add(Mul(o, l.Operand("ofX")), l.Operand("at0"))
		if set {
			d = Add(d, Num(0)) // what adding to zeros gives: no −0
		} else {
			d = Add(d, l.Operand("dx"))
		}
		l.Store(Add(d, Mul(g, by)), "dx")
	})
	l.Finish()
}
