//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Heads) sumFast()    { panic(cpu.NoAssembly) }
func (*Heads) dotsFast()   { panic(cpu.NoAssembly) }
func (*Heads) bothFast()   { panic(cpu.NoAssembly) }
func (*Heads) pairsFast()  { panic(cpu.NoAssembly) }
func (*Heads) foldFast()   { panic(cpu.NoAssembly) }
func (*Heads) spreadFast() { panic(cpu.NoAssembly) }
