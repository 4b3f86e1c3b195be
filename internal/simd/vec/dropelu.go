package vec

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// ELU sets rows as long as bias, whose numbers count from row, to what is kept of
// the end of a layer. What is dropped becomes −0 and what is kept never does, so
// that [Dropout.ELUGrad] can tell them apart:
//
//	dst[i,j] = ELU(src[i,j] + bias[j])·scale + 0 where Keep, else −0
func (d *Dropout) ELU(dst, src, bias []Float, row int) {
	width := len(bias)
	if len(src) == 0 {
		return
	}
	if width == 0 || len(src)%width != 0 {
		panic(fmt.Sprintf("vec: %d elements are no rows of %d", len(src), width))
	}
	dst = dst[:len(src)]
	switch {
	case d.Scale == 0:
		for i := range dst {
			dst[i] = minusZero
		}
	case !cpu.Fast || !d.eluFast(dst, src, bias, row):
		d.eluGo(dst, src, bias, row)
	}
}

// minusZero is what ELU makes of what is dropped.
var minusZero = Float(math.Copysign(0, -1))

// eluGo is the truth of ELU.
func (d *Dropout) eluGo(dst, src, bias []Float, row int) {
	width, scale := len(bias), Float(d.Scale)
	for ; len(src) > 0; dst, src, row = dst[width:], src[width:], row+1 {
		to, key := dst[:width], d.Row(row)
		for j, b := range bias {
			to[j] = src[j] + b
		}
		ELU.forwardGo(to, to, 1)
		for j, v := range to {
			if d.Keep(key, j) {
				to[j] = v*scale + 0
			} else {
				to[j] = minusZero
			}
		}
	}
}

// ELUGrad sets dx to the gradient of src in [Dropout.ELU], from that of its
// result y; dx may be dy:
//
//	dx[i] = 0 if y[i] is −0, else dy[i]·(scale + min(y[i], 0))
//
// That is scale·eˣ where x is negative, since y is scale·(eˣ − 1) then.
func (d *Dropout) ELUGrad(dx, dy, y []Float) {
	dx, y = dx[:len(dy)], y[:len(dy)]
	if cpu.Fast && len(dy) > 0 && d.eluGradFast(dx, dy, y) {
		return
	}
	for i, v := range y {
		if v == 0 && math.Signbit(float64(v)) {
			dx[i] = 0
		} else {
			dx[i] = dy[i] * (min(v, 0) + Float(d.Scale))
		}
	}
}
