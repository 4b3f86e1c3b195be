//go:build !f64

package main

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// gonum computes a product with gonum's native BLAS, which uses GOMAXPROCS
// threads.
func (p *matMul) gonum() {
	a := blas32.General{Rows: p.a.Rows(), Cols: p.a.RowLen(), Stride: p.a.RowLen(), Data: p.a.Data}
	b := blas32.General{Rows: p.k, Cols: p.n, Stride: p.n, Data: p.b.Data}
	c := blas32.General{Rows: p.m, Cols: p.n, Stride: p.n, Data: p.c.Data}
	transposed := blas.NoTrans
	if p.transpose != 0 {
		transposed = blas.Trans
	}
	blas32.Gemm(transposed, blas.NoTrans, 1, a, b, 0, c)
}

// Gonum is an oracle that knows nothing of our kernels.
func TestProductsAgreeWithGonum(t *testing.T) {
	for _, kind := range []string{"gemm", "gemm_ta", "gemm_packed"} {
		p := newMatMul(kind, 37, 65, 29)
		p.run()
		got := p.c.Clone()
		p.gonum()
		if !near(got, p.c) {
			t.Errorf("%s differs from gonum's", kind)
		}
	}
}

// Products beside gonum's in one run; the big ones of the bench take gonum
// seconds a call and are left out.
func BenchmarkGonum(b *testing.B) {
	for _, s := range [][3]int{{1024, 1024, 1024}, {19717, 500, 64}, {2708, 1433, 64}, {64, 128, 512}} {
		p := newMatMul("gemm", s[0], s[1], s[2])
		for _, side := range []struct {
			name string
			call func()
		}{{"edgewise", p.run}, {"gonum", p.gonum}} {
			b.Run(fmt.Sprintf("gemm/%dx%dx%d/%s", s[0], s[1], s[2], side.name), func(b *testing.B) {
				for b.Loop() {
					side.call()
				}
				b.ReportMetric(2*float64(p.m)*float64(p.k)*float64(p.n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
