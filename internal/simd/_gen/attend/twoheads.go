package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// attendTwo writes NodeExpAttention.Attend of two heads of eight elements. The powers of
// both stand in one register, up and then down, of the destination and of each column.
//
//	p[e,h] = max(up[r,h]·Far[Cols[e],0,h], down[r,h]·Far[Cols[e],1,h])
//	Y[r,h,:] = Σ_e p·X[Cols[e],h,:] / Σ_e p + Bias[h,:]
func (s *nodeExp) attendTwo() {
	at := places{"Far": s.Word("Far"), "X": s.Word("X")}
	acc, sum, powers := make([]Vec, 2), make([]Vec, 1), YMM()
	first := func() {
		zero(acc)
		zero(sum)
		VMOVUPS(Mem{Base: s.Word("Rec")}, powers.AsX())
	}
	edge := func() {
		s.ask(at, table{base: "X", stride: "XStride", lines: 1}, table{base: "Far", stride: "FarStride", lines: 1})
		// The exponential of the logit: the larger of two products.
		u := s.column()
		p, down := YMM(), YMM()
		VMULPS(s.of(at, u, "Far", "FarStride"), powers.AsX(), p.AsX())
		VMOVHLPS(p.AsX(), p.AsX(), down.AsX())
		VMAXPS(down.AsX(), p.AsX(), p.AsX())
		VADDPS(p.AsX(), sum[0].AsX(), sum[0].AsX())
		// Multiply-accumulate the column's row, each head by its weight.
		x := s.of(at, u, "X", "XStride")
		for h, f := range toBoth(p) {
			VFMADD231PS(x.Offset(32*h), f, acc[h])
		}
	}
	last := func() {
		rec := s.Word("Rec")
		// One over the sum, or 0 of a row without edges; the record becomes the softmax's.
		inverse, twice := Div(Get(Num(1)), sum[0]), YMM()
		inverse = AndNot(Compare(Equal, sum[0], Num(0)), inverse) // of a row without edges
		VMOVLHPS(inverse.AsX(), inverse.AsX(), twice.AsX())
		VMULPS(twice.AsX(), powers.AsX(), powers.AsX())
		VMOVUPS(powers.AsX(), Mem{Base: rec})
		// Divide, add the bias, store.
		for h, f := range toBoth(inverse) {
			VMULPS(f, acc[h], acc[h])
			VADDPS(s.Field("room").Offset(32*h), acc[h], acc[h])
		}
		s.put(acc)
		s.further("Rec", "RecStride")
		s.further("Y", "YStride")
	}
	s.each(first, edge, last)
	FenceStream(s.Field("stream"))
	Finish()
}

// toBoth returns the first lane in all lanes, and the second.
func toBoth(v Vec) [2]Vec {
	second := YMM()
	VMOVSHDUP(v.AsX(), second.AsX())
	return [2]Vec{toEvery(v), toEvery(second)}
}
