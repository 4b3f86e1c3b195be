package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sum is Σ m.
var Sum = &Reducer{
	Name: "Sum", Plain: true, Take: takeSum,
	Pull: func(d *Arrivals) { pullEach(d, d.DOut) },
}

// Mean is Σ m / n.
var Mean = &Reducer{
	Name: "Mean", Plain: true, Take: takeSum,
	Share:  func(to, from []tensor.Float, n int, off []int64) { spmm.Rows(n).DivideRanges(to, from, off) },
	Finish: func(d *Arrivals) { d.Divide(d.Out, d.Out) },
	Pull: func(d *Arrivals) {
		g := d.Tmp[:len(d.Out)]
		d.Divide(g, d.DOut)
		pullEach(d, g)
	},
}

func takeSum(d *Arrivals) {
	if len(d.Out) == d.Stride {
		vec.AddRows(d.Out, d.M)
		return
	}
	for i := range d.Messages {
		add(d.Out, d.Message(i))
	}
}

// pullEach adds g to the gradient of every message.
func pullEach(d *Arrivals, g []tensor.Float) {
	for i := range d.Messages {
		add(d.Gradient(i), g)
	}
}
