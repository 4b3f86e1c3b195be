//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Additive) logitsFast() { panic(cpu.NoAssembly) }
func (*Additive) gradFast()   { panic(cpu.NoAssembly) }
