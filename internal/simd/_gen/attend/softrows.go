package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// SoftRows writes the kernels of SoftRows, for eight lanes and for sixteen.
func SoftRows() {
	for _, wide := range []bool{false, true} {
		newSoftRows("softLargest", "Largest", wide).largest()
		newSoftRows("softAdd", "Add", wide).add()
		newSoftRows("softWeigh", "Weigh", wide).weigh()
		if !wide { // each sum is of eight lanes
			newSoftRows("softDots", "Dots", wide).dots()
		}
		newSoftRows("softSlopes", "Slopes", wide).slopes()
	}
}

// softRows is a kernel on SoftRows, in registers of eight lanes or, if wide, of sixteen.
type softRows struct {
	Args
	wide bool
	const16
	stats reg.GPVirtual // bytes from a row's statistics to the next's
}

// const16 are constants in all lanes of wide registers, by their bits.
type const16 map[uint32]Vec

func newSoftRows(name, method string, wide bool) *softRows {
	if wide {
		name += "512"
	}
	s := &softRows{Args: StartOn("SoftRows", name, "", name+" is SoftRows."+method+"."), wide: wide, const16: const16{}}
	s.stats = s.Word("Each")
	SHLQ(Imm(2), s.stats)
	return s
}

// register is one of the kernel's width.
func (s *softRows) register() Vec {
	if s.wide {
		return ZMM()
	}
	return YMM()
}

// lanes is how many that holds.
func (s *softRows) lanes() int {
	if s.wide {
		return 2 * Lanes
	}
	return Lanes
}

// broadcast loads a number into all lanes.
func (s *softRows) broadcast(at Mem) Vec {
	v := s.register()
	VBROADCASTSS(at, v)
	return v
}

// get loads a register.
func (s *softRows) get(at Mem) Vec {
	v := s.register()
	VMOVUPS(at, v)
	return v
}

// hold loads constants, before the loop.
func (s *softRows) hold(numbers ...float64) {
	for _, x := range numbers {
		bits := math.Float32bits(float32(x))
		if s.const16[bits] == nil {
			s.const16[bits] = s.broadcast(Wide(bits))
		}
	}
}

// number is a constant: in memory or, of wide registers, one that hold has loaded.
func (s *softRows) number(x float64) Op {
	if !s.wide {
		return Num(x)
	}
	v := s.const16[math.Float32bits(float32(x))]
	if v == nil {
		panic("a constant that is not held")
	}
	return v
}

// rows writes the loop over the rows of some arrays; the body is given where they begin.
func (s *softRows) rows(arrays, stats []string, body func(at map[string]reg.GPVirtual)) {
	at, stride, n := map[string]reg.GPVirtual{}, s.Word("Stride"), s.Word("Rows")
	SHLQ(Imm(2), stride)
	for _, name := range append(append([]string(nil), arrays...), stats...) {
		at[name] = s.Word(name)
	}
	again := Fresh("row")
	Label(again)
	body(at)
	for _, name := range arrays {
		ADDQ(stride, at[name])
	}
	for _, name := range stats {
		ADDQ(s.stats, at[name])
	}
	DECQ(n)
	JNZ(LabelRef(again))
	Finish()
}

// pieces writes the loop over a row, 64 elements at a time; the body is given where a
// register of an array stands and its number in the piece.
func (s *softRows) pieces(at map[string]reg.GPVirtual, body func(place func(array string) Mem, k int), after func()) {
	i, n, again := GP64(), s.Word("Width"), Fresh("piece")
	XORQ(i, i)
	Label(again)
	for k := range 64 / s.lanes() {
		body(func(array string) Mem {
			return Mem{Base: at[array], Index: i, Scale: 4, Disp: 4 * s.lanes() * k}
		}, k)
	}
	if after != nil {
		after()
	}
	ADDQ(Imm(64), i)
	CMPQ(i, n)
	JL(LabelRef(again))
}

// exponential is what holds for weigh.
func (s *softRows) exponential() {
	if s.wide {
		s.hold(math.Log2E, shifter, -0.693359375, -2.12194440e-4, leastWeight, leastWeight-1, 1, 0x1p-64, math.Inf(-1))
		s.hold(Exponential...)
		bits := uint32(127+64) << 23
		s.const16[bits] = s.broadcast(Wide(bits))
	}
}

// shifter is that of asm's exponential.
const shifter = 0x1.8p23

// leastWeight is the difference below which a weight is 0: e to it is 2⁻¹⁰⁰.
const leastWeight = -69.31472

