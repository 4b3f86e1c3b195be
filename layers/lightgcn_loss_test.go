package layers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The loss is the paper's, term by term.
func TestLightGCNLoss(t *testing.T) {
	z := grad.NewParam(5, 3)
	z.Value.Normal(rand.New(rand.NewPCG(1, 1)), 0, 1)
	users, items, others := []int32{0, 1, 0}, []int32{2, 3, 4}, []int32{3, 2, 2}
	want := 0.0
	for i, u := range users {
		d := 0.0
		for j, x := range z.Value.Row(int(u)) {
			d += float64(x) * float64(z.Value.Row(int(items[i]))[j]-z.Value.Row(int(others[i]))[j])
		}
		want += math.Log1p(math.Exp(-d)) / 3
	}
	l := &layers.LightGCN{}
	loss := func(t *grad.Tape) *grad.Var { return l.Loss(t.Use(z), users, items, others) }
	if got := float64(loss(grad.NewEval()).Value().Data[0]); math.Abs(got-want) > 1e-5 {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	gradtest.Check(t, map[string]*grad.Param{"z": z}, loss)
	if tensor.Try(func() { l.Loss(grad.Const(z.Value), users, items[:1], others) }) == nil {
		t.Error("three users of one item are no error")
	}
}
