package grad_test

import (
	"encoding/json"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Zero is 0 where a field has a preset, stays itself in JSON, and rounds to 0 in
// float32, which programs do that do not know it.
func TestPreset(t *testing.T) {
	for v, want := range map[float64]float64{0: 0.2, grad.Zero: 0, 0.5: 0.5, -1: -1} {
		if got := grad.Preset(v, 0.2); got != want {
			t.Errorf("Preset(%v, 0.2) is %v, want %v", v, got, want)
		}
	}
	text, err := json.Marshal(grad.Zero)
	var back float64
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back != grad.Zero || float32(back) != 0 {
		t.Errorf("%s became %v, %v", text, back, err)
	}
}

// The losses and norms of this package know it.
func TestZeroOfFields(t *testing.T) {
	x := grad.Const(tensor.Of([]tensor.Float{3, 2, 0, 1}, 2, 2))
	if got := (grad.Hinge{Margin: grad.Zero}).Of(x, []int32{0, 0}).Value().Data[0]; got != 0.25 { // ½·(0 + ½·1)
		t.Errorf("a hinge without margin gives %v, want 0.25", got)
	}
	if got := (grad.PairNorm{Scale: grad.Zero}).Of(x, []int{0, 2}).Value().Data; got[0] != 0 {
		t.Errorf("a scale of 0 gives %v", got)
	}
	mean, variance := &grad.Param{Value: tensor.New(2), Frozen: true}, &grad.Param{Value: ones(2), Frozen: true}
	tape, run := grad.NewTape(1), &grad.RunningStats{Mean: mean, Variance: variance, Momentum: grad.Zero}
	tape.Backward(tape.BatchNorm(tape.Watch(x.Value()), grad.Affine{}, run, 1e-5).Square().Sum())
	if mean.Value.Data[0] != 0 || variance.Value.Data[0] != 1 {
		t.Errorf("without momentum the statistics moved to %v and %v", mean.Value, variance.Value)
	}
}
