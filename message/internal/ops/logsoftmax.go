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
		n := len(d.Sum)
		less := d.Mix[:n]
		vec.Log.Forward(less, d.Sum, 0)
		for k, v := range d.A {
			switch j := k % n; {
			case d.Sum[j] == 0:
				d.Y[k] = tensor.Float(math.Inf(-1))
			case v == d.Top[j]: // also where both are +∞
				d.Y[k] = -less[j]
			default:
				d.Y[k] = v - d.Top[j] - less[j]
			}
		}
	},
	Terms: func(g, _, dy []tensor.Float) { copy(g, dy) },
	Pull: func(d *Into) { // dx += dy − exp(y)·Σdy
		n := len(d.Sums)
		p := d.Mix[:n]
		for at := 0; at < len(d.Y); at += n {
			vec.Exp.Forward(p, d.Y[at:at+n], 0)
			for j, g := range d.DY[at : at+n] {
				if d.Sum[j] != 0 {
					d.DX[at+j] += g - p[j]*d.Sums[j]
				}
			}
		}
	},
})
