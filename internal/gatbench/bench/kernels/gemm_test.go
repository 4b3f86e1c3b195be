package kernels

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The loops, and gonum, that products are compared with must compute the same
// products: they know nothing of our kernels.
func TestPlainProducts(t *testing.T) {
	for _, kind := range []string{"gemm", "gemm_ta", "gemm_tb", "gemm_packed"} {
		p := newMatMul(kind, 37, 65, 29)
		p.run()
		want := p.c.Clone()
		p.c.Fill(7)
		r := p.plain(1)
		r.Call()
		if r.Share != 1 || !near(p.c, want) {
			t.Errorf("%s: the loops give\n%v, want\n%v (share %v)", kind, p.c, want, r.Share)
		}
		p.c.Fill(7)
		if r = p.gonum(1); r.Share != 1 || r.Name != "gonum" {
			t.Errorf("%s: all of gonum is %+v", kind, r)
		}
		if r.Call(); !near(p.c, want) {
			t.Errorf("%s: gonum gives\n%v, want\n%v", kind, p.c, want)
		}
		for _, half := range []bench.Reference{p.plain(0.5), p.gonum(0.5)} {
			if half.Call(); half.Share >= 1 || half.Share < 0.3 {
				t.Errorf("%s: half the product is %v of it", kind, half.Share)
			}
		}
	}
}

func near(a, b *tensor.Dense) bool {
	for i, v := range a.Data {
		if d := float64(v - b.Data[i]); !(math.Abs(d) < 1e-4) {
			return false
		}
	}
	return true
}
