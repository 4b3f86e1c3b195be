//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// column is column j of four heads, whose columns are step bytes apart, and setColumn sets it.
func column(p place, step int) vec {
	q := unsafe.Add(p, 2*step)
	return vec{}.SetElem(0, one(p, 0)).SetElem(1, one(p, step)).SetElem(2, one(q, 0)).SetElem(3, one(q, step))
}
func setColumn(x vec, p place, step int) {
	q := unsafe.Add(p, 2*step)
	put(x.GetElem(0), p, 0)
	put(x.GetElem(1), p, step)
	put(x.GetElem(2), q, 0)
	put(x.GetElem(3), q, step)
}

// AttendNarrow is AttendHeads8 of four heads of n columns, at most eight, without a bias. lanes is the place of Lanes[n], and room
// is for n vectors.
//
//go:nosplit
func AttendNarrow(offsets, cols, far, x, y, rec, factors, lanes, room place, rows, n, down, farStride, xStride, yStride, recStride int) {
	end := n * 16
	for ; rows > 0; rows-- {
		up, low := ld(rec, 0), ld(rec, down)
		for j := 0; j < end; j += 16 {
			st(vec{}, room, j)
		}
		var s vec
		for k := offset(offsets, 0); k < offset(offsets, 1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*xStride), unsafe.Add(far, c*farStride)
			p := up.Mul(ld(f, 0)).Max(low.Mul(ld(f, down)))
			s = s.Add(p)
			if factors != nil {
				p = p.Mul(ld(factors, 0))
				factors = on(factors)
			}
			for j := 0; j < end; j += 16 {
				st(fused(ld(room, j), ld(r, j), taken(p, lanes, j)), room, j)
			}
		}
		s = num(1).Div(s).Masked(s.NotEqual(vec{}))
		for j := 0; j < end; j += 16 {
			st(ld(room, j).Mul(taken(s, lanes, j)), y, j)
		}
		st(up.Mul(s), rec, 0)
		st(low.Mul(s), rec, down)
		y, rec, offsets = unsafe.Add(y, yStride), unsafe.Add(rec, recStride), unsafe.Add(offsets, 8)
	}
}

// RetraceNarrow is RetraceHeads8 of four heads of n columns, at most eight. at is the place of a Narrow.
//
//go:nosplit
func RetraceNarrow(offsets, cols, factors, far, x, der, edges, at place, rows, n int, slope float32) {
	lean, room, end := all(slope), unsafe.Add(at, narrowRoom), n*16
	for i := 0; i < rows; i++ {
		own := unsafe.Add(within(at, 2), i*offset(at, 4))
		up, low := ld(own, 0), ld(own, offset(at, 9))
		v := unsafe.Add(within(at, 3), i*offset(at, 5))
		for j := 0; j < end; j += 16 {
			st(vec{}, room, j)
			st(column(v, end>>2), room, j+8*16)
			v = unsafe.Add(v, 4)
		}
		var s vec
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*offset(at, 1)), unsafe.Add(far, c*offset(at, 0))
			high, two := up.Mul(ld(f, 0)), low.Mul(ld(f, offset(at, 9)))
			p, z, m := high.Max(two), high.IfElse(high.Greater(two), two.Mul(lean)), num(1)
			if factors != nil {
				m = ld(factors, 0)
				p, factors = p.Mul(m), on(factors)
			}
			var dot, odd vec
			j := 0
			for ; j < end&^63; j += 16 { // in pairs, and what is over in turn, as RowDots has it
				g := column(r, end>>2)
				st(fused(ld(room, j), g, p), room, j)
				g = g.Mul(ld(room, j+8*16))
				if j&16 == 0 {
					odd = g
				} else {
					dot = dot.Add(odd.Add(g))
				}
				r = unsafe.Add(r, 4)
			}
			for ; j < end; j += 16 {
				g := column(r, end>>2)
				st(fused(ld(room, j), g, p), room, j)
				dot = fused(dot, g, ld(room, j+8*16))
				r = unsafe.Add(r, 4)
			}
			z = z.Mul(dot.Mul(m).Sub(ld(f, 2*offset(at, 9))))
			s = s.Add(z)
			o := unsafe.Add(der, c*offset(at, 6))
			if edges != nil {
				o = unsafe.Add(der, index(edges, k-offset(offsets, 0))*offset(at, 6))
			} else {
				z = z.Add(ld(o, 0))
			}
			st(z, o, 0)
		}
		y := unsafe.Add(within(at, 0), i*offset(at, 2))
		for j := 0; j < end; j += 16 {
			g := ld(room, j)
			if offset(at, 7) != 0 {
				g = g.Add(column(y, end>>2))
			}
			setColumn(g, y, end>>2)
			y = unsafe.Add(y, 4)
		}
		rec := unsafe.Add(within(at, 1), i*offset(at, 3))
		if offset(at, 8) != 0 {
			s = s.Add(ld(rec, 0))
		}
		st(s, rec, 0)
	}
}

