//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*DotWalk) attendFast()  { panic(cpu.NoAssembly) }
func (*DotWalk) retraceFast() { panic(cpu.NoAssembly) }
func (*DotWalk) returnFast()  { panic(cpu.NoAssembly) }
