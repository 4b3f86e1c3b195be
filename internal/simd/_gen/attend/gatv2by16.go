package attend

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gatv2By16 takes rows in registers of sixteen lanes, two heads in each, and two edges
// at a time: of the numbers of heads the first edge has the lower half of a register and
// the second the upper.
type gatv2By16 struct {
	*gatv2
	rowA, rowV  row16
	slope, most reg.Register
	sum         reg.Register // of weights or, backward, Σ α·dα
	acc         row16        // the row of the result
	r, work     reg.GPVirtual
	bothSums    Vec // the sums of weights, of both edges
}

// gradientsAt is where the gradients of the weights stand in GATv2Walk.Work, behind the
// weights.
func gradientsAt() int { return 4 * Lanes * (ConstantOf("GATv2Most") + 1) }

// pairs writes a loop over the destination's edges, two at a time: the body gets the row
// of the second, and the mask of the lanes of those that there are. The last edge of an
// odd number comes with itself.
func (s *gatv2By16) pairs(body func(second reg.GPVirtual, both reg.OpmaskVirtual)) {
	again := Fresh("pair")
	next, bits, two, both := GP64(), GP64(), GP64(), K()
	Label(again)
	s.source(s.k, s.u)
	// The second edge or, where there is none, the first again and only its lanes.
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

// terms16 are the products of a score's elements, of a source's row.
func terms16(x [quads]Vec, v, a row16, slope reg.Register) (terms [quads]Vec) {
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

// spread16 brings the numbers of an edge's heads, the first or the second, to the lanes
// of their elements.
func spread16(p Vec, edge int) (row [quads]Vec) {
	halves := ZMM()
	VSHUFF32X4(Imm(uint64(0x50+0xaa*edge)), p, p, halves)
	for k := range row {
		row[k] = ZMM()
		VPERMILPS(Imm(uint64(0x55*k)), halves, row[k])
	}
	return row
}

// track takes scores into the largest magnitude.
func (s *gatv2By16) track(z Vec) {
	large := ZMM()
	VPANDD_BCST(Wide(^uint32(SignBit)), z, large)
	VPMAXUD(large, s.most, s.most)
}

func (s *gatv2By16) allInRange(stop string) {
	overflow, bits := K(), GP32()
	VPCMPGTD_BCST(Wide(math.Float32bits(float32(ConstantOf("GATv2InRange")))), s.most, overflow)
	KMOVW(overflow, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(stop))
}

func (s *gatv2By16) open() {
	var kept longLivedSet
	s.rowA, s.rowV, s.slope = kept.four(), kept.four(), kept.everywhere(s.Field("slope"))
	s.sum, s.most = kept.one(), kept.one()
	loadRow(s.a, s.rowA)
}

func (s *gatv2By16) start() {
	if s.acc[0] == nil {
		s.acc = row16{ZMM(), ZMM(), ZMM(), ZMM()}
	}
	zeroRow(s.acc)
	loadRow(s.v, s.rowV)
	VPXORD(s.sum, s.sum, s.sum)
	VPXORD(s.most, s.most, s.most)
}

func (s *gatv2By16) attendEdges() {
	s.pairs(func(second reg.GPVirtual, both reg.OpmaskVirtual) {
		// The scores: multiply LeakyReLU of the ends by A, and sum over each head.
		var x [2][quads]Vec
		var quarter [2]Vec
		for e, u := range []reg.GPVirtual{s.u, second} {
			x[e] = getRow(u)
			quarter[e] = quarters(terms16(x[e], s.rowV, s.rowA, s.slope))
		}
		z := pairTotals(quarter[0], quarter[1])
		s.track(z)
		// The weights, 0 for an edge that is not there, and their sum.
		p := exp16(z)
		VMOVAPS_Z(p, both, p)
		VADDPS(p, s.sum, s.sum)
		// The sources' rows times the weights.
		for e := range x {
			for k, w := range spread16(p, e) {
				VFMADD231PS(x[e][k], w, s.acc[k])
			}
		}
	})
}

func (s *gatv2By16) result() {
	// The sum of first and second edges' weights; one over it, or 0 where there are none.
	other, whole := ZMM(), ZMM()
	VSHUFF32X4(Imm(0x4e), s.sum, s.sum, other)
	VADDPS(other, s.sum, whole)
	inverse := inverse16(whole)
	// The statistics: the sum, and 0 for the largest score.
	VMOVUPS(inHeads(whole).AsY(), Mem{Base: s.Word("Sum")})
	none := YMM()
	VXORPS(none, none, none)
	VMOVUPS(none, Mem{Base: s.Word("Top")})
	divided16(s.Args, s.acc, inverse, func(k int) Op { return s.Field("add").Offset(64 * k) })
	ADDQ(U32(256), s.Field("Y"))
}

func (s *gatv2By16) startBack() {
	loadRow(s.v, s.rowV)
	s.work, s.r = s.Word("Work"), s.Word("R")
	VPXORD(s.sum, s.sum, s.sum)
	VPXORD(s.most, s.most, s.most)
	s.bothSums = twice(Get(Mem{Base: s.Word("Sum")}))
}

func (s *gatv2By16) weighEdges() {
	s.pairs(func(second reg.GPVirtual, both reg.OpmaskVirtual) {
		// The scores again, and the products of the rows with the gradient of the result.
		var quarter, dot [2]Vec
		for e, u := range []reg.GPVirtual{s.u, second} {
			x := getRow(u)
			quarter[e] = quarters(terms16(x, s.rowV, s.rowA, s.slope))
			for k := range x {
				VMULPS(Quad(s.r, k), x[k], x[k])
			}
			dot[e] = quarters(x)
		}
		z, g := pairTotals(quarter[0], quarter[1]), pairTotals(dot[0], dot[1])
		s.track(z)
		// The softmax and its gradient, 0 for an edge that is not there, to Work; their
		// product to the sum.
		alpha := exp16(z)
		VDIVPS(s.bothSums, alpha, alpha) // so that a single weight is 1
		VMOVAPS_Z(alpha, both, alpha)
		VMOVAPS_Z(g, both, g) // 0·∞ else
		VMOVUPS(alpha, Mem{Base: s.work})
		VMOVUPS(g, Mem{Base: s.work, Disp: gradientsAt()})
		ADDQ(Imm(64), s.work)
		VFMADD231PS(g, alpha, s.sum)
	})
}

func (s *gatv2By16) grads() {
	// Of first and second edges.
	other := ZMM()
	VSHUFF32X4(Imm(0x4e), s.sum, s.sum, other)
	VADDPS(other, s.sum, s.sum)
	s.back()
}

// twice has the numbers of eight heads for two edges.
func twice(x Vec) Vec {
	v := inLanes(x)
	VSHUFF32X4(Imm(0x44), v, v, v)
	return v
}

// back adds up the gradients of the ends over the destination's edges, and writes
// what is kept of each.
func (s *gatv2By16) back() {
	sum := row16{ZMM(), ZMM(), ZMM(), ZMM()}
	zeroRow(sum)
	da := row16{ZMM(), ZMM(), ZMM(), ZMM()}
	loadRow(s.Word("DA"), da)
	// Back to the first edge.
	MOVQ(Mem{Base: s.Word("Offsets")}, s.k)
	at, place := s.Word("Work"), s.Word("Places")
	none := ZMM()
	VPXORD(none, none, none)
	var index row16
	for k := range index {
		index[k] = GetZ(headsOf(k))
	}
	pairs := GetZ(sixteen("pairsOf", func(i int) uint32 { return uint32(laneOf(i/2) + i%2*16) }))
	s.edges(func() {
		// Where the edge's signs and pairs go.
		to, signs := GP64(), GP64()
		MOVLQSX(Mem{Base: place}, to)
		ADDQ(Imm(4), place)
		MOVQ(s.Field("Signs"), signs)
		LEAQ(Mem{Base: signs, Index: to, Scale: 8}, signs)
		SHLQ(Imm(6), to)
		ADDQ(s.Field("Z"), to)
		// ds = α·(dα − Σ α·dα).
		alpha, d := YMM(), YMM()
		VMOVUPS(Mem{Base: at}, alpha)
		VMOVUPS(Mem{Base: at, Disp: gradientsAt()}, d)
		VSUBPS(s.sum.(reg.VecPhysical).AsY(), d, d)
		VMULPS(alpha, d, d)
		ADDQ(Imm(32), at)
		// The pairs (ds, α) of the eight heads, in order.
		both := ZMM()
		VMOVAPS(d.AsZ(), both)
		VPERMT2PS(alpha.AsZ(), pairs, both)
		VMOVUPS(both, Mem{Base: to})
		// Of each element ds times the slope, summed for the destination and, times the
		// sum of the ends, for A; and its bit.
		for k := range sum {
			z, low := addZ(s.rowV[k], Quad(s.u, k)), K()
			VCMPPS(Imm(NotGreater), none, z, low)
			q := toLanes(d.AsZ(), index[k])
			VMULPS(s.slope, q, low, q)
			VADDPS(q, sum[k], sum[k])
			VFMADD231PS(z, q, da[k])
			KNOTW(low, low)
			KMOVW(low, Mem{Base: signs, Disp: 2 * k})
		}
	})
	// Store: DA as it has become, DV with its sums times A.
	grads, dv := s.Word("DA"), s.Word("DV")
	for k := range sum {
		VMOVUPS(da[k], Quad(grads, k))
		x := GetZ(Quad(dv, k))
		VFMADD231PS(Quad(s.a, k), sum[k], x)
		VMOVUPS(x, Quad(dv, k))
	}
	MOVQ(place, s.Field("Places"))
}
