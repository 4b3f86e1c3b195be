//go:build (!amd64 && !arm64 && !(wasm && goexperiment.simd)) || noasm || f64

package attend

// What a processor without a suffix of its own has of the kernels here: nothing.

func (*Additive) logitsFast() bool { return false }
func (*Additive) gradFast() bool   { return false }

func (*CompactGrads) addFast([]int32) bool { return false }

func (*DotPair) pairsFast(int) bool              { return false }
func (*DotPair) gradFast(DotPairGrads, int) bool { return false }

const pairedHeads = false

func (*DotWalk) attendFast() bool  { return false }
func (*DotWalk) retraceFast() bool { return false }
func (*DotWalk) returnFast() bool  { return false }

func (*EdgeRows) scoreFast() bool      { return false }
func (*EdgeRows) scoreDotsFast() bool  { return false }
func (*EdgeRows) scoreBriefFast() bool { return false }
func (*EdgeRows) scoreGradFast() bool  { return false }
func (*EdgeRows) sumFast() bool        { return false }
func (*EdgeRows) spreadFast() bool     { return false }
func (*EdgeRows) dotsFast() bool       { return false }
func (*EdgeRows) affineFast() bool     { return false }
func (*EdgeRows) affineGradFast() bool { return false }

func (*GATv2Walk) attendFast() bool  { return false }
func (*GATv2Walk) retraceFast() bool { return false }

func (*Heads) sumFast() bool    { return false }
func (*Heads) dotsFast() bool   { return false }
func (*Heads) bothFast() bool   { return false }
func (*Heads) pairsFast() bool  { return false }
func (*Heads) foldFast() bool   { return false }
func (*Heads) spreadFast() bool { return false }

func (*NodeExpAttention) attendFast() bool  { return false }
func (*NodeExpAttention) retraceFast() bool { return false }
func (*NodeExpAttention) pairFast() bool    { return false }
func (*NodeExps) rowsFast() bool            { return false }
func (*NodeExps) columnFast() bool          { return false }

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
