package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// normalise divides by the sum, which is kept. Where that is 0 the result is 0.
var normalise = across("Normalise", Own, &Across{
	Sightings: 1,
	Observe:   func(d *Into, _ int) { vec.AddRows(d.Sum, d.A) },
	Apply: func(d *Into) {
		y, n := d.Y, len(d.Sum)
		copy(y, d.A)
		for j, sum := range d.Sum {
			if sum == 0 {
				for k := j; k < len(y); k += n {
					y[k] = 0
				}
			}
		}
		vec.DivideRows(y, d.Sum)
	},
	Terms: products,
	Pull: func(d *Into) { // dx += (dy − Σy·dy)/sum
		dx, sum, c := d.DX, d.Sum, d.Sums
		for at := 0; at < len(dx); at += len(c) {
			for j, g := range d.DY[at : at+len(c)] {
				if sum[j] != 0 {
					dx[at+j] += (g - c[j]) / sum[j]
				}
			}
		}
	},
})
