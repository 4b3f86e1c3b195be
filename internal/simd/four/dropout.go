//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// A mask is at a place: the two keys of the hash, two words that are not used, and then, four times each, what is
// added for the columns, the bound and the scale: see Mask.

// words are four words so many bytes after p.
func words(p place, at int) archsimd.Uint32x4 {
	return archsimd.LoadUint32x4Array((*[4]uint32)(unsafe.Add(p, at)))
}

// mixed is a bijection of 32 bits, that of vec.Dropout, of which mixes does four.
func mixed(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

func mixes(x archsimd.Uint32x4, first, second archsimd.Uint32x4) archsimd.Uint32x4 {
	x = x.Xor(x.ShiftAllRight(16)).Mul(first)
	x = x.Xor(x.ShiftAllRight(15)).Mul(second)
	return x.Xor(x.ShiftAllRight(16))
}

// Factors sets what the mask has for four columns of n rows: the scale where it keeps them, and else 0. The rows are perm[0],
// perm[1] and so on, or where perm is nil first, first+1 and so on.
//
//go:nosplit
func Factors(to, perm, drop place, n, first int) {
	lanes, below, scale, by, with := words(drop, 16), words(drop, 32), ld(drop, 48), words(drop, 64), words(drop, 80)
	k0, k1 := bits(drop, 0), bits(drop, 4)
	for i := 0; i < n; i++ {
		row := first + i
		if perm != nil {
			row = index(perm, i)
		}
		h := mixes(archsimd.BroadcastUint32x4(mixed(uint32(row)+k0)^k1).Add(lanes), by, with)
		st(scale.Masked(h.GreaterEqual(below)), to, 0)
		to = on(to)
	}
}

// DropRows sets rows of n columns, whose numbers count from row, to what the mask keeps of src, scaled; with add it adds
// that. dst may be src.
//
//go:nosplit
func DropRows(dst, src, drop place, rows, n, dstStride, srcStride, row, add int) {
	below, scale, step, first, second := words(drop, 32), ld(drop, 48), words(drop, 96), words(drop, 64), words(drop, 80)
	for ; rows > 0; rows-- {
		to, from, j := dst, src, n
		at := archsimd.BroadcastUint32x4(mixed(uint32(row)+bits(drop, 0)) ^ bits(drop, 4)).Add(words(drop, 16))
		for ; j >= 4; j -= 4 {
			v := ld(from, 0).Mul(scale).Masked(mixes(at, first, second).GreaterEqual(below))
			if add != 0 {
				v = v.Add(ld(to, 0))
			}
			st(v, to, 0)
			at = at.Add(step)
			to, from = on(to), on(from)
		}
		if j > 0 {
			v := get(from, j).Mul(scale).Masked(mixes(at, first, second).GreaterEqual(below))
			if add != 0 {
				v = v.Add(get(to, j))
			}
			set(v, to, j)
		}
		dst, src = unsafe.Add(dst, dstStride), unsafe.Add(src, srcStride)
		row++
	}
}

// DropELU sets a row of n columns to what the mask keeps of the end of a layer, and to −0 where it drops:
//
//	dst[j] = ELU(src[j] + bias[j])·scale + 0 where it keeps
//
//go:nosplit
func DropELU(dst, src, bias, drop, t place, n, row int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	low, never := ld(t, below), archsimd.BroadcastUint32x4(1<<31).BitsToFloat32()
	least, scale, step, first, second := words(drop, 32), ld(drop, 48), words(drop, 96), words(drop, 64), words(drop, 80)
	at := archsimd.BroadcastUint32x4(mixed(uint32(row)+bits(drop, 0)) ^ bits(drop, 4)).Add(words(drop, 16))
	for ; n >= 4; n -= 4 {
		v := ld(src, 0).Add(ld(bias, 0))
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		v = fused(vec{}, leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t)), scale)
		st(v.IfElse(mixes(at, first, second).GreaterEqual(least), never), dst, 0)
		at = at.Add(step)
		dst, src, bias = on(dst), on(src), on(bias)
	}
	if n > 0 {
		v := get(src, n).Add(get(bias, n))
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		v = fused(vec{}, leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t)), scale)
		set(v.IfElse(mixes(at, first, second).GreaterEqual(least), never), dst, n)
	}
}

// DropELUSlope sets dx to the gradient of what DropELU was given, by that of its result y, for n elements; dx may be dy:
//
//	dx = 0 if y is −0, else dy·(scale + min(y, 0))
//
//go:nosplit
func DropELUSlope(dx, dy, y place, n int, scale float32) {
	by, never := all(scale), archsimd.BroadcastUint32x4(1<<31)
	for ; n >= 4; n -= 4 {
		v := ld(y, 0)
		st(by.Add(v.Min(vec{})).Mul(ld(dy, 0)).Masked(v.ToBits().NotEqual(never)), dx, 0)
		dx, dy, y = on(dx), on(dy), on(y)
	}
	if n > 0 {
		v := get(y, n)
		set(by.Add(v.Min(vec{})).Mul(get(dy, n)).Masked(v.ToBits().NotEqual(never)), dx, n)
	}
}

// FactorColumn sets what a mask has for a column of n rows: the scale, or 0 where the hash is below. first is the first row plus the
// first key, column the column times vec.ColumnKey, and n a multiple of four.
//
//go:nosplit
func FactorColumn(to place, n, first, second, column, below int, scale float32) {
	k1, lane, bound, kept := archsimd.BroadcastUint32x4(uint32(second)), archsimd.BroadcastUint32x4(uint32(column)), archsimd.BroadcastUint32x4(uint32(below)), all(scale)
	row, by, with := uint32(first), archsimd.BroadcastUint32x4(0x7feb352d), archsimd.BroadcastUint32x4(0x846ca68b)
	at := archsimd.BroadcastUint32x4(row).SetElem(1, row+1).SetElem(2, row+2).SetElem(3, row+3)
	for ; n > 0; n -= 4 {
		h := mixes(mixes(at, by, with).Xor(k1).Add(lane), by, with)
		st(kept.Masked(h.GreaterEqual(bound)), to, 0)
		to, at = on(to), at.Add(archsimd.BroadcastUint32x4(4))
	}
}
