package ops

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// gumbel adds to each logit a number whose distribution makes the largest sum a
// draw by the logits' softmax: −log(−log u), u even between 0 and 1.
var gumbel = Op{
	Name: "draw", Operands: 1, Extra: Mask, InPlace: true,
	Reads: always(Same),
	Forward: func(t *Tile) {
		copy(t.Y, t.A)
		for e := range t.Edges {
			key := t.Drop.Row(t.Lo + e)
			for j := range t.Width {
				t.Y[e*t.Width+j] -= tensor.Float(math.Log(-math.Log(t.Drop.Uniform(key, j))))
			}
		}
	},
}
