package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// GATv2For512 writes the kernels of GATv2Walk for AVX-512.
func GATv2For512() {
	newGATv2("gatv2Attend512", "GATv2Walk.Attend").attend512()
	newGATv2("gatv2Retrace512", "GATv2Walk.Retrace").retrace512()
}

// gradientsAt is where the gradients of the weights stand in GATv2Walk.Work, behind the
// weights.
func gradientsAt() int { return 4 * Lanes * (ConstantOf("GATv2Most") + 1) }

// pairs writes a loop over the destination's edges, two at a time: the body gets the row
// of the second, and the mask of the lanes of those that there are. The last edge of an
// odd number comes with itself.
func (s *gatv2) pairs(body func(second reg.GPVirtual, both reg.OpmaskVirtual)) {
	again := Fresh("pair")
	next, bits, two, both := GP64(), GP64(), GP64(), K()
	Label(again)
	s.source(s.k, s.u)
	MOVQ(U32(0xffff), bits)
	LEAQ(Mem{Base: s.k, Disp: 1}, next)
	CMPQ(next, s.end)
	CMOVQGE(s.k, next)
	MOVQ(U32(0xff), two)
	CMOVQGE(two, bits)
	KMOVW(bits.As32(), both)
	s.source(next, two)
	s.fetch(2)
	body(two, both)
	ADDQ(Imm(2), s.k)
	CMPQ(s.k, s.end)
	JL(LabelRef(again))
}

// terms512 are the products of a score's elements, of a source's row.
func terms512(x [quads]Vec, v, a row512, slope reg.Register) (terms [quads]Vec) {
	for k := range terms {
		z, low := addZ(v[k], x[k]), ZMM()
		VMULPS(slope, z, low)
		VMAXPS(z, low, z)
		VMULPS(a[k], z, z)
		terms[k] = z
	}
	return terms
}

// getRow loads a row to registers of its own.
func getRow(base reg.Register) (row [quads]Vec) {
	for k := range row {
		row[k] = GetZ(Quad(base, k))
	}
	return row
}

// weights brings the numbers of an edge's heads, the first or the second, to the lanes
// of their elements.
func weights(p Vec, edge int) (row [quads]Vec) {
	halves := ZMM()
	VSHUFF32X4(Imm(uint64(0x50+0xaa*edge)), p, p, halves)
	for k := range row {
		row[k] = ZMM()
		VPERMILPS(Imm(uint64(0x55*k)), halves, row[k])
	}
	return row
}

// track512 takes scores into the largest magnitude.
func track512(z Vec, most reg.Register) {
	large := ZMM()
	VPANDD_BCST(Wide(^uint32(SignBit)), z, large)
	VPMAXUD(large, most, most)
}

// allInRange512 goes to stop if a score is out of range, or NaN.
func allInRange512(most reg.Register, stop string) {
	overflow, bits := K(), GP32()
	VPCMPGTD_BCST(Wide(math.Float32bits(float32(ConstantOf("GATv2InRange")))), most, overflow)
	KMOVW(overflow, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(stop))
}

func (s *gatv2) attend512() {
	stop := Fresh("stop")
	var kept longLivedSet
	a, v, slope := kept.four(), kept.four(), kept.everywhere(s.Field("slope"))
	sum, most := kept.one(), kept.one()
	loadRow(s.a, a)
	acc := row512{ZMM(), ZMM(), ZMM(), ZMM()}
	s.rows(stop, func() {
		zeroRow(acc)
		loadRow(s.v, v)
		none := Fresh("none")
		VPXORD(sum, sum, sum)
		VPXORD(most, most, most)
		CMPQ(s.k, s.end)
		JGE(LabelRef(none))
		s.pairs(func(second reg.GPVirtual, both reg.OpmaskVirtual) {
			var x [2][quads]Vec
			var quarter [2]Vec
			for e, u := range []reg.GPVirtual{s.u, second} {
				x[e] = getRow(u)
				quarter[e] = quarters(terms512(x[e], v, a, slope))
			}
			z := pairTotals(quarter[0], quarter[1])
			track512(z, most)
			p := exp512(z)
			VMOVAPS_Z(p, both, p)
			VADDPS(p, sum, sum)
			for e := range x {
				for k, w := range weights(p, e) {
					VFMADD231PS(x[e][k], w, acc[k])
				}
			}
		})
		allInRange512(most, stop)
		Label(none)
		s.weighed512(acc, sum)
	})
	FenceStream(s.Field("stream"))
	Finish()
}

// weighed512 ends a destination: its row is divided by the sum of the weights of first
// and second edges.
func (s *gatv2) weighed512(acc row512, sum reg.Register) {
	other, whole, inverse, some := ZMM(), ZMM(), ZMM(), K()
	VSHUFF32X4(Imm(0x4e), sum, sum, other)
	VADDPS(other, sum, whole)
	VCMPPS_BCST(Imm(Unequal), Num(0), whole, some)
	VBROADCASTSS(Num(1), inverse)
	VDIVPS(whole, inverse, inverse)
	VMOVAPS_Z(inverse, some, inverse) // of a row without edges
	VMOVUPS(inHeads(whole).AsY(), Mem{Base: s.Word("Sum")})
	none := YMM()
	VXORPS(none, none, none)
	VMOVUPS(none, Mem{Base: s.Word("Top")})
	for k, x := range acc {
		VMULPS(toLanes(inverse, GetZ(headsOf(k))), x, x)
		VADDPS(s.Field("add").Offset(64*k), x, x)
	}
	storeStream512(s.Field("stream"), acc, s.Word("Y"))
	ADDQ(U32(256), s.Field("Y"))
}

