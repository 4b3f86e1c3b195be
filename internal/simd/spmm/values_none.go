//go:build !amd64 || noasm || f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Values) dropFast() { panic(cpu.NoAssembly) }

// The kernels of what is kept in assembly, which are never called here.

func (*Values) keepFast() { panic(cpu.NoAssembly) }
