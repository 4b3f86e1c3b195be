//go:build !amd64 || noasm || f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (*RowSum) addFast(_, _ int)                                              { panic(cpu.NoAssembly) }
func (*RowBest) setFast(_, _ int)                                             { panic(cpu.NoAssembly) }
func (*EdgeDot) addFast(_, _ int)                                             { panic(cpu.NoAssembly) }
func pickEdgesFast(_ []int32, _ []Float, _ []int32, _ []Float, _ []int32) int { panic(cpu.NoAssembly) }
func pickFast(_ []int32, _ []Float, _ []int32, _ []Float) int                 { panic(cpu.NoAssembly) }
func (*RowWon) addFast(_, _ int)                                              { panic(cpu.NoAssembly) }
func (*Spill) addFast()                                                       { panic(cpu.NoAssembly) }
func addMeansFast(_, _ []Float, _ []int64, _ int)                             { panic(cpu.NoAssembly) }
func divideRangesFast(_, _ []Float, _ []int64, _ int)                         { panic(cpu.NoAssembly) }
