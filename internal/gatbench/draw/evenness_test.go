package draw

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attending is a node whose in-edges have the weights of one head.
func attending(weights ...tensor.Float) Attended {
	a := Attended{Node: 0}
	for i, w := range weights {
		a.Edges = append(a.Edges, AttendedEdge{int32(i), [][]tensor.Float{{w}}})
	}
	return a
}

// Attention is compared with uniform attention in numbers and in widths, on one scale:
// that which differs by rounding looks the same, that of one edge does not.
func TestEvenness(t *testing.T) {
	half := tensor.Float(0.5)
	for _, tt := range []struct {
		a    Attended
		want string
	}{
		{attending(0.25, 0.25, 0.25, 0.25), "1.00 to 1.00 × uniform, entropy 100.0 % of uniform's"},
		{attending(0.24, 0.26, 0.25, 0.25), "0.96 to 1.04 × uniform, entropy 99.9 % of uniform's"},
		{attending(half, half, 0, 0), "0.00 to 2.00 × uniform, entropy 50.0 % of uniform's"},
		{attending(1, 0, 0, 0), "0.00 to 4.00 × uniform, entropy 0.00 % of uniform's"},
		{attending(1), "a single in-edge has all of it"},
		{Attended{}, "a single in-edge has all of it"},
	} {
		if got := tt.a.evenness(0).String(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.a, got, tt.want)
		}
	}
	two := Attended{Edges: []AttendedEdge{{0, [][]tensor.Float{{1, half}}}, {1, [][]tensor.Float{{0, half}}}}}
	if got, want := two.evenness(0).String(), "single heads 0.00 to 2.00 × uniform, entropy 50.0 % of uniform's"; got != want {
		t.Errorf("two heads: %s, want %s", got, want)
	}
	even := evenness{edges: 7}
	last := 0.0
	for _, share := range []float64{0, 0.05, 1. / 7, 0.3, 0.5, 1} {
		width := even.width(share)
		if width <= last && share < 0.8 || width > mostWidth {
			t.Errorf("an edge of %.2f is %.2f wide, one of less %.2f", share, width, last)
		}
		last = width
	}
	if got := even.width(1. / 7 * (1 + 1e-6)); math.Abs(got-uniformWidth) > 1e-5 {
		t.Errorf("an edge of uniform attention is %g wide, not %g", got, uniformWidth)
	}
	if many := (evenness{edges: 480}); many.width(1./480) > uniformWidth/5 || many.key().Mark != picture.Words {
		t.Errorf("one of 480 edges is %g wide, with the key %v", many.width(1./480), many.key())
	}
}
