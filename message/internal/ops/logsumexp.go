package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// LogSumExp is log Σ eᵐ. Σ exp(m − top) is kept, and top, the largest message.
var LogSumExp = &Reducer{
	Name: "LogSumExp", Floats: 2,
	Take: func(d *Arrivals) { // row by row, so that no bit depends on how rows are grouped
		n, sum, top := len(d.Out), d.Kept[0], d.Kept[1]
		if d.Before == 0 {
			vec.NoTop(top)
		}
		before, now := d.Tmp[:n], d.Tmp[n:2*n]
		for i := range d.Messages {
			copy(before, top)
			vec.TopRows(top, d.Message(i))
			vec.ExpRows(before, before, top)
			vec.ExpRows(now, d.Message(i), top)
			vec.Mul.Forward(sum, sum, before, 1, 1)
			add(sum, now)
		}
	},
	Finish: func(d *Arrivals) {
		vec.Log.Forward(d.Out, d.Kept[0], 0)
		add(d.Out, d.Kept[1])
	},
	Pull: func(d *Arrivals) {
		p := d.Tmp[:len(d.Out)]
		for i := range d.Messages {
			vec.ExpRows(p, d.Message(i), d.Kept[1])
			vec.DivideRows(p, d.Kept[0])
			vec.Mul.BackwardX(d.Gradient(i), d.DOut, p, p, 1, 1)
		}
	},
}
