package draw

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Points of an ellipse in five dimensions have its axes as their components.
func TestPrincipal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	long := []float64{0.5, 0.5, 0.5, 0.5, 0}
	short := []float64{0.5, -0.5, 0.5, -0.5, 0}
	x := tensor.New(200, 5)
	a, b := make([]float64, 200), make([]float64, 200)
	for i := range a {
		a[i], b[i] = 5*rng.NormFloat64(), rng.NormFloat64()
		for j := range 5 {
			x.Row(i)[j] = tensor.Float(7 + a[i]*long[j] + b[i]*short[j])
		}
	}
	points := principal(x)
	for axis, want := range [][]float64{a, b} {
		got := make([]float64, len(points))
		for i, p := range points {
			got[i] = p[axis]
		}
		if c := math.Abs(correlation(got, want)); c < 0.99 {
			t.Errorf("component %d agrees with its axis by %.3f", axis, c)
		}
	}
	for _, p := range principal(tensor.New(4, 3)) {
		if p != [2]float64{} {
			t.Errorf("nothing has the component %v", p)
		}
	}
}

func correlation(x, y []float64) float64 {
	var mx, my, xy, xx, yy float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}
