//go:build !amd64 || noasm || f64

package gemm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Product) aim(int, int)                    { panic(cpu.NoAssembly) }
func (*Product) tallFast(int, int)               { panic(cpu.NoAssembly) }
func (*Product) fewFast(int, int, int)           { panic(cpu.NoAssembly) }
func (*Product) lineFast()                       { panic(cpu.NoAssembly) }
func gemmRow(*Product)                           { panic(cpu.NoAssembly) }
func gemmDots(_ *Product, _, _, _ int)           { panic(cpu.NoAssembly) }
func gemm16(*Product, int)                       { panic(cpu.NoAssembly) }
func gemm16cut(*Product, int)                    { panic(cpu.NoAssembly) }
func gemm8cut(*Product, int)                     { panic(cpu.NoAssembly) }
func packGroupsAVX2(_, _ *Float, _, _, _, _ int) { panic(cpu.NoAssembly) }
func packPanelsAVX2(_, _ *Float, _, _, _, _ int) { panic(cpu.NoAssembly) }
func packEightAVX2(_, _ *Float, _, _, _ int)     { panic(cpu.NoAssembly) }
