package draw

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// cloud is n points around nought, and one far away in a direction of its own.
func cloud(n int, far float64) *tensor.Dense {
	rng := rand.New(rand.NewPCG(3, 4))
	x := tensor.New(n+1, 4)
	for i := range n {
		x.Row(i)[0], x.Row(i)[1] = tensor.Float(3*rng.NormFloat64()), tensor.Float(rng.NormFloat64())
		x.Row(i)[2] = tensor.Float(0.1 * rng.NormFloat64())
	}
	x.Row(n)[2], x.Row(n)[3] = tensor.Float(far), tensor.Float(-far)
	return x
}

// One node far away neither turns the components nor squashes the other nodes: they keep
// most of both axes.
func TestOutlierDoesNotSquash(t *testing.T) {
	for _, far := range []float64{0, 100, 1e6, 1e15} {
		x := cloud(1000, far)
		points := principal(x)
		var first, second, a, b []float64
		for i := range 1000 {
			first, second = append(first, points[i][0]), append(second, points[i][1])
			a, b = append(a, float64(x.Row(i)[0])), append(b, float64(x.Row(i)[1]))
		}
		if math.Abs(correlation(first, a)) < 0.99 || math.Abs(correlation(second, b)) < 0.99 {
			t.Errorf("with a node at %g the components agree by %.3f and %.3f with those without", far, correlation(first, a), correlation(second, b))
		}
		edge := borderOf(points)
		if wide := edge.high[0] - edge.low[0]; wide > 40 {
			t.Errorf("with a node at %g the axis is %.0f long; the others' is about 20", far, wide)
		}
	}
	points := [][2]float64{}
	for i := range 500 {
		points = append(points, [2]float64{float64(i % 10), float64(i / 50)})
	}
	points = append(points, [2]float64{1e9, 5}, [2]float64{3, -1e9}, [2]float64{math.NaN(), 2}, [2]float64{math.Inf(1), 2})
	edge := borderOf(points)
	outside := 0
	for _, p := range points {
		at, beyond := edge.hold(p)
		if beyond {
			outside++
		}
		if at[0] > 20 || at[1] < -20 {
			t.Errorf("%v stands at %v, of %v", p, at, edge)
		}
	}
	if outside != 3 {
		t.Errorf("%d points are beyond the border, want 3", outside)
	}
}

// Where most points are one, where there are few, or none, all are inside.
func TestBorderOfFew(t *testing.T) {
	for _, points := range [][][2]float64{{}, {{3, 4}}, {{0, 0}, {1e9, 1}}, {{1, 1}, {1, 1}, {1, 1}, {5, 5}}} {
		edge := borderOf(points)
		for _, p := range points {
			if at, beyond := edge.hold(p); beyond || at != p {
				t.Errorf("of %v, %v stands at %v", points, p, at)
			}
		}
	}
}
