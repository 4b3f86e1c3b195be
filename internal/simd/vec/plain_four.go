//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

// What vectors of four floats have no kernels for.

func (*LSTMRows) peepingFast(int, []Float) int { return 0 }

func (Binary) streamFast(_, _, _ []Float) bool { return false }

func sum64Fast([]Float) (float64, int)                               { return 0, 0 }
func offsetSquaresFast(_ []float64, _ OffsetRows) bool               { return false }
func offsetDotsFast(_ []float64, _, _, _ []Float, _ OffsetRows) bool { return false }
