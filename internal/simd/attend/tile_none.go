//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// The kernels of attention in assembly, which are never called here.

func (*Tile) gatherFast() { panic(cpu.NoAssembly) }
func (*Tile) softenFast() { panic(cpu.NoAssembly) }
func (*Tile) maskFast()   { panic(cpu.NoAssembly) }
func (*Tile) recallFast() { panic(cpu.NoAssembly) }
func (*Tile) scoreFast()  { panic(cpu.NoAssembly) }
func (*Tile) weighFast()  { panic(cpu.NoAssembly) }
