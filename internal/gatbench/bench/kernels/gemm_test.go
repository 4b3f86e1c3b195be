package kernels

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
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
		compare.Near(t, kind+": the loops", p.c.Data, want.Data, compare.Off(1e-4, 0))
		if r.Share != 1 {
			t.Errorf("%s: the loops do %v", kind, r.Share)
		}
		p.c.Fill(7)
		if r = p.gonum(1); r.Share != 1 || r.Name != "gonum" {
			t.Errorf("%s: all of gonum is %+v", kind, r)
		}
		r.Call()
		compare.Near(t, kind+": gonum", p.c.Data, want.Data, compare.Off(1e-4, 0))
		for _, half := range []bench.Reference{p.plain(0.5), p.gonum(0.5)} {
			if half.Call(); half.Share >= 1 || half.Share < 0.3 {
				t.Errorf("%s: half the product is %v of it", kind, half.Share)
			}
		}
	}
}
