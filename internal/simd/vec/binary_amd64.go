//go:build !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// forwardFast is Forward in assembly, if one step or both are 1.
func (b Binary) forwardFast(z, x, y []Float, sx, sy int) bool {
	if sx == 0 && sy == 0 {
		return false
	}
	n := len(z)
	if n == 0 {
		return true
	}
	_, _ = x[(n-1)*sx], y[(n-1)*sy]
	for lo := 0; lo < n; lo += cpu.AtOnce {
		part := z[lo:min(lo+cpu.AtOnce, n)]
		switch {
		case sy == 0:
			b.byNumber(part, x[lo:], y[0])
		case sx == 0:
			b.ofNumber(part, x[0], y[lo:])
		default:
			b.ofSlices(part, x[lo:], y[lo:])
		}
	}
	return true
}

func (b Binary) ofSlices(z, x, y []Float) {
	to, p, q, n := &z[0], &x[0], &y[0], len(z)
	switch b {
	case Add:
		addAVX2(to, p, q, n)
	case Sub:
		subAVX2(to, p, q, n)
	case Mul:
		mulAVX2(to, p, q, n)
	case Div:
		divAVX2(to, p, q, n)
	case Min:
		minAVX2(to, p, q, n)
	case Max:
		maxAVX2(to, p, q, n)
	}
}

// streamFast is Stream: what stands before the first whole line goes the usual
// way.
func (b Binary) streamFast(z, x, y []Float) bool {
	if len(z) == 0 {
		return true
	}
	head := int(-uintptr(unsafe.Pointer(&z[0]))%32) / 4
	if head >= len(z) {
		b.ofSlices(z, x, y)
		return true
	}
	if head > 0 {
		b.ofSlices(z[:head], x, y)
	}
	for lo := head; lo < len(z); lo += cpu.AtOnce {
		b.streamPart(z[lo:min(lo+cpu.AtOnce, len(z))], x[lo:], y[lo:])
	}
	return true
}

func (b Binary) streamPart(z, x, y []Float) {
	to, p, q, n := &z[0], &x[0], &y[0], len(z)
	switch b {
	case Add:
		addStreamAVX2(to, p, q, n)
	case Sub:
		subStreamAVX2(to, p, q, n)
	case Mul:
		mulStreamAVX2(to, p, q, n)
	case Div:
		divStreamAVX2(to, p, q, n)
	case Min:
		minStreamAVX2(to, p, q, n)
	case Max:
		maxStreamAVX2(to, p, q, n)
	}
}

func (b Binary) byNumber(z, x []Float, c Float) {
	to, p, n := &z[0], &x[0], len(z)
	switch b {
	case Add:
		addNumAVX2(to, p, n, c)
	case Sub:
		subNumAVX2(to, p, n, c)
	case Mul:
		mulNumAVX2(to, p, n, c)
	case Div:
		divNumAVX2(to, p, n, c)
	case Min:
		minNumAVX2(to, p, n, c)
	case Max:
		maxNumAVX2(to, p, n, c)
	}
}

func (b Binary) ofNumber(z []Float, c Float, y []Float) {
	switch b {
	case Sub:
		numBysubAVX2(&z[0], &y[0], len(z), c)
	case Div:
		numBydivAVX2(&z[0], &y[0], len(z), c)
	default:
		b.byNumber(z, y, c)
	}
}

// backwardXFast is BackwardX in assembly; false means that there is none. There
// is none for a sum, which is a chain in the order of the elements, so that it
// can be taken in parts.
func (b Binary) backwardXFast(dx, dz, x, y []Float, sx, sy int) bool {
	if sx == 0 {
		return false
	}
	switch b {
	case Add, Sub:
		Axpy(dx[:len(dz)], 1, dz)
	case Mul:
		addProduct(dx, dz, y, sy)
	case Div:
		addQuotient(dx, dz, y, sy)
	case Min:
		addWhere(dx, dz, operand{x, sx}, operand{y, sy}, true)
	case Max:
		addWhere(dx, dz, operand{y, sy}, operand{x, sx}, true)
	}
	return true
}

