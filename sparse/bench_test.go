package sparse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The benchmarks run at the size of Cora with self-loops: 2708 nodes, 13264
// edges, rows of 64 elements, 8 heads.
const (
	coraNodes = 2708
	coraEdges = 13264
)

func cora(b *testing.B) (a *sparse.CSR, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(1, 1))
	r, c := make([]int32, coraEdges), make([]int32, coraEdges)
	for i := range r {
		r[i], c[i] = rng.Int32N(coraNodes), rng.Int32N(coraNodes)
	}
	a, _, err := sparse.FromCOO(coraNodes, coraNodes, r, c, nil)
	if err != nil {
		b.Fatal(err)
	}
	return a, rng
}

func BenchmarkKernels(b *testing.B) {
	a, rng := cora(b)
	x, y := normal(rng, coraNodes, 8, 8), tensor.New(coraNodes, 8, 8)
	w, e := normal(rng, coraEdges, 8), tensor.New(coraEdges, 8)
	weighted := a.NormaliseRows()
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"MulDense", func() { sparse.MulDense(y, weighted, x) }},
		{"MulDense/ones", func() { sparse.MulDense(y, a, x) }},
		{"MulDenseT", func() { sparse.MulDenseT(y, weighted, x) }},
		{"MulHeads", func() { sparse.MulHeads(y, a, w, x) }},
		{"MulHeadsT", func() { sparse.MulHeadsT(y, a, w, x) }},
		{"DotHeads", func() { sparse.DotHeads(e, a, x, x) }},
		{"SoftmaxRows", func() { sparse.SoftmaxRows(e, a, w) }},
		{"SoftmaxRowsGrad", func() { sparse.SoftmaxRowsGrad(e, a, w, w) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			y.Zero()
			e.Zero()
			for b.Loop() {
				k.run()
			}
		})
	}
}

func BenchmarkStructure(b *testing.B) {
	a, _ := cora(b)
	dst := make([]float, a.NNZ())
	drop := simd.NewDropout(1, 1, 1, 0.6)
	b.Run("Transpose", func(b *testing.B) {
		for b.Loop() {
			fresh, err := sparse.New(a.NumRows, a.NumCols, a.Offsets, a.Cols, nil)
			if err != nil {
				b.Fatal(err)
			}
			fresh.Transpose()
		}
	})
	b.Run("DropValues", func(b *testing.B) {
		for b.Loop() {
			sparse.DropValues(dst, a, &drop)
		}
	})
}
