package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func BenchmarkUnary(b *testing.B) {
	x, y := make([]Float, 2048), make([]Float, 2048)
	for i := range x {
		x[i] = Float(i%17)/2 + 0.1
	}
	for _, path := range []string{cpu.Path(), "go"} {
		for _, u := range []Unary{Scale, ReLU, LeakyReLU, ELU, Sigmoid, Tanh, Softplus, SiLU, Exp, Log, Sqrt, GELU, GELUTanh, SELU, Abs, Reciprocal, Square} {
			b.Run(path+"/"+u.String(), func(b *testing.B) {
				if path == "go" {
					defer cpu.Disable()()
				}
				for b.Loop() {
					u.Forward(y, x, 1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
			})
		}
	}
}

func BenchmarkSlopes(b *testing.B) {
	x, y, dy, dx := make([]Float, 2048), make([]Float, 2048), make([]Float, 2048), make([]Float, 2048)
	for i := range x {
		x[i] = Float(i%17)/2 + 0.1
	}
	for _, path := range []string{cpu.Path(), "go"} {
		for _, u := range []Unary{ReLU, ELU, Sigmoid, Tanh, Softplus, SiLU, GELU, GELUTanh, SELU, Square, Reciprocal, Log, Sqrt} {
			b.Run(path+"/"+u.String(), func(b *testing.B) {
				if path == "go" {
					defer cpu.Disable()()
				}
				for b.Loop() {
					u.Backward(dx, dy, x, y, 1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
			})
		}
	}
}

func BenchmarkRows(b *testing.B) {
	x, y, z := make([]Float, 2048), make([]Float, 2048), make([]Float, 2048)
	d, a := NewDropout(1, 2, 3, 0.6), Adam{Eps: 1}
	top, sum := make([]Float, 8), make([]Float, 8)
	for _, path := range []string{cpu.Path(), "go"} {
		for _, k := range []struct {
			name string
			f    func()
		}{
			{"dropout", func() { d.Add(y, x, 0, len(x)) }}, {"setdropout", func() { d.Set(y, x, 0, len(x)) }}, {"setdropout64", func() { d.Set(y, x, 0, 64) }}, {"sum64", func() { Sum64(x) }}, {"adam", func() { a.Step(x, y, z, z) }},
			{"dot", func() { Dot(x, y) }}, {"max", func() { MaxOf(x) }}, {"add", func() { Add.Forward(z, x, y, 1, 1) }},
			{"softmax64", func() { Softmax(y[:64], x[:64]) }}, {"weigh8", func() { WeighRows(y, x, top, sum) }}, {"weigh1", func() { WeighRows(y, x, top[:1], sum[:1]) }},
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

// BenchmarkCells runs 16 rows of 128 units.
func BenchmarkCells(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 3))
	const rows, m = 16, 128
	s, g := drawLSTM(rng, rows, m), drawGRU(rng, rows, m, simdtest.Plain(rng))
	cell, gru, rest := lstmOf(s, m, true, false), gruOf(g, m, false, true), make([]Float, 2*m)
	sums := make([]Float, 3*m)
	peeping, _ := peepingOf(s, m, true, false)
	for _, path := range []string{cpu.Path(), "go"} {
		for _, k := range []struct {
			name string
			f    func()
		}{
			{"LSTM", func() { cell.Forward(0, rows) }}, {"LSTM back", func() { cell.Backward(0, rows, rest, nil) }},
			{"GRU", func() { gru.Forward(0, rows) }}, {"GRU back", func() { gru.Backward(0, rows, rest) }},
			{"peepholes", func() { peeping.Forward(0, rows) }}, {"peepholes back", func() { peeping.Backward(0, rows, nil, sums) }},
			{"gated tanh", func() { GatedTanhGrad(s[4], s[7], s[1], s[3]) }},
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

// BenchmarkColumns runs norms of the columns of 64 rows of 64.
func BenchmarkColumns(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 4))
	const rows, d = 64, 64
	draw := func(n int) []Float { return simdtest.Draw(n, simdtest.NearOne(rng)) }
	x, y, dy, dots, sums := draw(rows*d), draw(rows*d), draw(rows*d), draw(d), draw(d)
	c := &Columns{draw(rows * d), draw(rows * d), draw(rows * d)}
	first := &Columns{c.Centre[:d], c.Scale[:d], c.Bias[:d]}
	s := &ColumnSlopes{c.Centre, c.Scale, c.Bias, draw(rows * d), draw(rows * d)}
	for _, path := range []string{cpu.Path(), "go"} {
		for _, k := range []struct {
			name string
			f    func()
		}{
			{"squares", func() { CentredSquares(sums, x, first.Centre) }}, {"dots", func() { CentredDots(dots, sums, dy, x, first.Centre) }},
			{"reluDots", func() { first.ReLUDots(dots, sums, dy, x) }}, {"standardise", func() { c.Standardise(y, x, true) }},
			{"grad", func() { s.Grad(y, dy, x, false) }}, {"reluGrad", func() { s.ReLUGrad(y, dy, x, true) }},
			{"welford", func() {
				for r := range rows {
					Welford(sums, dots, first.Bias, x[r*d:r*d+d], r+1)
				}
			}},
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
