//go:build !amd64 || noasm || f64

package simd

func (*Fan) scoreFast()      { panic(none) }
func (*Fan) scoreDotsFast()  { panic(none) }
func (*Fan) scoreBriefFast() { panic(none) }
func (*Fan) scoreGradFast()  { panic(none) }
func (*Fan) sumFast()        { panic(none) }
func (*Fan) spreadFast()     { panic(none) }
func (*Fan) dotsFast()       { panic(none) }
func (*Fan) affineFast()     { panic(none) }
func (*Fan) affineGradFast() { panic(none) }
