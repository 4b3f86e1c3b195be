//go:build !amd64 || noasm || f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func topRowsFast(_, _ []Float)                           { panic(cpu.NoAssembly) }
func weighRowsFast(_, _, _, _ []Float)                   { panic(cpu.NoAssembly) }
func expRowsFast(_, _, _ []Float)                        { panic(cpu.NoAssembly) }
func divideRowsFast(_, _ []Float)                        { panic(cpu.NoAssembly) }
func expSumFast(_, _ []Float, _ Float) Float             { panic(cpu.NoAssembly) }
func sumFast([]Float) Float                              { panic(cpu.NoAssembly) }
func sum64Fast([]Float) float64                          { panic(cpu.NoAssembly) }
func dotFast(_, _ []Float) Float                         { panic(cpu.NoAssembly) }
func maxFast([]Float) Float                              { panic(cpu.NoAssembly) }
func (*Adam) stepFast(_, _, _, _ []Float)                { panic(cpu.NoAssembly) }
func welfordFast(_, _, _, _ []Float, _ Float)            { panic(cpu.NoAssembly) }
func (*Dropout) rowsFast(_, _ []Float, _, _ int, _ bool) { panic(cpu.NoAssembly) }

func offsetSquaresFast(_ []float64, _ OffsetRows)                  { panic(cpu.NoAssembly) }
func offsetDotsFast(_ []float64, _, _, _ []Float, _ OffsetRows)    { panic(cpu.NoAssembly) }
func normaliseFast(_, _, _, _ []Float, _ Moments)                  { panic(cpu.NoAssembly) }
func normaliseGradFast(_, _, _ []Float, _ Moments, _ Line, _ bool) { panic(cpu.NoAssembly) }
func normaliseSumsFast(_, _, _, _ []Float, _ Moments)              { panic(cpu.NoAssembly) }

func centredSquaresFast(_, _, _ []Float)                   { panic(cpu.NoAssembly) }
func centredDotsFast(_, _, _, _, _ []Float)                { panic(cpu.NoAssembly) }
func standardiseFast(_, _, _, _, _ []Float, _ bool)        { panic(cpu.NoAssembly) }
func (*Columns) reluDotsFast(_, _, _, _ []Float)           { panic(cpu.NoAssembly) }
func (*ColumnSlopes) gradFast(_, _, _ []Float, _ bool)     { panic(cpu.NoAssembly) }
func (*ColumnSlopes) reluGradFast(_, _, _ []Float, _ bool) { panic(cpu.NoAssembly) }
