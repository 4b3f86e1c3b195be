package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// normalise divides by the sum, which is kept. Where that is 0 the result is 0.
var normalise = across("Normalise", Own, &Across{
	Sightings: 1,
	Observe:   func(d *Into, _ int) { vec.AddRows(d.Sum, d.A) },
	Apply: func(d *Into) {
		copy(d.Y, d.A)
		for j, sum := range d.Sum {
			if sum == 0 {
				for k := j; k < len(d.Y); k += len(d.Sum) {
					d.Y[k] = 0
				}
			}
		}
		vec.DivideRows(d.Y, d.Sum)
	},
	Terms: products,
	Pull: func(d *Into) { // dx += (dy − Σy·dy)/sum
		n := len(d.Sums)
		for at := 0; at < len(d.Y); at += n {
			for j, g := range d.DY[at : at+n] {
				if d.Sum[j] != 0 {
					d.DX[at+j] += (g - d.Sums[j]) / d.Sum[j]
				}
			}
		}
	},
})
