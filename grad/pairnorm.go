package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// PairNorm keeps the rows of each graph of a batch apart: it takes off the mean
// of each column over a graph, c = x − mean, and scales what is left,
//
//	y = scale·c/√(eps + mean ‖c‖²)       the mean being over the rows of the graph
//	y = scale·c/(eps + ‖c‖)              if Each, for each row by itself
//
// Zhao and Akoglu 2020, "PairNorm: Tackling Oversmoothing in GNNs".
type PairNorm struct {
	Scale float64 // 0 means 1
	Each  bool
	Eps   float64 // 0 means 1e-5
}

// Of applies p to the matrix x; rows offsets[i] to offsets[i+1] are graph i.
func (p PairNorm) Of(x *Var, offsets []int) *Var {
	op := Begin("PairNorm", x)
	n, d := leading(x.Value().Shape()), x.Dim(-1)
	checkOffsets("PairNorm", n, offsets)
	p.Scale, p.Eps = Preset(p.Scale, 1), Preset(p.Eps, 1e-5)
	y := op.freshLike(x)
	div := op.FreshFloats(n) // what each row was divided by
	if !op.Dry(0) {
		withSums(d, func(means []float64) {
			for k := range len(offsets) - 1 {
				lo, hi := offsets[k], offsets[k+1]
				p.graph(y.val.Data[lo*d:hi*d], x.val.Data[lo*d:hi*d], div[lo:hi], means)
			}
		})
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		withSums(d+len(dx), func(room []float64) {
			for k := range len(offsets) - 1 {
				lo, hi := offsets[k], offsets[k+1]
				p.pullGraph(dx[lo*d:hi*d], dy.Data[lo*d:hi*d], y.val.Data[lo*d:hi*d], div[lo:hi], room)
			}
		})
	})
}

// graph normalises the rows of one graph, whose means it leaves.
func (p PairNorm) graph(y, x, div []tensor.Float, means []float64) {
	columnMeans(means, x, len(div))
	d, total := len(means), 0.0
	for i := range div {
		square := 0.0
		for j, m := range means {
			c := float64(x[i*d+j]) - m
			square += c * c
		}
		div[i] = tensor.Float(p.Eps + math.Sqrt(square))
		total += square
	}
	for i := range div {
		if !p.Each {
			div[i] = tensor.Float(math.Sqrt(p.Eps + total/float64(len(div))))
		}
		for j, m := range means {
			y[i*d+j] = tensor.Float(p.Scale * (float64(x[i*d+j]) - m) / float64(div[i]))
		}
	}
}

// pullGraph adds the gradient of one graph, which is that of c without its mean
// over the rows. Of c = y·div/scale it is
//
//	scale/div·dy − y·⟨dy, y⟩/(scale·div·rows)     of all rows together
//	scale/div·dy − y·⟨dy, y⟩/(scale·‖c‖)          of each by itself
//
// room is for a row and for what y has.
func (p PairNorm) pullGraph(dx, dy, y, div []tensor.Float, room []float64) {
	n := len(div)
	if n == 0 {
		return
	}
	d := len(y) / n
	means, dc, all := room[:d], room[d:d+len(y)], 0.0
	for i, v := range y {
		all += float64(v) * float64(dy[i])
	}
	for i := range n {
		s := float64(div[i])
		dot, by := all, s*float64(n)
		if p.Each {
			dot, by = 0, s-p.Eps
			for j := i * d; j < i*d+d; j++ {
				dot += float64(y[j]) * float64(dy[j])
			}
		}
		for j := i * d; j < i*d+d; j++ {
			dc[j] = p.Scale / s * float64(dy[j])
			if by > 0 {
				dc[j] -= float64(y[j]) * dot / (p.Scale * by)
			}
		}
	}
	columnMeans(means, dc, n)
	for i := range dx {
		dx[i] += tensor.Float(dc[i] - means[i%d])
	}
}

// columnMeans sets means to the mean of each column of n rows.
func columnMeans[T ~float32 | ~float64](means []float64, x []T, n int) {
	clear(means)
	for i := range n {
		for j := range means {
			means[j] += float64(x[i*len(means)+j])
		}
	}
	for j := range means {
		means[j] /= float64(n)
	}
}
