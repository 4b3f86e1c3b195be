//go:build (!amd64 && !arm64 && !(wasm && goexperiment.simd)) || noasm || f64

package vec

import "math"

// What a processor without a suffix of its own has of the kernels here: nothing.

func addRowsFast(_, _ []Float) bool             { return false }
func (*Best) takeFast(_ []Float, _, _ int) bool { return false }

func (*Dropout) eluFast(_, _, _ []Float, _ int) bool { return false }
func (*Dropout) eluGradFast(_, _, _ []Float) bool    { return false }

func fourMomentsFast([]Float, Float) (sum, squares float64, done int)          { return 0, 0, 0 }
func normaliseBothFast(_, _ []Float, _, _ NormRow) bool                        { return false }
func fourGradSumsFast(_, _, _ []Float, _ NormRow) (sum, dot float64, done int) { return 0, 0, 0 }
func fourGradFast(_, _ []Float, _ NormRow, _ Line, _ bool) bool                { return false }

func (*GRURows) forwardFast(int) int   { return 0 }
func (*GRURows) backwardFast(int) bool { return false }

func (*Dropout) columnFast([]Float, int, int) int { return 0 }

func (*LSTMRows) forwardFast(int) int           { return 0 }
func (*LSTMRows) backwardFast(int) bool         { return false }
func gatedTanhGradFast(_, _, _, _ []Float) bool { return false }
func (*LSTMRows) peepingFast(int, []Float) int  { return 0 }

func (Unary) forwardFast(_, _ []Float, _ Float) bool           { return false }
func (Unary) backwardFast(_, _, _, _ []Float, _ Float) bool    { return false }
func (Unary) setBackwardFast(_, _, _, _ []Float, _ Float) bool { return false }
func (Binary) forwardFast(_, _, _ []Float, _, _ int) bool      { return false }
func (Binary) backwardXFast(_, _, _, _ []Float, _, _ int) bool { return false }
func (Binary) backwardYFast(_, _, _, _ []Float, _, _ int) bool { return false }
func (Binary) streamFast(_, _, _ []Float) bool                 { return false }
func axpyFast(_, _ []Float, _ Float) bool                      { return false }
func mulAddFast(_, _, _ []Float) bool                          { return false }
func mulAddLessFast(_, _, _ []Float, _ Float) bool             { return false }

func topRowsFast(_, _ []Float) bool                                     { return false }
func weighRowsFast(_, _, _, _ []Float) bool                             { return false }
func expRowsFast(_, _, _ []Float) bool                                  { return false }
func divideRowsFast(_, _ []Float) bool                                  { return false }
func expSumFast(_, _ []Float, _ Float) (Float, int)                     { return 0, 0 }
func sumFast([]Float) (Float, int)                                      { return 0, 0 }
func sum64Fast([]Float) (float64, int)                                  { return 0, 0 }
func dotFast(_, _ []Float) (Float, int)                                 { return 0, 0 }
func maxFast([]Float) (Float, int)                                      { return Float(math.Inf(-1)), 0 }
func (*Adam) stepFast(_, _, _, _ []Float) bool                          { return false }
func welfordFast(_, _, _, _ []Float, _ Float) bool                      { return false }
func (*Dropout) rowsFast(_, _ []Float, _, _ int, _ bool) bool           { return false }
func offsetSquaresFast(_ []float64, _ OffsetRows) bool                  { return false }
func offsetDotsFast(_ []float64, _, _, _ []Float, _ OffsetRows) bool    { return false }
func normaliseFast(_, _, _, _ []Float, _ Moments) bool                  { return false }
func normaliseGradFast(_, _, _ []Float, _ Moments, _ Line, _ bool) bool { return false }
func normaliseSumsFast(_, _, _, _ []Float, _ Moments) bool              { return false }
func centredSquaresFast(_, _, _ []Float) bool                           { return false }
func centredDotsFast(_, _, _, _, _ []Float) bool                        { return false }
func standardiseFast(_, _, _, _, _ []Float, _ bool) bool                { return false }
func (*Columns) reluDotsFast(_, _, _, _ []Float) bool                   { return false }
func (*ColumnSlopes) gradFast(_, _, _ []Float, _ bool) bool             { return false }
func (*ColumnSlopes) reluGradFast(_, _, _ []Float, _ bool) bool         { return false }

func spreadFast(_, _ []Float, _ int) bool         { return false }
func spreadAddFast(_, _ []Float, _ int) bool      { return false }
func scaleGroupsFast(_, _, _ []Float, _ int) bool { return false }
func axpyGroupsFast(_, _, _ []Float, _ int) bool  { return false }
func dotGroupsFast(_, _, _ []Float, _ int) bool   { return false }
func sumGroupsFast(_, _ []Float, _ int) bool      { return false }

func hasZeroFast([]Float) (has bool, done int) { return false, 0 }
