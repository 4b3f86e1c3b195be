package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Groups writes the kernels on runs of d elements with a number for each run.
//
//	y[k·d+j] = c[k]    += c[k]    = c[k]·x[k·d+j]    += c[k]·x[k·d+j]
//	y[k] += Σ_j x[k·d+j]·z[k·d+j]    y[k] += Σ_j x[k·d+j]
func Groups() {
	for _, k := range []struct {
		name, signature string
		row             func(c, x, y Vec) Vec // of the run's number, x and what stands in y
	}{
		{"spread", "func(y, c *float32, n, d int)", func(c, _, _ Vec) Vec { return c }},
		{"spreadAdd", "func(y, c *float32, n, d int)", func(c, _, y Vec) Vec { return Add(c, y) }},
		{"scaleGroups", "func(y, c, x *float32, n, d int)", func(c, x, _ Vec) Vec { return Mul(c, x) }},
		{"axpyGroups", "func(y, c, x *float32, n, d int)", func(c, x, y Vec) Vec { VFMADD231PS(c, x, y); return y }},
	} {
		Start(k.name+"AVX2", k.signature, k.name+"AVX2 works on n runs of d elements.")
		r := newRuns()
		y, c := Arg("y"), Arg("c")
		x := y
		if k.name == "scaleGroups" || k.name == "axpyGroups" {
			x = Arg("x")
		}
		// Runs of eight elements: number in all lanes, combine, store.
		r.eights(func(u int) {
			number := YMM()
			VBROADCASTSS(Mem{Base: c, Disp: 4 * u}, number)
			var vx, vy Vec
			if x != y {
				vx = Get(Mem{Base: x, Disp: 32 * u})
			}
			if k.name == "spreadAdd" || k.name == "axpyGroups" {
				vy = Get(Mem{Base: y, Disp: 32 * u})
			}
			VMOVUPS(k.row(number, vx, vy), Mem{Base: y, Disp: 32 * u})
		}, func(times int) {
			ADDQ(U32(uint32(32*times)), y)
			if x != y {
				ADDQ(U32(uint32(32*times)), x)
			}
			ADDQ(Imm(uint64(4*times)), c)
		})
		// Other runs, in a loop over their elements.
		r.each(func() {
			number := YMM()
			VBROADCASTSS(Mem{Base: c}, number)
			r.elements(func(at func(reg.GPVirtual) Mem, mask Vec) {
				var vx, vy Vec
				if x != y {
					vx = r.load(at(x), mask)
				}
				if k.name == "spreadAdd" || k.name == "axpyGroups" {
					vy = r.load(at(y), mask)
				}
				v := k.row(number, vx, vy)
				if mask == nil {
					VMOVUPS(v, at(y))
					return
				}
				kept := YMM()
				VMOVAPS(v, kept)
				StoreFirst(kept, r.rest, at(y))
			})
			ADDQ(r.bytes, y)
			if x != y {
				ADDQ(r.bytes, x)
			}
			ADDQ(Imm(4), c)
		})
		Finish()
	}
	for _, name := range []string{"dotGroups", "sumGroups"} {
		signature := "func(y, x, z *float32, n, d int)"
		if name == "sumGroups" {
			signature = "func(y, x *float32, n, d int)"
		}
		Start(name+"AVX2", signature, name+"AVX2 works on n runs of d elements.")
		r := newRuns()
		y, x := Arg("y"), Arg("x")
		var z reg.GPVirtual
		if name == "dotGroups" {
			z = Arg("z")
		}
		// Runs of eight elements: multiply, horizontal sum, add to the run's number.
		r.eights(func(u int) {
			v := Get(Mem{Base: x, Disp: 32 * u})
			if name == "dotGroups" {
				v = Mul(v, Mem{Base: z, Disp: 32 * u})
			}
			total := Across(v)
			VADDSS(Mem{Base: y, Disp: 4 * u}, total, total)
			VMOVSS(total, Mem{Base: y, Disp: 4 * u})
		}, func(times int) {
			ADDQ(U32(uint32(32*times)), x)
			if name == "dotGroups" {
				ADDQ(U32(uint32(32*times)), z)
			}
			ADDQ(Imm(uint64(4*times)), y)
		})
		// Other runs: multiply-accumulate over their elements first.
		r.each(func() {
			acc := YMM()
			VXORPS(acc, acc, acc)
			r.elements(func(at func(reg.GPVirtual) Mem, mask Vec) {
				v := r.load(at(x), mask)
				if name == "dotGroups" {
					VFMADD231PS(r.load(at(z), mask), v, acc)
				} else {
					VADDPS(v, acc, acc)
				}
			})
			total := Across(acc)
			VADDSS(Mem{Base: y}, total, total)
			VMOVSS(total, Mem{Base: y})
			ADDQ(r.bytes, x)
			if name == "dotGroups" {
				ADDQ(r.bytes, z)
			}
			ADDQ(Imm(4), y)
		})
		Finish()
	}
}

