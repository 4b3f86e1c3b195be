//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func addRowsFast(_, _ []Float)             { panic(cpu.NoAssembly) }
func (*Best) takeFast(_ []Float, _, _ int) { panic(cpu.NoAssembly) }
