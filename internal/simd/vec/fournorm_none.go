//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func fourMomentsFast([]Float, Float) (sum, squares float64)      { panic(cpu.NoAssembly) }
func normaliseBothFast(_, _ []Float, _, _ NormRow)               { panic(cpu.NoAssembly) }
func fourGradSumsFast(_, _, _ []Float, _ NormRow) (s, d float64) { panic(cpu.NoAssembly) }
func fourGradFast(_, _ []Float, _ NormRow, _ Line, _ bool)       { panic(cpu.NoAssembly) }
