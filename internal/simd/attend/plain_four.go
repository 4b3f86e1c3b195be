//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

// What vectors of four floats have no kernels for.

func (*Tile) scoreFast() bool { return false }

// What needs none of its own: its parts have some.

func (*SoftRows) largestFast() bool { return false }
func (*SoftRows) dotsFast() bool    { return false }
func (*SoftRows) slopesFast() bool  { return false }

func (*Tile) softenFast() bool { return false }
