//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

// What vectors of four floats have no kernels for.

func (*DotWalk) attendFast() bool  { return false }
func (*DotWalk) retraceFast() bool { return false }
func (*DotWalk) returnFast() bool  { return false }

func (*SoftRows) largestFast() bool { return false }
func (*SoftRows) addFast() bool     { return false }
func (*SoftRows) weighFast() bool   { return false }
func (*SoftRows) dotsFast() bool    { return false }
func (*SoftRows) slopesFast() bool  { return false }

func (*Tile) gatherFast() bool { return false }
func (*Tile) softenFast() bool { return false }
func (*Tile) maskFast() bool   { return false }
func (*Tile) recallFast() bool { return false }
func (*Tile) scoreFast() bool  { return false }
func (*Tile) weighFast() bool  { return false }