// backwardYFast is BackwardY in assembly; false means that there is none.
func (b Binary) backwardYFast(dy, dz, x, y []Float, sx, sy int) bool {
	if sy == 0 {
		return false
	}
	switch b {
	case Add:
		Axpy(dy[:len(dz)], 1, dz)
	case Sub:
		Axpy(dy[:len(dz)], -1, dz)
	case Mul:
		addProduct(dy, dz, x, sx)
	case Div:
		addDivisor(dy, dz, x, y, sx)
	case Min:
		addWhere(dy, dz, operand{y, sy}, operand{x, sx}, false)
	case Max:
		addWhere(dy, dz, operand{x, sx}, operand{y, sy}, false)
	}
	return true
}

// addProduct is d[i] += dz[i]·x[i·s].
func addProduct(d, dz, x []Float, s int) {
	switch {
	case len(dz) == 0:
	case s == 0:
		Axpy(d[:len(dz)], x[0], dz)
	default:
		mulAddFast(d[:len(dz)], dz, x[:len(dz)])
	}
}

// mulAddFast is MulAdd.
func mulAddFast(z, x, y []Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		mulAddAVX2(&z[lo], &x[lo], &y[lo], min(cpu.AtOnce, len(x)-lo))
	}
	return true
}

// mulAddLessFast is mulAddLess.
func mulAddLessFast(z, x, y []Float, c Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		mulAddLessAVX2(&z[lo], &x[lo], &y[lo], min(cpu.AtOnce, len(x)-lo), c)
	}
	return true
}

// addQuotient is d[i] += dz[i]/y[i·s].
func addQuotient(d, dz, y []Float, s int) {
	n := len(dz)
	d = d[:n]
	if s == 1 {
		Log.backwardFast(d, dz, y[:n], y[:n], 0)
		return
	}
	for lo := 0; lo < n; lo += cpu.AtOnce {
		addQuotientAVX2(&d[lo], &dz[lo], min(cpu.AtOnce, n-lo), y[0])
	}
}

// addDivisor is d[i] −= dz[i]·x[i·s]/y[i]².
func addDivisor(d, dz, x, y []Float, s int) {
	n := len(dz)
	d, y = d[:n], y[:n]
	for lo := 0; lo < n; lo += cpu.AtOnce {
		part := min(cpu.AtOnce, n-lo)
		if s == 0 {
			divisorOfNumAVX2(&d[lo], &dz[lo], &y[lo], part, x[0])
		} else {
			_ = x[n-1]
			divisorAVX2(&d[lo], &dz[lo], &x[lo], &y[lo], part)
		}
	}
}

// operand is a slice and its step, 0 or 1.
type operand struct {
	x    []Float
	step int
}

// first is the element that the first of the next n is, which exist.
func (o operand) first(lo, n int) *Float {
	part := o.x[lo*o.step:]
	_ = part[(n-1)*o.step]
	return &part[0]
}

// addWhere is d[i] += dz[i] where x is less than y or, with ties, as large. One
// step is 1.
func addWhere(d, dz []Float, x, y operand, ties bool) {
	d = d[:len(dz)]
	for lo := 0; lo < len(dz); lo += cpu.AtOnce {
		n := min(cpu.AtOnce, len(dz)-lo)
		to, g, p, q := &d[lo], &dz[lo], x.first(lo, n), y.first(lo, n)
		switch {
		case ties && y.step == 0:
			addWhereAtMostNumAVX2(to, g, p, n, *q)
		case ties && x.step == 0:
			addWhereNumAtMostAVX2(to, g, q, n, *p)
		case ties:
			addWhereAtMostAVX2(to, g, p, q, n)
		case y.step == 0:
			addWhereBelowNumAVX2(to, g, p, n, *q)
		case x.step == 0:
			addWhereNumBelowAVX2(to, g, q, n, *p)
		default:
			addWhereBelowAVX2(to, g, p, q, n)
		}
	}
}
