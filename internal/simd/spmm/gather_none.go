//go:build !amd64 || noasm || f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func gatherFast(_, _ []Float, _ []int32, _ int)              { panic(cpu.NoAssembly) }
func scatterFast(_, _ []Float, _ []int32, _ []uint16, _ int) { panic(cpu.NoAssembly) }
func fetchFast([]Float)                                      { panic(cpu.NoAssembly) }
