//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (p *LSTMRows) forwardFast(int) int { panic(cpu.NoAssembly) }
func (p *LSTMRows) backwardFast(int)    { panic(cpu.NoAssembly) }

func gatedTanhGradFast(_, _, _, _ []Float) { panic(cpu.NoAssembly) }

func (p *LSTMRows) peepingFast(int, int, []Float) { panic(cpu.NoAssembly) }
