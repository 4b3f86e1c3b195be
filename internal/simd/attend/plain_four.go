//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

// What has no kernel of its own on vectors of four floats, since its parts have some.

func (*SoftRows) largestFast() bool { return false }
func (*SoftRows) dotsFast() bool    { return false }
func (*SoftRows) slopesFast() bool  { return false }

func (*Tile) softenFast() bool { return false }
