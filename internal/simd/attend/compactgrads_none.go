//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*CompactGrads) addFast([]int32) { panic(cpu.NoAssembly) }
