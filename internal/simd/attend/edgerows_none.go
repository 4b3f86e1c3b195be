//go:build !amd64 || noasm || f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*EdgeRows) scoreFast()      { panic(cpu.NoAssembly) }
func (*EdgeRows) scoreDotsFast()  { panic(cpu.NoAssembly) }
func (*EdgeRows) scoreBriefFast() { panic(cpu.NoAssembly) }
func (*EdgeRows) scoreGradFast()  { panic(cpu.NoAssembly) }
func (*EdgeRows) sumFast()        { panic(cpu.NoAssembly) }
func (*EdgeRows) spreadFast()     { panic(cpu.NoAssembly) }
func (*EdgeRows) dotsFast()       { panic(cpu.NoAssembly) }
func (*EdgeRows) affineFast()     { panic(cpu.NoAssembly) }
func (*EdgeRows) affineGradFast() { panic(cpu.NoAssembly) }
