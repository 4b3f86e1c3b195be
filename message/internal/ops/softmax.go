package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// softmax is exp(x − top)/Σexp(x − top), over whole tiles at once where no destination is in parts.
// Kept are the largest entry, or 0, and that sum.
var softmax = softmaxOp()

var softmaxAcross = Across{
	Sightings: 2, Observe: observeSoftmax, Terms: products,
	Pull: func(d *Into) { // dx += y·(dy − Σy·dy), to the bits of spmm.Ranges.Grad
		c, n := d.Sums, len(d.Sums)
		for at := 0; at < len(d.Y); at += n {
			dx, y, dy := d.DX[at:at+n], d.Y[at:at+n], d.DY[at:at+n]
			for j := range dx {
				dx[j] += tensor.Float(y[j] * (dy[j] - c[j]))
			}
		}
	},
}

func softmaxOp() Op {
	o := across("Softmax", Own, &softmaxAcross)
	o.Forward = func(t *Tile) {
		if len(t.Y) == 0 {
			return
		}
		seg := spmm.Ranges{Off: t.Off, W: t.Width, Top: t.Top, Sum: t.Sum, Apart: t.Apart}
		if t.Known {
			seg.Weights(t.Y, t.A)
		} else {
			seg.Softmax(t.Y, t.A)
		}
	}
	o.Backward = func(t *Tile, operand int) {
		if t.Part {
			softmaxAcross.backward(t, operand)
			return
		}
		(&spmm.Ranges{Off: t.Off, W: t.Width}).Grad(t.DX, t.Y, t.DY)
	}
	return o
}
