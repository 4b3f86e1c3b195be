package attend

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// BenchmarkGATv2Walk times an edge, of rows that are in the second cache.
func BenchmarkGATv2Walk(b *testing.B) {
	rng := rand.New(rand.NewPCG(62, 1))
	const n, sources = 140, 60
	deg := make([]int, n)
	for i := range deg {
		deg[i] = rng.IntN(14)
	}
	s := gatv2WalkOf(rng, deg, sources)
	s.Stream = false
	next := func() Float { return Float(rng.NormFloat64()) / 8 }
	s.U, s.V, s.A, s.Y, s.R = simdtest.Draw(sources*gatv2Row, next), simdtest.Draw(n*gatv2Row, next), simdtest.Draw(gatv2Row, next), simdtest.Draw(n*gatv2Row, next), simdtest.Draw(n*gatv2Row, next)
	s.Top, s.Sum, s.DV, s.DA = simdtest.Draw(n*s.Apart, next), simdtest.Draw(n*s.Apart, next), simdtest.Draw(n*gatv2Row, next), simdtest.Draw(gatv2Row, next)
	edges := int(s.Offsets[n] - s.Offsets[0])
	s.Z, s.Signs, s.Work = make([]Float, edges*2*GATv2Heads), make([]uint8, edges*GATv2Heads), make([]Float, GATv2Work)
	for _, path := range []struct {
		name string
		undo func() func()
	}{{cpu.Path(), func() func() { return func() {} }}, {"narrow", cpu.Narrow}} {
		for _, k := range []struct {
			name string
			run  func(*GATv2Walk) int
		}{{"Attend", (*GATv2Walk).Attend}, {"Retrace", (*GATv2Walk).Retrace}} {
			b.Run(k.name+"/"+path.name, func(b *testing.B) {
				defer path.undo()()
				for b.Loop() {
					if k.run(&s) != n {
						b.Fatal("the kernel stopped")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
			})
		}
	}
}
