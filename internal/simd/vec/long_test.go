package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A call of the assembly takes 2¹⁴ elements: of lists on either side of that, and of two
// and more, sums of whole numbers are exact, and so is where the largest stands.
func TestLongLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for _, n := range []int{1<<14 - 1, 1 << 14, 1<<14 + 1, 1<<15 + 7, 50_000} {
		x, y, z := make([]Float, n), make([]Float, n), make([]Float, n)
		sum, dot := 0, 0
		for i := range x {
			a, b := rng.IntN(5)+1, rng.IntN(5)+1
			x[i], y[i] = Float(a), Float(b)
			sum += a
			dot += a * b
		}
		if got := Sum(x); got != Float(sum) {
			t.Errorf("the sum of %d elements is %v, want %d", n, got, sum)
		}
		if got := Sum64(x); got != float64(sum) {
			t.Errorf("the sum of %d elements in float64 is %v, want %d", n, got, sum)
		}
		if got := Dot(x, y); got != Float(dot) {
			t.Errorf("the dot of %d elements is %v, want %d", n, got, dot)
		}
		mulAddLess(z, x, y, 2)
		for i, v := range z {
			if v != x[i]*(y[i]-2) {
				t.Fatalf("MulAddLess of %d elements: element %d is %v, want %v", n, i, v, x[i]*(y[i]-2))
			}
		}
		for _, at := range []int{0, 1<<14 - 2, n - 2, n - 1} {
			x[at] = 100
			if got := MaxOf(x); got != 100 {
				t.Errorf("the largest of %d elements, at %d, is %v", n, at, got)
			}
			x[at] = 1
		}
		clear(z)
		Softmax(z, x)
		total := 0.0
		for _, v := range x {
			total += math.Exp(float64(v) - 5)
		}
		for i, v := range z {
			if want := math.Exp(float64(x[i])-5) / total; !(math.Abs(float64(v)-want) <= 5e-4*want) {
				t.Fatalf("the softmax of %d elements is %v at %d, want %v", n, v, i, want)
			}
		}
		x[1<<14-2] = Float(math.NaN())
		if got := MaxOf(x); got == got {
			t.Errorf("the largest of %d elements, one of which is NaN, is %v", n, got)
		}
	}
}