// within is place number k behind the strides of a Narrow, and narrowRoom what comes behind those.
func within(at place, k int) place { return *(*place)(unsafe.Add(at, 80+8*k)) }

const narrowRoom = 80 + 8*4

// RetraceOne is RetraceHeads8 of one head of 1 to 8 columns, whose record's parts are side by side. There are
// four factors an edge, of which the first counts. at is the place of a Narrow.
//
//go:nosplit
func RetraceOne(offsets, cols, factors, far, x, der, edges, at place, rows, n int, slope float32) {
	first, lean, last := offset(offsets, 0), all(slope), n*4-16
	for i := 0; i < rows; i++ {
		own, v := unsafe.Add(within(at, 2), i*offset(at, 4)), unsafe.Add(within(at, 3), i*offset(at, 5))
		up, low := all(one(own, 0)), all(one(own, 4))
		var s, a, b, v0, v1 vec
		if last < 0 {
			v0 = get(v, n)
		} else {
			v0, v1 = ld(v, 0), ld(v, last)
		}
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*offset(at, 1)), unsafe.Add(far, c*offset(at, 0))
			high, two := up.Mul(all(one(f, 0))), low.Mul(all(one(f, 4)))
			p, z, m := high.Max(two), high.IfElse(high.Greater(two), two.Mul(lean)), num(1)
			if factors != nil {
				m = all(one(factors, 0))
				p, factors = p.Mul(m), on(factors)
			}
			var x0, x1 vec
			if last < 0 {
				x0 = get(r, n)
			} else {
				x0, x1 = ld(r, 0), ld(r, last)
			}
			a, b = fused(a, x0, p), fused(b, x1, p)
			d, j := x0.Mul(v0), 16 // in the order of RowDots
			if n == 8 {
				d, j = d.Add(x1.Mul(v1)), 32
			}
			dot := sum(d)
			if last < 0 {
				dot, j = 0, 0
			}
			for ; j < last+16; j += 4 {
				dot += one(r, j) * one(v, j)
			}
			z = z.Mul(all(dot).Mul(m).Sub(all(one(f, 8))))
			s = s.Add(z)
			o := unsafe.Add(der, c*offset(at, 6))
			if edges != nil {
				o = unsafe.Add(der, index(edges, k-first)*offset(at, 6))
			} else {
				z = z.Add(all(one(o, 0)))
			}
			put(z.GetElem(0), o, 0)
		}
		y, rec := unsafe.Add(within(at, 0), i*offset(at, 2)), unsafe.Add(within(at, 1), i*offset(at, 3))
		if offset(at, 7) != 0 {
			if last < 0 {
				a = a.Add(get(y, n))
			} else {
				a, b = a.Add(ld(y, 0)), b.Add(ld(y, last))
			}
		}
		if last < 0 {
			set(a, y, n)
		} else {
			st(a, y, 0)
			st(b, y, last)
		}
		if offset(at, 8) != 0 {
			s = s.Add(all(one(rec, 0)))
		}
		put(s.GetElem(0), rec, 0)
	}
}
