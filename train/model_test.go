package train_test

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// logistic is a model of one linear layer, with a running mean that is not
// trained.
type logistic struct {
	In, Classes int
	W, B        *grad.Param `json:"-"`
	Mean        *grad.Param `json:"-"`
}

func (l *logistic) init(rng *rand.Rand) *logistic {
	l.W, l.B = grad.NewParam(l.In, l.Classes), grad.NewParam(l.Classes)
	l.Mean = &grad.Param{Value: tensor.New(l.In), Frozen: true}
	l.W.Value.Normal(rng, 0, 0.1)
	return l
}

func (l *logistic) forward(t *grad.Tape, x *grad.Var) *grad.Var {
	t.Update(l.Mean, x.MeanAxis(0))
	return t.Dropout(x, 0.2).MatMul(t.Use(l.W)).Add(t.Use(l.B))
}

// blobs returns n points around two centres, and which centre each is of.
func blobs(n int) (*grad.Var, []int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, labels := tensor.New(n, 2), make([]int32, n)
	x.Normal(rng, 0, 0.5)
	for i := range labels {
		labels[i] = int32(i % 2)
		x.Row(i)[0] += tensor.Float(3*labels[i]) - 1.5
	}
	return grad.Const(x), labels
}

func rowsTo(lo, hi int) []int32 {
	var rows []int32
	for i := lo; i < hi; i++ {
		rows = append(rows, int32(i))
	}
	return rows
}

func newLogistic() *logistic {
	return (&logistic{In: 2, Classes: 2}).init(rand.New(rand.NewPCG(1, 2)))
}
