package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// RunningStats is the mean and the variance of each column that a batch
// normalisation remembers, in frozen Params of one element a column.
type RunningStats struct {
	Mean, Variance *Param
	Momentum       float64 // weight of a batch; 0 means 0.1
	Fixed          bool    // use them while training too, and do not move them
}

// BatchNorm normalises each column over the rows, which are all axes but the
// last:
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// While t records, mean and var are those of the batch, var being the mean square
// of x − mean, and run moves towards them (with n−1 for n in its variance, as
// PyTorch does; of one row only the mean moves, of none nothing). Otherwise, or
// if run is Fixed, they are those of run. A nil run is no memory: every batch is
// normalised by itself. c.Shift is not used.
func (t *Tape) BatchNorm(x *Var, c Affine, run *RunningStats, eps float64) *Var {
	n := dense.ColumnNorm{Eps: eps}
	rows := leading(x.Value().Shape())
	c.Shift = nil
	if run != nil {
		run.check(x)
	}
	if run != nil && (run.Fixed || !t.Recording()) {
		n.Fixed = true
		n.Mean, n.Scale = run.Mean.Value.Data, run.scales(t, eps)
		y, _ := x.columnNorm("BatchNorm", c, n)
		return y
	}
	y, used := x.columnNorm("BatchNorm", c, n)
	if run != nil && rows > 0 {
		run.move(t, used.Mean, used.Scale, batchSize{rows, eps})
	}
	return y
}

// batchSize is the rows of a batch and the eps in its scales.
type batchSize struct {
	n   int
	eps float64
}

func (r *RunningStats) check(x *Var) {
	for _, p := range []*Param{r.Mean, r.Variance} {
		if p == nil || p.Value == nil {
			panic(&TapeError{Op: "BatchNorm", Why: "the running statistics have no value; was the layer's Init called?"})
		}
		if len(p.Value.Data) != x.Dim(-1) {
			panic(tensor.Mismatch("grad.BatchNorm", x, p.Value))
		}
	}
}

// scales returns 1/√(var + eps) of the remembered variances.
func (r *RunningStats) scales(t *Tape, eps float64) []tensor.Float {
	s := t.take(len(r.Variance.Value.Data))
	for j, v := range r.Variance.Value.Data {
		s[j] = tensor.Float(1 / math.Sqrt(float64(v)+eps))
	}
	return s
}

// move mixes the statistics of a batch into the remembered ones, at the end of
// Backward.
func (r *RunningStats) move(t *Tape, mean, scale []tensor.Float, b batchSize) {
	m := Preset(r.Momentum, 0.1)
	n := float64(b.n)
	mix := func(p *Param, batch func(j int) float64) {
		v := Op{tape: t}.New(p.Value.Shape()...)
		for j, old := range p.Value.Data {
			v.val.Data[j] = tensor.Float((1-m)*float64(old) + m*batch(j))
		}
		t.Update(p, v)
	}
	mix(r.Mean, func(j int) float64 { return float64(mean[j]) })
	if b.n > 1 {
		mix(r.Variance, func(j int) float64 {
			s := float64(scale[j])
			return (1/(s*s) - b.eps) * n / (n - 1)
		})
	}
}
