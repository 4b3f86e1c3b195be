//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// RowsBest8 sets rows of 4 to 8 columns to the largest elements of what their nonzeros name, and arg, unless that is nil, to the nonzeros that
// have them: the first ones. A NaN is larger than any number. Without set it goes on from what is there. Rows without nonzeros
// are left alone. Numbers are compared with the bits of flip turned: that of signs for the smallest. Nil cols name the rows from number 0 on.
//
//	y[i,j] = max_k x[cols[k],j]    for offsets[i], from ≤ k < offsets[i+1], to
//
//go:nosplit
func RowsBest8(y, arg, x, offsets, cols place, rows, n, xStride, yStride, from, to, set, flip int) {
	half, turn := n*4-16, archsimd.BroadcastUint32x4(uint32(flip))
	for ; rows > 0; rows-- {
		k, end := max(offset(offsets, 0), from), min(offset(offsets, 1), to)
		if k < end {
			r := unsafe.Add(x, (k-from)*xStride)
			if cols != nil {
				r = unsafe.Add(x, index(cols, k)*xStride)
			}
			a0, b0 := words(r, 0).Xor(turn).BitsToFloat32(), words(r, half).Xor(turn).BitsToFloat32()
			at0 := archsimd.BroadcastUint32x4(uint32(k))
			at1 := at0
			if set == 0 {
				a0, b0 = words(y, 0).Xor(turn).BitsToFloat32(), words(y, half).Xor(turn).BitsToFloat32()
				if arg != nil {
					at0, at1 = words(arg, 0), words(arg, half)
				}
			}
			for k += set; k < end; k++ {
				r = unsafe.Add(x, (k-from)*xStride)
				if cols != nil {
					r = unsafe.Add(x, index(cols, k)*xStride)
				}
				a, b := words(r, 0).Xor(turn).BitsToFloat32(), words(r, half).Xor(turn).BitsToFloat32()
				stay0, stay1 := a.LessEqual(a0).Or(a0.NotEqual(a0)), b.LessEqual(b0).Or(b0.NotEqual(b0))
				by := archsimd.BroadcastUint32x4(uint32(k))
				a0, b0 = a0.IfElse(stay0, a), b0.IfElse(stay1, b)
				at0, at1 = at0.IfElse(stay0, by), at1.IfElse(stay1, by)
			}
			st(a0.ToBits().Xor(turn).BitsToFloat32(), y, 0)
			st(b0.ToBits().Xor(turn).BitsToFloat32(), y, half)
			if arg != nil {
				st(at0.BitsToFloat32(), arg, 0)
				st(at1.BitsToFloat32(), arg, half)
			}
		}
		y, offsets = unsafe.Add(y, yStride), unsafe.Add(offsets, 8)
		if arg != nil {
			arg = unsafe.Add(arg, yStride)
		}
	}
}

// RowsWon8 adds to rows of 4 to 8 columns what has won of those that their nonzeros name, where rows of arg are as those of x:
//
//	y[i,j] += x[cols[k],j] if arg[cols[k],j] = edges[k]    for offsets[i], from ≤ k < offsets[i+1], to
//
//go:nosplit
func RowsWon8(y, x, arg, offsets, cols, edges place, rows, n, stride, from, to int) {
	half := n*4 - 16
	for ; rows > 0; rows-- {
		k, end := max(offset(offsets, 0), from), min(offset(offsets, 1), to)
		a, b := ld(y, 0), ld(y, half)
		for ; k < end; k++ {
			at, e := index(cols, k)*stride, archsimd.BroadcastUint32x4(bits(edges, k*4))
			r, won := unsafe.Add(x, at), unsafe.Add(arg, at)
			a = a.Add(ld(r, 0)).IfElse(words(won, 0).Equal(e), a)
			b = b.Add(ld(r, half)).IfElse(words(won, half).Equal(e), b)
		}
		st(a, y, 0)
		st(b, y, half)
		y, offsets = unsafe.Add(y, stride), unsafe.Add(offsets, 8)
	}
}
