//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*Dropout) eluFast(_, _, _ []Float, _ int) { panic(cpu.NoAssembly) }
func (*Dropout) eluGradFast(_, _, _ []Float)    { panic(cpu.NoAssembly) }