func (s *gatv2) retrace512() {
	stop := Fresh("stop")
	var kept longLivedSet
	a, v, slope := kept.four(), kept.four(), kept.everywhere(s.Field("slope"))
	c, most := kept.one(), kept.one()
	loadRow(s.a, a)
	s.rows(stop, func() {
		none, unread, some := Fresh("none"), Fresh("unread"), Fresh("some")
		CMPQ(s.k, s.end)
		JGE(LabelRef(unread))
		s.ordinaryStats(stop)
		JMP(LabelRef(some))
		Label(unread)
		s.emptyRow()
		JMP(LabelRef(none))
		Label(some)
		loadRow(s.v, v)
		work, r := s.Word("Work"), s.Word("R")
		VPXORD(c, c, c)
		VPXORD(most, most, most)
		sum := twice(Get(Mem{Base: s.Word("Sum")}))
		s.pairs(func(second reg.GPVirtual, both reg.OpmaskVirtual) {
			var quarter, dot [2]Vec
			for e, u := range []reg.GPVirtual{s.u, second} {
				x := getRow(u)
				quarter[e] = quarters(terms512(x, v, a, slope))
				for k := range x {
					VMULPS(Quad(r, k), x[k], x[k])
				}
				dot[e] = quarters(x)
			}
			z, g := pairTotals(quarter[0], quarter[1]), pairTotals(dot[0], dot[1])
			track512(z, most)
			alpha := exp512(z)
			VDIVPS(sum, alpha, alpha) // so that a single weight is 1
			VMOVAPS_Z(alpha, both, alpha)
			VMOVAPS_Z(g, both, g) // 0·∞ else
			VMOVUPS(alpha, Mem{Base: work})
			VMOVUPS(g, Mem{Base: work, Disp: gradientsAt()})
			ADDQ(Imm(64), work)
			VFMADD231PS(g, alpha, c)
		})
		allInRange512(most, stop)
		s.emptyRow()
		other := ZMM()
		VSHUFF32X4(Imm(0x4e), c, c, other)
		VADDPS(other, c, c)
		s.back512(v, slope, c)
		Label(none)
		ADDQ(U32(256), s.Field("R"))
		ADDQ(U32(256), s.Field("DV"))
	})
	Finish()
}

// twice has the numbers of eight heads for two edges.
func twice(x Vec) Vec {
	v := inLanes(x)
	VSHUFF32X4(Imm(0x44), v, v, v)
	return v
}

// back512 adds up the gradients of the ends over the destination's edges, and writes
// what is kept of each.
func (s *gatv2) back512(v row512, slope reg.Register, c reg.Vec) {
	sum := row512{ZMM(), ZMM(), ZMM(), ZMM()}
	zeroRow(sum)
	da := row512{ZMM(), ZMM(), ZMM(), ZMM()}
	loadRow(s.Word("DA"), da)
	MOVQ(Mem{Base: s.Word("Offsets")}, s.k)
	at, place := s.Word("Work"), s.Word("Places")
	none := ZMM()
	VPXORD(none, none, none)
	var index row512
	for k := range index {
		index[k] = GetZ(headsOf(k))
	}
	pairs := GetZ(sixteen("pairsOf", func(i int) uint32 { return uint32(laneOf(i/2) + i%2*16) }))
	s.edges(func() {
		to, signs := GP64(), GP64()
		MOVLQSX(Mem{Base: place}, to)
		ADDQ(Imm(4), place)
		MOVQ(s.Field("Signs"), signs)
		LEAQ(Mem{Base: signs, Index: to, Scale: 8}, signs)
		SHLQ(Imm(6), to)
		ADDQ(s.Field("Z"), to)
		alpha, d := YMM(), YMM()
		VMOVUPS(Mem{Base: at}, alpha)
		VMOVUPS(Mem{Base: at, Disp: gradientsAt()}, d)
		VSUBPS(c.AsY(), d, d)
		VMULPS(alpha, d, d)
		ADDQ(Imm(32), at)
		both := ZMM()
		VMOVAPS(d.AsZ(), both)
		VPERMT2PS(alpha.AsZ(), pairs, both)
		VMOVUPS(both, Mem{Base: to})
		for k := range sum {
			z, low := addZ(v[k], Quad(s.u, k)), K()
			VCMPPS(Imm(NotGreater), none, z, low)
			q := toLanes(d.AsZ(), index[k])
			VMULPS(slope, q, low, q)
			VADDPS(q, sum[k], sum[k])
			VFMADD231PS(z, q, da[k])
			KNOTW(low, low)
			KMOVW(low, Mem{Base: signs, Disp: 2 * k})
		}
	})
	grads, dv := s.Word("DA"), s.Word("DV")
	for k := range sum {
		VMOVUPS(da[k], Quad(grads, k))
		x := GetZ(Quad(dv, k))
		VFMADD231PS(Quad(s.a, k), sum[k], x)
		VMOVUPS(x, Quad(dv, k))
	}
	MOVQ(place, s.Field("Places"))
}
