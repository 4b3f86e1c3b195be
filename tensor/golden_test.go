package tensor_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// initialised is a golden file: closed forms of PyTorch, for each pair of fans. It is read
// here, since internal/golden imports grad: with the tests of this package, some of which
// are within it, all between it and grad would be compiled again.
type initialised struct {
	Config struct {
		Fans [][2]int `json:"fan_in_fan_out"`
	} `json:"config"`
	Outputs map[string]struct {
		Data []float64 `json:"data"`
	} `json:"outputs"`
}

// of returns a number of an output.
func (g *initialised) of(t *testing.T, output string, i int) float64 {
	t.Helper()
	data := g.Outputs[output].Data
	if i >= len(data) {
		t.Fatalf("%s has %d numbers", output, len(data))
	}
	return data[i]
}

// TestInitialisersGolden holds the bounds and deviations of what the
// initialisers draw against PyTorch's closed forms.
func TestInitialisersGolden(t *testing.T) {
	gains := map[string]float64{"leaky_relu": tensor.LeakyGain(0.2), "relu": tensor.LeakyGain(0), "linear": tensor.LeakyGain(1), "tanh": 5. / 3, "selu": 0.75}
	for name, gain := range gains {
		text, err := os.ReadFile(filepath.Join("testdata", "init_"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		g := new(initialised)
		if err := json.Unmarshal(text, g); err != nil || len(g.Config.Fans) == 0 {
			t.Fatalf("init_%s.json: %d pairs of fans, %v", name, len(g.Config.Fans), err)
		}
		compare.Number(t, name+": gain", gain, g.of(t, "gain", 0), compare.Off(0, 1e-6))
		for i, fans := range g.Config.Fans {
			for j, in := range fans {
				bound, std := g.of(t, "kaiming_bound", 2*i+j), g.of(t, "kaiming_std", 2*i+j)
				drawnFrom(t, name+": KaimingUniform", bound, std, func(d *tensor.Dense, r *rand.Rand) { d.KaimingUniform(r, in, gain) })
				drawnFrom(t, name+": KaimingNormal", math.Inf(1), std, func(d *tensor.Dense, r *rand.Rand) { d.KaimingNormal(r, in, gain) })
			}
			in, out, bound, std := fans[0], fans[1], g.of(t, "xavier_bound", i), g.of(t, "xavier_std", i)
			drawnFrom(t, name+": GlorotUniform", bound, std, func(d *tensor.Dense, r *rand.Rand) { d.GlorotUniform(r, in, out, gain) })
			drawnFrom(t, name+": GlorotNormal", math.Inf(1), std, func(d *tensor.Dense, r *rand.Rand) { d.GlorotNormal(r, in, out, gain) })
		}
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
	compare.Number(t, what+": the deviation", math.Sqrt(square), std, compare.Off(0, 0.03))
	if !math.IsInf(bound, 1) {
		compare.Number(t, what+": the bound", most, bound, compare.Off(0, 1e-3))
		if most > bound*(1+1e-6) {
			t.Errorf("%s: %v is out of bounds %v", what, most, bound)
		}
	}
}