// weight is exp(x − top) of x ≤ top, or 0 if that is less than 2⁻¹⁰⁰. The exponential of what
// weighs nothing is that of a difference near leastWeight: a subnormal number would take long.
func (s *softRows) weight(x, top Vec) Vec {
	if !s.wide {
		d := AndNot(Compare(Equal, x, top), Sub(x, top))
		none := Or(Compare(Equal, x, Num(math.Inf(-1))), Compare(Less, d, Num(leastWeight)))
		return AndNot(none, ExpDown(Higher(Get(Num(leastWeight-1)), d)))
	}
	differs, real, some := K(), K(), K()
	d := ZMM()
	VCMPPS(Imm(Unequal), top, x, differs)
	VSUBPS_Z(top, x, differs, d)
	VCMPPS(Imm(Unequal), s.number(math.Inf(-1)), x, real)
	VCMPPS(Imm(NotLess), s.number(leastWeight), d, real, some)
	// As ExpDown.
	z := ZMM()
	VMAXPS(d, s.number(leastWeight-1).(Vec), z)
	t := ZMM()
	VMOVAPS(s.number(math.Log2E), t)
	VFMADD213PS(s.number(shifter), z, t)
	n, r := ZMM(), ZMM()
	VSUBPS(s.number(shifter), t, n)
	VMOVAPS(s.number(-0.693359375), r)
	VFMADD213PS(z, n, r)
	VFNMADD231PS(s.number(-2.12194440e-4), n, r)
	p := ZMM()
	VMOVAPS(s.number(Exponential[0]), p)
	for _, c := range append(append([]float64(nil), Exponential[1:]...), 1, 1) {
		VFMADD213PS(s.number(c), r, p)
	}
	power := ZMM()
	VPSLLD(Imm(23), t, power)
	VPADDD(s.const16[uint32(127+64)<<23], power, power)
	VMULPS(power, p, p)
	VMULPS_Z(s.number(0x1p-64), p, some, p)
	return p
}

// largest keeps the largest element of each row in four registers or, of sixteen lanes, in two.
func (s *softRows) largest() {
	most, scale := s.Word("Most"), s.broadcast(s.Field("Scale"))
	s.rows([]string{"X"}, nil, func(at map[string]reg.GPVirtual) {
		// max X, and whether there is a NaN
		acc := make([]Vec, 4*Lanes/s.lanes())
		for k := range acc {
			acc[k] = s.broadcast(Wide(math.Float32bits(float32(math.Inf(-1)))))
		}
		var before Vec
		nans, some := K(), K()
		nan := YMM()
		if s.wide {
			KXORW(nans, nans, nans)
		} else {
			VXORPS(nan, nan, nan)
		}
		s.pieces(at, func(place func(string) Mem, k int) {
			x := s.get(place("X"))
			if k%2 == 0 {
				before = x
			} else if s.wide { // of either
				VCMPPS(Imm(Unorder), before, x, some)
				KORW(some, nans, nans)
			} else {
				VORPS(Compare(Unorder, before, x), nan, nan)
			}
			VMAXPS(x, acc[k%len(acc)], acc[k%len(acc)])
		}, nil)
		// Most = those·Scale, or a NaN
		v := YMM()
		if s.wide {
			VMAXPS(acc[0], acc[1], acc[0])
			VEXTRACTF32X8(Imm(1), acc[0], v)
			VMAXPS(acc[0].AsY(), v, v)
		} else {
			v = Higher(Higher(acc[0], acc[1]), Higher(acc[2], acc[3]))
		}
		half := XMM()
		VEXTRACTF128(Imm(1), v, half)
		VMAXPS(half, v.AsX(), half)
		for _, order := range []uint64{0x4e, 0xb1} {
			turned := XMM()
			VPERMILPS(Imm(order), half, turned)
			VMAXPS(turned, half, half)
		}
		VMULSS(scale.AsX(), half, half)
		VMOVSS(half, Mem{Base: most})
		bits, real := GP32(), Fresh("real")
		if s.wide {
			KMOVW(nans, bits)
		} else {
			VMOVMSKPS(nan, bits)
		}
		TESTL(bits, bits)
		JZ(LabelRef(real))
		MOVL(Imm(0x7fc00000), Mem{Base: most})
		Label(real)
		ADDQ(Imm(4), most)
	})
}

