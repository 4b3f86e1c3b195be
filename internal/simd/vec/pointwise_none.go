//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (Unary) forwardFast(_, _ []Float, _ Float) bool           { panic(cpu.NoAssembly) }
func (Unary) backwardFast(_, _, _, _ []Float, _ Float) bool    { panic(cpu.NoAssembly) }
func (Unary) setBackwardFast(_, _, _, _ []Float, _ Float) bool { panic(cpu.NoAssembly) }
func (Binary) forwardFast(_, _, _ []Float, _, _ int) bool      { panic(cpu.NoAssembly) }
func (Binary) backwardXFast(_, _, _, _ []Float, _, _ int) bool { panic(cpu.NoAssembly) }
func (Binary) backwardYFast(_, _, _, _ []Float, _, _ int) bool { panic(cpu.NoAssembly) }
func (Binary) streamFast(_, _, _ []Float)                      { panic(cpu.NoAssembly) }
func axpyFast(_, _ []Float, _ Float)                           { panic(cpu.NoAssembly) }
func mulAddFast(_, _, _ []Float)                               { panic(cpu.NoAssembly) }
func mulAddLessFast(_, _, _ []Float, _ Float)                  { panic(cpu.NoAssembly) }
