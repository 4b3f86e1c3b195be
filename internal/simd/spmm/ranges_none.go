//go:build !amd64 || noasm || f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func sumSegmentsFast(_, _ []Float, _ []int64, _ int)    { panic(cpu.NoAssembly) }
func spreadSegmentsFast(_, _ []Float, _ []int64, _ int) { panic(cpu.NoAssembly) }
func dotSegmentsFast(_, _, _ []Float, _ []int64, _ int) { panic(cpu.NoAssembly) }
func (*Ranges) softmaxFast(_, _ []Float)                { panic(cpu.NoAssembly) }
func (*Ranges) weightsFast(_, _ []Float)                { panic(cpu.NoAssembly) }
func (*Ranges) gradFast(_, _, _ []Float)                { panic(cpu.NoAssembly) }
