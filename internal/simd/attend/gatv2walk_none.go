//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*GATv2Walk) attendFast()  { panic(cpu.NoAssembly) }
func (*GATv2Walk) retraceFast() { panic(cpu.NoAssembly) }
