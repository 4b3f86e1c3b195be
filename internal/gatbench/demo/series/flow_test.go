package series

import (
	"math"
	"testing"
)

// The ways down are their recurrences, written out: wₖ₊₁ = wₖ − ηλwₖ, with a velocity, and with
// Nesterov's momentum of (k−1)/(k+2).
func TestWaysDown(t *testing.T) {
	from := []float64{0.6, 0.8}
	plain, ball, ahead := plainDescent(from, 50), momentum(from, 50), nesterov(from, 50)
	for i, slope := range flowSlopes {
		w, b, v, y, x := from[i], from[i], 0.0, from[i], from[i]
		for k := 1; k <= 50; k++ {
			w -= flowRate * slope * w
			v = 0.9*v + slope*b
			b -= flowRate * v
			next := y - flowRate*slope*y
			y, x = next+float64(k-1)/float64(k+2)*(next-x), next
			for _, c := range []struct {
				name      string
				got, want float64
			}{{"descent", plain.at[k][i], w}, {"momentum", ball.at[k][i], b}, {"Nesterov", ahead.at[k][i], x}} {
				if math.Abs(c.got-c.want) > 1e-5 {
					t.Fatalf("%s: step %d: w_%d is %v, want %v", c.name, k, i+1, c.got, c.want)
				}
			}
		}
	}
}

// E never rises and f stays below its bound from wherever descent begins; E at the start is what
// the bound is made of. The heavy ball's f rises.
func TestLyapunovFalls(t *testing.T) {
	for _, angle := range []float64{0.3, 0.8, 1.2} {
		from := []float64{math.Cos(angle), math.Sin(angle)}
		for _, d := range []*descent{plainDescent(from, 300), nesterov(from, 300)} {
			if rises, above := d.rises(); rises > 0 || above > 0 {
				t.Errorf("%s from %v: E rises %d times, and f is above its bound %d times", d.name, from, rises, above)
			}
			if len(d.at) != 301 || len(d.e) != 301 || len(d.bound) != 301 {
				t.Errorf("%s: %d points, %d values of E and %d of the bound, want 301", d.name, len(d.at), len(d.e), len(d.bound))
			}
		}
	}
	wrong := nesterov([]float64{0.6, 0.8}, 300)
	wrong.e[7] *= 2
	if rises, _ := wrong.rises(); rises != 1 {
		t.Errorf("an E that rises once does so %d times", rises)
	}
}

// The gap to the flow falls with the rate, and with its square root where momentum leads.
func TestFlowGap(t *testing.T) {
	for _, rate := range []float64{1e-1, 1e-2, 1e-3} {
		if gap := flowGap(rate, false); !(gap < rate && gap > rate/20) {
			t.Errorf("rate %v: descent is %v from its flow", rate, gap)
		}
		if gap := flowGap(rate, true); !(gap < math.Sqrt(rate) && gap > math.Sqrt(rate)/20) {
			t.Errorf("rate %v: Nesterov's descent is %v from its flow", rate, gap)
		}
	}
}
