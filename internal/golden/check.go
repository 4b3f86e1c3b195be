package golden

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// CheckOutputs compares results with the case's outputs of their names, and returns
// the gradients of Σ ⟨output, cotangent⟩. An output that has a cotangent must be
// among them.
func (c *Case) CheckOutputs(t testing.TB, tp *grad.Tape, outs map[string]*grad.Var) grad.Grads {
	t.Helper()
	for key, y := range outs {
		Compare(t, key, y.Value(), c.Tensor(t, "outputs", key), c.Float32Error.Outputs)
	}
	var loss *grad.Var
	for key := range c.Cotangents {
		y := outs[key]
		if y == nil {
			t.Fatalf("golden: %s: there is no result for %q", c.Name, key)
		}
		part := y.Mul(grad.Const(c.Tensor(t, "cotangents", key).Reshape(y.Shape()...))).Sum()
		if loss == nil {
			loss = part
		} else {
			loss = loss.Add(part)
		}
	}
	return tp.Backward(loss)
}

// CheckGrads compares gradients with all of the case's, by its names. A nil stands for
// zeros.
func (c *Case) CheckGrads(t testing.TB, grads map[string]*tensor.Dense) {
	t.Helper()
	for key := range c.Grads {
		want := c.Tensor(t, "grads", key)
		got, ok := grads[key]
		switch {
		case !ok:
			t.Errorf("golden: %s: there is no gradient for %q", c.Name, key)
			continue
		case got == nil:
			got = want.Like()
			got.Fill(0)
		}
		Compare(t, "gradient of "+key, got, want, c.Float32Error.Grads)
	}
}