func (s *softRows) add() {
	s.exponential()
	scale := s.broadcast(s.Field("Scale"))
	s.rows([]string{"X"}, []string{"Top", "Sum"}, func(at map[string]reg.GPVirtual) {
		// X = Weigh(X·Scale, Top), and four sums of eight lanes
		top := s.broadcast(Mem{Base: at["Top"]})
		acc := make([]Vec, 4*Lanes/s.lanes())
		for k := range acc {
			acc[k] = s.register()
			if s.wide {
				VPXORD(acc[k], acc[k], acc[k])
			} else {
				VXORPS(acc[k], acc[k], acc[k])
			}
		}
		s.pieces(at, func(place func(string) Mem, k int) {
			x := s.get(place("X"))
			VMULPS(scale, x, x)
			e := s.weight(x, top)
			VADDPS(e, acc[k%len(acc)], acc[k%len(acc)])
			VMOVUPS(e, place("X"))
		}, nil)
		// Sum += those, combined as vec.Sum does
		var halves []Vec
		for _, a := range acc {
			if s.wide {
				high := YMM()
				VEXTRACTF32X8(Imm(1), a, high)
				low := YMM()
				VMOVAPS(a.AsY(), low)
				VADDPS(high, low, low)
				halves = append(halves, low)
			}
		}
		if !s.wide {
			halves = []Vec{Add(acc[0], acc[1]), Add(acc[2], acc[3])}
		}
		v := Add(halves[0], halves[1])
		high := YMM()
		if s.wide {
			VSHUFF32X4(Imm(1), v, v, high)
		} else {
			VPERM2F128(Imm(1), v, v, high)
		}
		v = Add(v, high)
		for _, order := range []uint64{0x4e, 0xb1} {
			turned := YMM()
			VPERMILPS(Imm(order), v, turned)
			v = Add(v, turned)
		}
		x := XMM()
		VMOVSS(Mem{Base: at["Sum"]}, x)
		VADDSS(v.AsX(), x, x)
		VMOVSS(x, Mem{Base: at["Sum"]})
	})
}

func (s *softRows) weigh() {
	s.exponential()
	scale := s.broadcast(s.Field("Scale"))
	s.rows([]string{"X"}, []string{"Top", "Sum"}, func(at map[string]reg.GPVirtual) {
		top, sum := s.broadcast(Mem{Base: at["Top"]}), s.broadcast(Mem{Base: at["Sum"]})
		// 1 for a sum of 0
		if s.wide {
			none, zero := K(), ZMM()
			VPXORD(zero, zero, zero)
			VCMPPS(Imm(Equal), zero, sum, none)
			VMOVAPS(s.number(1), none, sum)
		} else {
			sum = Pick(Compare(Equal, sum, Num(0)), Get(Num(1)), sum)
		}
		// X = Weigh(X·Scale, Top)/Sum
		s.pieces(at, func(place func(string) Mem, k int) {
			x := s.get(place("X"))
			VMULPS(scale, x, x)
			e := s.weight(x, top)
			VDIVPS(sum, e, e)
			VMOVUPS(e, place("X"))
		}, nil)
	})
}

// kept writes a kernel twice: with Kept, and without.
func (s *softRows) kept(body func(arrays []string, kept bool)) {
	none := Fresh("nothing")
	CMPQ(s.Field("Kept"), Imm(0))
	JE(LabelRef(none))
	body([]string{"X", "G", "Kept"}, true)
	Label(none)
	body([]string{"X", "G"}, false)
}

func (s *softRows) dots() {
	s.kept(func(arrays []string, kept bool) {
		s.rows(arrays, []string{"Center"}, func(at map[string]reg.GPVirtual) {
			var acc Vec
			s.pieces(at, func(place func(string) Mem, k int) {
				// G = G·Kept, and X·G
				g := s.get(place("G"))
				if kept {
					VMULPS(place("Kept"), g, g)
					VMOVUPS(g, place("G"))
				}
				if k == 0 {
					acc = YMM()
					VXORPS(acc, acc, acc)
				}
				VFMADD231PS(place("X"), g, acc)
			}, func() {
				// Center += their sum
				total := Across(acc)
				VADDSS(Mem{Base: at["Center"]}, total, total)
				VMOVSS(total, Mem{Base: at["Center"]})
			})
		})
	})
}

func (s *softRows) slopes() {
	scale := s.broadcast(s.Field("Scale"))
	s.kept(func(arrays []string, kept bool) {
		s.rows(arrays, []string{"Center"}, func(at map[string]reg.GPVirtual) {
			center := s.broadcast(Mem{Base: at["Center"]})
			s.pieces(at, func(place func(string) Mem, k int) {
				// G = (G − Center)·X·Scale, and X = X·Kept
				g, x := s.get(place("G")), s.get(place("X"))
				VSUBPS(center, g, g)
				VMULPS(x, g, g)
				VMULPS(scale, g, g)
				VMOVUPS(g, place("G"))
				if kept {
					VMULPS(place("Kept"), x, x)
					VMOVUPS(x, place("X"))
				}
			}, nil)
		})
	})
}
