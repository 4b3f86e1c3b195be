package simd

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkScored times an edge, of rows that are in the second cache.
func BenchmarkScored(b *testing.B) {
	rng := rand.New(rand.NewPCG(62, 1))
	const n, sources = 140, 60
	deg := make([]int, n)
	for i := range deg {
		deg[i] = rng.IntN(14)
	}
	s := scoredOf(rng, deg, sources)
	s.Stream = false
	next := func() Float { return Float(rng.NormFloat64()) / 8 }
	s.U, s.V, s.A, s.Y, s.R = draw(sources*scoredRow, next), draw(n*scoredRow, next), draw(scoredRow, next), draw(n*scoredRow, next), draw(n*scoredRow, next)
	s.Top, s.Sum, s.DV, s.DA = draw(n*s.Apart, next), draw(n*s.Apart, next), draw(n*scoredRow, next), draw(scoredRow, next)
	edges := int(s.Offsets[n] - s.Offsets[0])
	s.Z, s.Signs, s.Work = make([]Float, edges*2*ScoredHeads), make([]uint8, edges*ScoredHeads), make([]Float, ScoredWork)
	for _, path := range []struct {
		name string
		undo func() func()
	}{{Path(), func() func() { return func() {} }}, {"narrow", Narrow}} {
		for _, k := range []struct {
			name string
			run  func(*Scored) int
		}{{"Attend", (*Scored).Attend}, {"Retrace", (*Scored).Retrace}} {
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
