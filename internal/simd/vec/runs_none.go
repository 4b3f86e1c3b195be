//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func spreadFast(_, _ []Float, _ int)         { panic(cpu.NoAssembly) }
func spreadAddFast(_, _ []Float, _ int)      { panic(cpu.NoAssembly) }
func scaleGroupsFast(_, _, _ []Float, _ int) { panic(cpu.NoAssembly) }
func axpyGroupsFast(_, _, _ []Float, _ int)  { panic(cpu.NoAssembly) }
func dotGroupsFast(_, _, _ []Float, _ int)   { panic(cpu.NoAssembly) }
func sumGroupsFast(_, _ []Float, _ int)      { panic(cpu.NoAssembly) }