// runs is a kernel over n runs of d elements.
type runs struct {
	n, whole, rest, bytes reg.GPVirtual
	mask                  Vec
	done                  string // the label behind the last run
}

func newRuns() *runs {
	r := &runs{whole: GP64(), rest: GP64(), bytes: GP64()}
	r.n = Arg("n")
	d := Arg("d")
	MOVQ(d, r.rest)
	ANDQ(Imm(Lanes-1), r.rest)
	MOVQ(d, r.whole)
	SUBQ(r.rest, r.whole)
	MOVQ(d, r.bytes)
	SHLQ(Imm(2), r.bytes)
	r.mask = MaskOf(r.rest)
	return r
}

// eights writes the loop over runs of exactly eight elements, which are most
// heads, without the one over a run's elements: four runs at a time, as long as
// there are four. The others are left to each.
func (r *runs) eights(body func(u int), next func(times int)) {
	others, again, over, done := Fresh("others"), Fresh("eights"), Fresh("over"), Fresh("none")
	CMPQ(r.bytes, Imm(4*Lanes))
	JNE(LabelRef(others))
	SUBQ(Imm(4), r.n)
	JL(LabelRef(over))
	Label(again)
	for u := range 4 {
		body(u)
	}
	next(4)
	SUBQ(Imm(4), r.n)
	JGE(LabelRef(again))
	Label(over)
	ADDQ(Imm(4), r.n)
	JNZ(LabelRef(others))
	JMP(LabelRef(done))
	Label(others)
	r.done = done
}

// each writes the loop over the runs that are left; n is not 0.
func (r *runs) each(body func()) {
	again := Fresh("run")
	Label(again)
	body()
	DECQ(r.n)
	JNZ(LabelRef(again))
	Label(r.done)
}

func (r *runs) load(m Mem, mask Vec) Vec {
	if mask == nil {
		return Get(m)
	}
	v := YMM()
	VMASKMOVPS(m, mask, v)
	return v
}

// elements writes the loop over a run's elements, eight at a time; mask is nil
// but for the last few.
func (r *runs) elements(body func(at func(reg.GPVirtual) Mem, mask Vec)) {
	again, tail, done := Fresh("again"), Fresh("tail"), Fresh("done")
	j := GP64()
	XORQ(j, j)
	at := func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: j, Scale: 4} }
	CMPQ(j, r.whole)
	JGE(LabelRef(tail))
	Label(again)
	body(at, nil)
	ADDQ(Imm(Lanes), j)
	CMPQ(j, r.whole)
	JL(LabelRef(again))
	Label(tail)
	TESTQ(r.rest, r.rest)
	JZ(LabelRef(done))
	body(at, r.mask)
	Label(done)
}

// Columns writes the reductions of rows to one, column by column.
func Columns() {
	Start("addRowsAVX2", "func(y, x *float32, rows, stride, w int)", "addRowsAVX2 is AddRows of w ≤ 8 columns.")
	// y[j] += Σ_i x[i,j]
	s := newStripe("x")
	sum := s.fixed("y")
	s.run(func() { VADDPS(s.load("x"), sum, sum) })
	s.keep(sum, "y")
	Finish()

	Start("addRows32AVX2", "func(y, x *float32, rows, stride int)", "addRows32AVX2 is AddRows of 32 columns.")
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	rows, stride := Load(Param("rows"), GP64()), Load(Param("stride"), GP64())
	SHLQ(Imm(2), stride)
	// The sums stay in registers over all rows.
	var acc [4]Vec
	for i := range acc {
		acc[i] = Get(Mem{Base: y, Disp: 32 * i})
	}
	again := Fresh("row")
	Label(again)
	for i := range acc {
		VADDPS(Mem{Base: x, Disp: 32 * i}, acc[i], acc[i])
	}
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef(again))
	for i := range acc {
		VMOVUPS(acc[i], Mem{Base: y, Disp: 32 * i})
	}
	Finish()

	for _, k := range []struct {
		name   string
		better uint64
	}{{"most", Greater}, {"least", Less}} {
		Start(k.name+"RowsAVX2", "func(best *float32, arg *int32, x *float32, rows, stride, w, from int)", k.name+"RowsAVX2 is BestRows of w ≤ 8 columns.")
		s := newStripe("x")
		best, arg := s.fixed("best"), s.fixed("arg")
		// The number of the row, in all lanes, counts up.
		number, one := YMM(), Wide(1)
		first := XMM()
		VMOVD(Arg("from").As32(), first)
		VPBROADCASTD(first, number)
		s.run(func() {
			// Better, or the first NaN, or the first of all: take the element and the number.
			v := s.load("x")
			nan := AndNot(Compare(Unorder, best, best), Compare(Unorder, v, v))
			take := Or(Or(Compare(k.better, v, best), nan), arg) // what has no winner yet has the sign bit set
			VBLENDVPS(take, v, best, best)
			VBLENDVPS(take, number, arg, arg)
			VPADDD(one, number, number)
		})
		s.keep(best, "best")
		s.keep(arg, "arg")
		Finish()
	}
}
