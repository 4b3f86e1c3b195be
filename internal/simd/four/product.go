//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Tile4x16 adds four rows of 8 to 16 columns of a product to c, or sets them. Rows of a are r1, r2 and
// r3 bytes after the first, those of c s1, s2 and s3; the same place again stands for a row that is not there:
//
//	c[i,j] = Σ_k a[i,k]·b[k,j] + c[i,j]    each an unbroken chain in the order of k
//
//go:nosplit
func Tile4x16(c, a, b place, n, k, r1, r2, r3, cs, ldb, s1, s2, s3, set int) {
	half := n*4 - 32
	c1, c2, c3 := unsafe.Add(c, s1), unsafe.Add(c, s2), unsafe.Add(c, s3)
	var x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3, t0, t1, t2, t3 vec
	if set == 0 {
		x0, y0, z0, t0 = ld(c, 0), ld(c, 16), ld(c, half), ld(c, half+16)
		x1, y1, z1, t1 = ld(c1, 0), ld(c1, 16), ld(c1, half), ld(c1, half+16)
		x2, y2, z2, t2 = ld(c2, 0), ld(c2, 16), ld(c2, half), ld(c2, half+16)
		x3, y3, z3, t3 = ld(c3, 0), ld(c3, 16), ld(c3, half), ld(c3, half+16)
	}
	a1, a2, a3 := unsafe.Add(a, r1), unsafe.Add(a, r2), unsafe.Add(a, r3)
	for at := 0; k > 0; k-- {
		d := unsafe.Add(b, half)
		b0, b1, b2, b3 := ld(b, 0), ld(b, 16), ld(d, 0), ld(d, 16)
		v := all(one(a, at))
		x0, y0, z0, t0 = fused(x0, b0, v), fused(y0, b1, v), fused(z0, b2, v), fused(t0, b3, v)
		v = all(one(a1, at))
		x1, y1, z1, t1 = fused(x1, b0, v), fused(y1, b1, v), fused(z1, b2, v), fused(t1, b3, v)
		v = all(one(a2, at))
		x2, y2, z2, t2 = fused(x2, b0, v), fused(y2, b1, v), fused(z2, b2, v), fused(t2, b3, v)
		v = all(one(a3, at))
		x3, y3, z3, t3 = fused(x3, b0, v), fused(y3, b1, v), fused(z3, b2, v), fused(t3, b3, v)
		b = unsafe.Add(b, ldb)
		at += cs
	}
	quad(c, half, x0, y0, z0, t0)
	quad(c1, half, x1, y1, z1, t1)
	quad(c2, half, x2, y2, z2, t2)
	quad(c3, half, x3, y3, z3, t3)
}

// quad stores a row of a tile.
func quad(c place, half int, x, y, z, t vec) {
	st(x, c, 0)
	st(y, c, 16)
	st(z, c, half)
	st(t, c, half+16)
}

// Tile4x8 is Tile4x16 of 4 to 8 columns.
//
//go:nosplit
func Tile4x8(c, a, b place, n, k, r1, r2, r3, cs, ldb, s1, s2, s3, set int) {
	half := n*4 - 16
	c1, c2, c3 := unsafe.Add(c, s1), unsafe.Add(c, s2), unsafe.Add(c, s3)
	var x0, x1, x2, x3, y0, y1, y2, y3 vec
	if set == 0 {
		x0, y0, x1, y1 = ld(c, 0), ld(c, half), ld(c1, 0), ld(c1, half)
		x2, y2, x3, y3 = ld(c2, 0), ld(c2, half), ld(c3, 0), ld(c3, half)
	}
	a1, a2, a3 := unsafe.Add(a, r1), unsafe.Add(a, r2), unsafe.Add(a, r3)
	for at := 0; k > 0; k-- {
		b0, b1 := ld(b, 0), ld(b, half)
		v0, v1, v2, v3 := all(one(a, at)), all(one(a1, at)), all(one(a2, at)), all(one(a3, at))
		x0, y0, x1, y1 = fused(x0, b0, v0), fused(y0, b1, v0), fused(x1, b0, v1), fused(y1, b1, v1)
		x2, y2, x3, y3 = fused(x2, b0, v2), fused(y2, b1, v2), fused(x3, b0, v3), fused(y3, b1, v3)
		b = unsafe.Add(b, ldb)
		at += cs
	}
	st(x0, c, 0)
	st(y0, c, half)
	st(x1, c1, 0)
	st(y1, c1, half)
	st(x2, c2, 0)
	st(y2, c2, half)
	st(x3, c3, 0)
	st(y3, c3, half)
}

