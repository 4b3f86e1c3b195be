package tensor_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestInitialisersGolden holds the bounds and deviations of what the
// initialisers draw against PyTorch's closed forms.
func TestInitialisersGolden(t *testing.T) {
	gains := map[string]float64{"leaky_relu": tensor.LeakyGain(0.2), "relu": tensor.LeakyGain(0), "linear": tensor.LeakyGain(1), "tanh": 5. / 3, "selu": 0.75}
	for name, gain := range gains {
		c := golden.Load(t, filepath.Join("testdata", "init_"+name+".json"))
		agree(t, name+": gain", gain, float64(c.Tensor(t, "outputs", "gain").Data[0]), 1e-6)
		kaiming := func(key string, i int) float64 { return float64(c.Tensor(t, "outputs", "kaiming_"+key).Data[i]) }
		xavier := func(key string, i int) float64 { return float64(c.Tensor(t, "outputs", "xavier_"+key).Data[i]) }
		for i, f := range c.Config["fan_in_fan_out"].([]any) {
			fans := f.([]any)
			for j, fan := range fans {
				in := int(fan.(float64))
				drawnFrom(t, name+": KaimingUniform", kaiming("bound", 2*i+j), kaiming("std", 2*i+j), func(d *tensor.Dense, r *rand.Rand) { d.KaimingUniform(r, in, gain) })
				drawnFrom(t, name+": KaimingNormal", math.Inf(1), kaiming("std", 2*i+j), func(d *tensor.Dense, r *rand.Rand) { d.KaimingNormal(r, in, gain) })
			}
			in, out := int(fans[0].(float64)), int(fans[1].(float64))
			drawnFrom(t, name+": GlorotUniform", xavier("bound", i), xavier("std", i), func(d *tensor.Dense, r *rand.Rand) { d.GlorotUniform(r, in, out, gain) })
			drawnFrom(t, name+": GlorotNormal", math.Inf(1), xavier("std", i), func(d *tensor.Dense, r *rand.Rand) { d.GlorotNormal(r, in, out, gain) })
		}
	}
}

func agree(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// drawnFrom compares the deviation, and the bound if there is one, with what is
// drawn: to 2 %, six times the standard error or more.
func drawnFrom(t *testing.T, what string, bound, std float64, fill func(*tensor.Dense, *rand.Rand)) {
	t.Helper()
	const n = 10_000
	d := tensor.New(n)
	fill(d, rand.New(rand.NewPCG(5, 6)))
	square, most := 0.0, 0.0
	for _, v := range d.Data {
		square += float64(v) * float64(v) / n
		most = max(most, math.Abs(float64(v)))
	}
	agree(t, what+": the deviation", math.Sqrt(square), std, 0.03)
	if !math.IsInf(bound, 1) {
		agree(t, what+": the bound", most, bound, 1e-3)
		if most > bound*(1+1e-6) {
			t.Errorf("%s: %v is out of bounds %v", what, most, bound)
		}
	}
}
