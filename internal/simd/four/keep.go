//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// Nonzeros of rows are kept by a mask from NewMask of column 1, whose lanes begin with the key of columns.

// DropValues sets nonzeros of rows, whose numbers count from row, to what the mask keeps of them, scaled. to may be from.
//
//	to[k] = from[k]·scale where the mask keeps row i and cols[k], else 0    for offsets[i] ≤ k < offsets[i+1]
//
//go:nosplit
func DropValues(to, cols, from, offsets, drop place, rows, row int) {
	column := archsimd.BroadcastUint32x4(bits(drop, 16))
	below, scale, first, second := words(drop, 32), ld(drop, 48), words(drop, 64), words(drop, 80)
	for i := 0; i < rows; i++ {
		k, end := offset(offsets, i), offset(offsets, i+1)
		key := archsimd.BroadcastUint32x4(mixed(uint32(row+i)+bits(drop, 0)) ^ bits(drop, 4))
		for ; k+4 <= end; k += 4 {
			h := mixes(words(cols, k*4).Mul(column).Add(key), first, second)
			st(ld(from, k*4).Mul(scale).Masked(h.GreaterEqual(below)), to, k*4)
		}
		if k < end {
			h := mixes(get(far(cols, k), end-k).ToBits().Mul(column).Add(key), first, second)
			set(get(far(from, k), end-k).Mul(scale).Masked(h.GreaterEqual(below)), far(to, k), end-k)
		}
	}
}

// KeepValues copies the nonzeros that DropValues would not make zero, one row behind the other from element at on, and sets
// where each row ends. Four elements behind the last may change, too:
//
//	toCols[n], to[n] = cols[k], from[k]·scale    for the k where that is kept and not 0, in order
//
//go:nosplit
func KeepValues(toCols, to, ends, cols, from, offsets, drop place, rows, row, at int) {
	column, unit := archsimd.BroadcastUint32x4(bits(drop, 16)), archsimd.BroadcastUint32x4(1)
	below, scale, first, second := words(drop, 32), ld(drop, 48), words(drop, 64), words(drop, 80)
	for k := offset(offsets, 0); rows > 0; rows-- {
		end := offset(offsets, 1)
		key := archsimd.BroadcastUint32x4(mixed(uint32(row)+bits(drop, 0)) ^ bits(drop, 4))
		for ; k+4 <= end; k += 4 {
			c, x := words(cols, k*4), ld(from, k*4).Mul(scale)
			h := mixes(c.Mul(column).Add(key), first, second)
			at = lay(toCols, to, at, c, x, unit.Masked(h.GreaterEqual(below).And(x.NotEqual(vec{}))))
		}
		if k < end { // what is not there is zero, and not kept
			c, x := get(far(cols, k), end-k).ToBits(), get(far(from, k), end-k).Mul(scale)
			h := mixes(c.Mul(column).Add(key), first, second)
			at = lay(toCols, to, at, c, x, unit.Masked(h.GreaterEqual(below).And(x.NotEqual(vec{}))))
		}
		*(*int64)(ends) = int64(at)
		ends, offsets, k = unsafe.Add(ends, 8), unsafe.Add(offsets, 8), end
		row++
	}
}

// lay sets nonzeros from number at on, and returns the number of the next one, which comes n later, 1 or 0, for each.
func lay(toCols, to place, at int, c archsimd.Uint32x4, x vec, n archsimd.Uint32x4) int {
	at = layOne(toCols, to, at, c.GetElem(0), x.GetElem(0), n.GetElem(0))
	at = layOne(toCols, to, at, c.GetElem(1), x.GetElem(1), n.GetElem(1))
	at = layOne(toCols, to, at, c.GetElem(2), x.GetElem(2), n.GetElem(2))
	return layOne(toCols, to, at, c.GetElem(3), x.GetElem(3), n.GetElem(3))
}

func layOne(toCols, to place, at int, c uint32, x float32, n uint32) int {
	putBits(c, toCols, at)
	put(x, to, at*4)
	return at + int(n)
}

// Pick copies the columns and weights of n nonzeros whose weight is not zero to the front of toCols and toW, in order, and returns how
// many there are. The weight of nonzero k is w[k] or, with edges, w[edges[k]]. Without them the destination may be the source.
//
//go:nosplit
func Pick(toCols, toW, cols, w, edges place, n int) int {
	at := 0
	if edges != nil {
		for ; n >= 4; n -= 4 {
			at = choose(toCols, toW, at, bits(cols, 0), bits(w, index(edges, 0)*4))
			at = choose(toCols, toW, at, bits(cols, 4), bits(w, index(edges, 1)*4))
			at = choose(toCols, toW, at, bits(cols, 8), bits(w, index(edges, 2)*4))
			at = choose(toCols, toW, at, bits(cols, 12), bits(w, index(edges, 3)*4))
			cols, edges = on(cols), on(edges)
		}
		for ; n > 0; n-- {
			at = choose(toCols, toW, at, bits(cols, 0), bits(w, index(edges, 0)*4))
			cols, edges = far(cols, 1), far(edges, 1)
		}
	}
	for ; n >= 4; n -= 4 {
		at = choose(toCols, toW, at, bits(cols, 0), bits(w, 0))
		at = choose(toCols, toW, at, bits(cols, 4), bits(w, 4))
		at = choose(toCols, toW, at, bits(cols, 8), bits(w, 8))
		at = choose(toCols, toW, at, bits(cols, 12), bits(w, 12))
		cols, w = on(cols), on(w)
	}
	for ; n > 0; n-- {
		at = choose(toCols, toW, at, bits(cols, 0), bits(w, 0))
		cols, w = far(cols, 1), far(w, 1)
	}
	return at
}

// choose sets nonzero number at, and returns the number of the next one: the same where v is 0. A branch would be guessed wrong.
func choose(toCols, toW place, at int, c, v uint32) int {
	putBits(c, toCols, at)
	putBits(v, toW, at)
	return at + int((v<<1|-(v<<1))>>31)
}

// far is the place of element k.
func far(p place, k int) place { return unsafe.Add(p, k*4) }

// putBits sets the number k of words.
func putBits(v uint32, p place, k int) { *(*uint32)(unsafe.Add(p, k*4)) = v }

// Scatter adds n rows of w columns, which a list names, to those of dst that another one does, in order:
//
//	dst[to[k],j] += src[k,j]    for each k of from, in 16 bits
//
//go:nosplit
func Scatter(dst, src, to, from place, n, w int) {
	for stride := w * 4; n > 0; n-- {
		k := int(*(*uint16)(from))
		p, q, j := unsafe.Add(dst, index(to, k)*stride), unsafe.Add(src, k*stride), w
		for ; j >= 16; j -= 16 {
			quad(p, 32, ld(p, 0).Add(ld(q, 0)), ld(p, 16).Add(ld(q, 16)), ld(p, 32).Add(ld(q, 32)), ld(p, 48).Add(ld(q, 48)))
			p, q = unsafe.Add(p, 64), unsafe.Add(q, 64)
		}
		for ; j >= 4; j -= 4 {
			st(ld(p, 0).Add(ld(q, 0)), p, 0)
			p, q = on(p), on(q)
		}
		if j > 0 {
			set(get(p, j).Add(get(q, j)), p, j)
		}
		from = unsafe.Add(from, 2)
	}
}
