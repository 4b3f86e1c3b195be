package attend

import (
	"fmt"
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// storeStream16 is StoreStream of a row in four registers of AVX-512.
func storeStream16(stream Mem, v row16, row reg.Register) {
	EitherWay(stream, func(move func(x, to Op)) {
		for k, x := range v {
			move(x, Quad(row, k))
		}
	})
}

// inverse16 is one over sums, or 0 where these are.
func inverse16(sum reg.Register) Vec {
	inverse, some := ZMM(), K()
	VCMPPS_BCST(Imm(Unequal), Num(0), sum, some)
	VBROADCASTSS(Num(1), inverse)
	VDIVPS(sum, inverse, inverse)
	VMOVAPS_Z(inverse, some, inverse)
	return inverse
}

// divided16 multiplies a row with numbers of its heads, adds what is in memory and stores it as
// a destination's.
func divided16(s Args, row row16, numbers Vec, added func(k int) Op) {
	for k, x := range row {
		VMULPS(toLanes(numbers, GetZ(headsOf(k))), x, x)
		VADDPS(added(k), x, x)
	}
	storeStream16(s.Field("stream"), row, s.Word("Y"))
}

// Rows of eight heads of eight elements in four registers of AVX-512, two heads in
// each. The numbers of the heads of two edges stand in one register, those of the
// first edge in the lower half: of each the heads 0, 2, 4, 6, 1, 3, 5, 7, which is how
// sums of elements come out.

// quads is how many registers a row has.
const quads = 4

// laneOf is where the number of a head stands.
func laneOf(head int) int { return head/2 + head%2*4 }

// headAt is the head whose number stands in a lane.
func headAt(lane int) int { return lane%4*2 + lane/4 }

// sixteen returns the memory of 16 numbers.
func sixteen(name string, f func(i int) uint32) Mem {
	m, ok := sixteens[name]
	if !ok {
		m = GLOBL(name, 24) // RODATA | NOPTR
		for i := range 16 {
			DATA(4*i, U32(f(i)))
		}
		sixteens[name] = m
	}
	return m
}

var sixteens = map[string]Mem{}

// row16 is a row in registers.
type row16 = [quads]reg.Register

// longLived are registers for what stays through a loop: instructions that are not of
// AVX-512 cannot name them, and the others are left to what comes and goes.
var longLived = []reg.VecPhysical{
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

// longLivedSet hands these out.
type longLivedSet struct{ used int }

func (k *longLivedSet) one() reg.VecPhysical {
	k.used++
	return longLived[k.used-1]
}

// four returns those of a row.
func (k *longLivedSet) four() (row row16) {
	for i := range row {
		row[i] = k.one()
	}
	return row
}

// everywhere has a number in all lanes.
func (k *longLivedSet) everywhere(m Mem) reg.Register {
	v := k.one()
	VBROADCASTSS(m, v)
	return v
}

// headsOf are the places from which the numbers of an edge's heads are brought to the
// lanes of the elements in register i.
func headsOf(i int) Mem {
	return sixteen(fmt.Sprint("headsOf", i), func(lane int) uint32 { return uint32(laneOf(2*i + lane/8)) })
}

// inLanes brings eight numbers in the order of the heads to that of the lanes.
func inLanes(x Vec) Vec {
	order, v := GetZ(sixteen("lanesOfHeads", func(i int) uint32 { return uint32(headAt(i % 8)) })), ZMM()
	VPERMPS(x.AsZ(), order, v)
	return v
}

// inHeads is the opposite, of the first eight.
func inHeads(x Vec) Vec {
	order, v := GetZ(sixteen("headsOfLanes", func(i int) uint32 { return uint32(laneOf(i % 8)) })), ZMM()
	VPERMPS(x, order, v)
	return v
}

func addZ(x, m Op) Vec { v := ZMM(); VADDPS(m, x, v); return v }

func mulZ(x, m Op) Vec { v := ZMM(); VMULPS(m, x, v); return v }

// loadRow loads a row.
func loadRow(base reg.Register, row row16) {
	for k := range row {
		VMOVUPS(Quad(base, k), row[k])
	}
}

func zeroRow(row row16) {
	for _, x := range row {
		VPXORD(x, x, x)
	}
}

// toLanes brings the numbers of heads to the lanes of elements.
func toLanes(x, index reg.Register) Vec {
	v := ZMM()
	VPERMPS(x, index, v)
	return v
}

// folded adds up what two instructions take of x and y.
func folded(x, y Vec, low, high func(x, y, to Vec)) Vec {
	a, b := ZMM(), ZMM()
	low(x, y, a)
	high(x, y, b)
	VADDPS(a, b, b)
	return b
}

// quarters sums fours of each register's lanes: those of the heads 2k and 2k+1 are two
// lanes each, of the registers one after the other.
func quarters(p [quads]Vec) Vec {
	singles := func(x, y Vec) Vec {
		return folded(x, y, func(x, y, to Vec) { VUNPCKLPS(y, x, to) }, func(x, y, to Vec) { VUNPCKHPS(y, x, to) })
	}
	return folded(singles(p[0], p[1]), singles(p[2], p[3]),
		func(x, y, to Vec) { VUNPCKLPD(y, x, to) }, func(x, y, to Vec) { VUNPCKHPD(y, x, to) })
}

// pairTotals are the sums of each head's elements of two edges, of whose quarters.
func pairTotals(one, two Vec) Vec {
	return folded(one, two, func(x, y, to Vec) { VSHUFF32X4(Imm(0x88), y, x, to) }, func(x, y, to Vec) { VSHUFF32X4(Imm(0xdd), y, x, to) })
}

// exp16 is eˣ of x between −87 and 44 or NaN, by fewer steps one after another than
// exp takes.
func exp16(x Vec) Vec {
	t, n, r := ZMM(), ZMM(), ZMM()
	// x = n·log 2 + r, with |r| at most half of log 2.
	VMULPS_BCST(Num(math.Log2E), x, t)
	VRNDSCALEPS(Imm(0), t, n)
	VMOVAPS(x, r)
	VFNMADD231PS_BCST(Num(0.693359375), n, r)
	VFNMADD231PS_BCST(Num(-2.12194440e-4), n, r)
	// The polynomial of r, in pairs of terms.
	c, square := Exponential, mulZ(r, r)
	line := func(slope, at float64) Vec { // slope·r + at
		v := ZMM()
		VBROADCASTSS(Num(slope), v)
		VFMADD213PS_BCST(Num(at), r, v)
		return v
	}
	p := line(c[1], c[2])
	VFMADD231PS_BCST(Num(c[0]), square, p)
	VFMADD213PS(line(c[3], c[4]), square, p)
	// 1 + r + r²·p, times 2ⁿ.
	e := ZMM()
	VADDPS_BCST(Num(1), r, e)
	VFMADD231PS(square, p, e)
	VSCALEFPS(n, e, e)
	return e
}
