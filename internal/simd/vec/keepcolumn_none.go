//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Dropout) columnFast([]Float, int, int) int { panic(cpu.NoAssembly) }
