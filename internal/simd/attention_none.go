//go:build !amd64 || noasm || f64

package simd

// The kernels of attention in assembly, which are never called here.

func (*Tile) gatherFast() { panic(none) }
func (*Tile) softenFast() { panic(none) }
func (*Tile) maskFast()   { panic(none) }
func (*Tile) recallFast() { panic(none) }
func (*Tile) scoreFast()  { panic(none) }
func (*Tile) weighFast()  { panic(none) }

func (*Heads) sumFast()    { panic(none) }
func (*Heads) dotsFast()   { panic(none) }
func (*Heads) bothFast()   { panic(none) }
func (*Heads) pairsFast()  { panic(none) }
func (*Heads) foldFast()   { panic(none) }
func (*Heads) spreadFast() { panic(none) }

func (*Values) dropFast() { panic(none) }

func (*Segments) softmaxFast() { panic(none) }
func (*Segments) gradFast()    { panic(none) }

func (*Spokes) attendFast()  { panic(none) }
func (*Spokes) retraceFast() { panic(none) }
func (*Spokes) pairFast()    { panic(none) }

func (*Powers) rowsFast()   { panic(none) }
func (*Powers) columnFast() { panic(none) }
