//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*DotPair) pairsFast(int)              { panic(cpu.NoAssembly) }
func (*DotPair) gradFast(DotPairGrads, int) { panic(cpu.NoAssembly) }
