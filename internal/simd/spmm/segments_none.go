//go:build !amd64 || noasm || f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Segments) softmaxFast() { panic(cpu.NoAssembly) }
func (*Segments) gradFast()    { panic(cpu.NoAssembly) }