// Tile4x1 is Tile4x16 of one column.
//
//go:nosplit
func Tile4x1(c, a, b place, k, r1, r2, r3, cs, ldb, s1, s2, s3, set int) {
	c1, c2, c3 := unsafe.Add(c, s1), unsafe.Add(c, s2), unsafe.Add(c, s3)
	var x0, x1, x2, x3 float32
	if set == 0 {
		x0, x1, x2, x3 = one(c, 0), one(c1, 0), one(c2, 0), one(c3, 0)
	}
	a1, a2, a3 := unsafe.Add(a, r1), unsafe.Add(a, r2), unsafe.Add(a, r3)
	for at := 0; k > 0; k-- {
		v := one(b, 0)
		x0 += one(a, at) * v
		x1 += one(a1, at) * v
		x2 += one(a2, at) * v
		x3 += one(a3, at) * v
		b = unsafe.Add(b, ldb)
		at += cs
	}
	put(x0, c, 0)
	put(x1, c1, 0)
	put(x2, c2, 0)
	put(x3, c3, 0)
}

// Tile1x32 is Tile4x16 of one row of 16 to 32 columns.
//
//go:nosplit
func Tile1x32(c, a, b place, n, k, cs, ldb, set int) {
	half := n*4 - 64
	d := unsafe.Add(c, half)
	var x0, x1, x2, x3, y0, y1, y2, y3 vec
	if set == 0 {
		x0, x1, x2, x3 = ld(c, 0), ld(c, 16), ld(c, 32), ld(c, 48)
		y0, y1, y2, y3 = ld(d, 0), ld(d, 16), ld(d, 32), ld(d, 48)
	}
	for ; k > 0; k-- {
		v, z := all(one(a, 0)), unsafe.Add(b, half)
		x0, x1, x2, x3 = fused(x0, ld(b, 0), v), fused(x1, ld(b, 16), v), fused(x2, ld(b, 32), v), fused(x3, ld(b, 48), v)
		y0, y1, y2, y3 = fused(y0, ld(z, 0), v), fused(y1, ld(z, 16), v), fused(y2, ld(z, 32), v), fused(y3, ld(z, 48), v)
		a, b = unsafe.Add(a, cs), unsafe.Add(b, ldb)
	}
	quad(c, 32, x0, x1, x2, x3)
	quad(d, 32, y0, y1, y2, y3)
}

// CopyRows copies rows of n elements, four at least, which are so many bytes apart.
//
//go:nosplit
func CopyRows(to, from place, rows, n, toStride, fromStride int) {
	for last := n*4 - 16; rows > 0; rows-- {
		end := ld(from, last)
		for j := 0; j < last; j += 16 {
			st(ld(from, j), to, j)
		}
		st(end, to, last)
		to, from = unsafe.Add(to, toStride), unsafe.Add(from, fromStride)
	}
}

// Turn4 sets columns of to to four rows of n elements, a multiple of four, which are so many bytes apart.
//
//go:nosplit
func Turn4(to, from place, n, toStride, fromStride int) {
	for b, c, d := unsafe.Add(from, fromStride), unsafe.Add(from, 2*fromStride), unsafe.Add(from, 3*fromStride); n > 0; n -= 4 {
		w, x, y, z := turned(ld(from, 0), ld(b, 0), ld(c, 0), ld(d, 0))
		st(w, to, 0)
		st(x, to, toStride)
		to = unsafe.Add(to, 2*toStride)
		st(y, to, 0)
		st(z, to, toStride)
		to = unsafe.Add(to, 2*toStride)
		from, b, c, d = on(from), on(b), on(c), on(d)
	}
}
