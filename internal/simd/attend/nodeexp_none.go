//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*NodeExpAttention) attendFast()  { panic(cpu.NoAssembly) }
func (*NodeExpAttention) retraceFast() { panic(cpu.NoAssembly) }
func (*NodeExpAttention) pairFast()    { panic(cpu.NoAssembly) }
func (*NodeExps) rowsFast()            { panic(cpu.NoAssembly) }
func (*NodeExps) columnFast()          { panic(cpu.NoAssembly) }
