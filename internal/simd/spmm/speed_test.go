package spmm

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// BenchmarkLists runs what goes through lists of nonzeros beside plain Go: 256 rows of eight.
func BenchmarkLists(b *testing.B) {
	rng := rand.New(rand.NewPCG(24, 3))
	const rows, each, n, w = 256, 8, 256 * 8, 64
	off, cols, from := make([]int64, rows+1), simdtest.Index(rng, n, rows), simdtest.Draw(n, simdtest.NearOne(rng))
	for i := range off {
		off[i] = int64(i * each)
	}
	d := vec.NewDropout(1, 2, 3, 0.6)
	half := append([]Float(nil), from...)
	for k := range half {
		if rng.IntN(2) == 0 {
			half[k] = 0
		}
	}
	x, y, z := simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(n*w, simdtest.Plain(rng)), simdtest.Draw(rows*w, simdtest.Plain(rng))
	toCols, to, starts, edges, arg := make([]int32, n+KeepRoom), make([]Float, n+KeepRoom), make([]int64, rows+1), simdtest.Index(rng, n, n), make([]int32, rows*w)
	v := Values{Offsets: off, Cols: cols, From: from, To: to, ToCols: toCols, Kept: to, Starts: starts}
	g := Gather{X: z, Offsets: off, Cols: cols, F: w}
	one := Ranges{Off: off, W: 1, Top: make([]Float, n), Sum: make([]Float, n), Apart: 1}
	two, four, eight := one, one, one
	two.W, two.Apart = 2, 2
	four.W, four.Apart, eight.W, eight.Apart = 4, 4, 8, 8
	segments := Segments{Offsets: off, X: x, Y: y, Work: make([]Float, SegmentWork(8)), N: 8}
	grads := segments
	grads.D = x
	list := short(edges[:rows])
	for _, path := range []string{cpu.Path(), "go"} {
		for _, k := range []struct {
			name string
			f    func()
		}{
			{"keep", func() { v.Keep(&d) }}, {"drop", func() { v.Drop(&d) }},
			{"pick", func() { Pick(toCols, to, cols, half) }}, {"pickEdges", func() { PickEdges(toCols, to, cols, half, edges) }},
			{"gather64", func() { Rows(w).Gather(x, z, cols) }}, {"scatter64", func() { Rows(w).Scatter(z, x, cols, list) }},
			{"gather8", func() { Rows(8).Gather(x[:8*n], z, cols) }}, {"scatter8", func() { Rows(8).Scatter(z, x, cols, list) }},
			{"softmax1", func() { one.Softmax(y, x[:n]) }}, {"softmax4", func() { four.Softmax(y, x[:4*n]) }}, {"softmax8", func() { eight.Softmax(y, x[:8*n]) }},
			{"weights8", func() { eight.Weights(y, x[:8*n]) }},
			{"grad1", func() { one.Grad(y, x[:n], x[:n]) }}, {"grad8", func() { eight.Grad(y, x[:8*n], x[:8*n]) }},
			{"segments8", func() { segments.Softmax() }}, {"segmentsGrad8", func() { grads.SoftmaxGrad() }},
			{"grad2", func() { two.Grad(y, x[:2*n], x[:2*n]) }}, {"sum64", func() { Rows(w).SumRanges(z, x[:n/8*w], off[:rows/8+1]) }}, {"spread64", func() { Rows(w).SpreadRanges(y[:n/8*w], z, off[:rows/8+1]) }},
			{"sum8", func() { Rows(8).SumRanges(z, x[:8*n], off) }}, {"spread8", func() { Rows(8).SpreadRanges(y[:8*n], z, off) }},
			{"dot8", func() { Rows(8).DotRanges(to[:8], z, x[:8*n], off) }}, {"dot64", func() { Rows(w).DotRanges(y[:w], z, x[:n/8*w], off[:rows/8+1]) }},
			{"divide64", func() { Rows(w).DivideRanges(y, z, off) }}, {"addMeans64", func() { Rows(w).AddMeans(y, z, off) }},
			{"best64", func() { (&RowBest{Gather: g, Y: y[:rows*w], Arg: arg}).SetRows(0, rows) }},
			{"won64", func() { (&RowWon{Gather: g, Y: y[:rows*w], Arg: arg, Edges: edges}).AddRows(0, rows) }},
		} {
			b.Run(path+"/"+k.name, func(b *testing.B) {
				if path == "go" {
					defer cpu.Disable()()
				}
				for b.Loop() {
					k.f()
				}
			})
		}
	}
}
