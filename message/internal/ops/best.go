package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// Max is the largest message. Ties go to the lowest edge, which is kept and gets the gradient.
var Max = best("Max", false)

// Min is the smallest.
var Min = best("Min", true)

func best(name string, least bool) *Reducer {
	return &Reducer{
		Name: name, Edges: 1,
		Take: func(d *Arrivals) {
			if won := d.Edge[0]; d.Before == 0 {
				for j := range won {
					won[j] = -1
				}
			}
			b := vec.Best{Least: least, Stride: d.Stride, Value: d.Out, Row: d.Edge[0]}
			b.Take(d.M, d.Messages, d.Lo)
		},
		Pull: func(d *Arrivals) {
			lo, n, stride, dm, g := d.Lo, d.Messages, d.Stride, d.DM, d.DOut
			for j, e := range d.Edge[0] {
				if i := int(e) - lo; i >= 0 && i < n {
					dm[i*stride+j] += g[j]
				}
			}
		},
	}
}
