//go:build goexperiment.simd && !wasm && !noasm && !f64

package four

// sums are the sums of the elements of four vectors, each in pairs.
func sums(a, b, c, d vec) vec {
	return a.ConcatAddPairs(b).ConcatAddPairs(c.ConcatAddPairs(d))
}

// turned are the columns of four rows.
func turned(a, b, c, d vec) (w, x, y, z vec) {
	lo, hi := a.ToBits().InterleaveLo(c.ToBits()), a.ToBits().InterleaveHi(c.ToBits())
	lo2, hi2 := b.ToBits().InterleaveLo(d.ToBits()), b.ToBits().InterleaveHi(d.ToBits())
	return lo.InterleaveLo(lo2).BitsToFloat32(), lo.InterleaveHi(lo2).BitsToFloat32(), hi.InterleaveLo(hi2).BitsToFloat32(), hi.InterleaveHi(hi2).BitsToFloat32()
}

// fused is a + x·b, rounded once.
func fused(a, x, b vec) vec { return x.MulAdd(b, a) }
