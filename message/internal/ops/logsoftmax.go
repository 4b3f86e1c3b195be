package ops

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// logSoftmax is the logarithm of a softmax, of which it has the statistics. Where nothing weighs
// anything it is −∞.
var logSoftmax = across("LogSoftmax", Own, &Across{
	Sightings: 2, Observe: observeSoftmax,
	Apply: func(d *Into) {
		y, top, sum, n := d.Y, d.Top, d.Sum, len(d.Sum)
		less := d.Mix[:n]
		vec.Log.Forward(less, sum, 0)
		for k, v := range d.A {
			switch j := k % n; {
			case sum[j] == 0:
				y[k] = tensor.Float(math.Inf(-1))
			case v == top[j]: // also where both are +∞
				y[k] = -less[j]
			default:
				y[k] = v - top[j] - less[j]
			}
		}
	},
	Terms: func(g, _, dy []tensor.Float) { copy(g, dy) },
	Pull: func(d *Into) { // dx += dy − exp(y)·Σdy
		dx, sum, c, n := d.DX, d.Sum, d.Sums, len(d.Sums)
		p := d.Mix[:n]
		for at := 0; at < len(dx); at += n {
			vec.Exp.Forward(p, d.Y[at:at+n], 0)
			for j, g := range d.DY[at : at+n] {
				if sum[j] != 0 {
					dx[at+j] += g - p[j]*c[j]
				}
			}
		}
	},
})
