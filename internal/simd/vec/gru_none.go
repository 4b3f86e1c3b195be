//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (p *GRURows) forwardFast(int) int { panic(cpu.NoAssembly) }
func (p *GRURows) backwardFast(int)    { panic(cpu.NoAssembly) }
