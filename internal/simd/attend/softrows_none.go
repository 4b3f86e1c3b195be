//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*SoftRows) largestFast() { panic(cpu.NoAssembly) }
func (*SoftRows) addFast()     { panic(cpu.NoAssembly) }
func (*SoftRows) weighFast()   { panic(cpu.NoAssembly) }
func (*SoftRows) dotsFast()    { panic(cpu.NoAssembly) }
func (*SoftRows) slopesFast()  { panic(cpu.NoAssembly) }
