package vec

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

func BenchmarkUnary(b *testing.B) {
	x, y := make([]Float, 2048), make([]Float, 2048)
	for i := range x {
		x[i] = Float(i%17)/2 + 0.1
	}
	for _, path := range []string{cpu.Path(), "go"} {
		for _, u := range []Unary{Scale, LeakyReLU, ELU, Sigmoid, Tanh, Softplus, SiLU, Exp, Log, GELU, GELUTanh, SELU} {
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
		for _, u := range []Unary{ReLU, ELU, Sigmoid, Tanh, Softplus, SiLU, GELU, GELUTanh} {
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
