//go:build !noasm && !f64

package simd

import "unsafe"

// pointer completes f for the assembly. One head after another is done in a
// loop, but of eight heads of eight elements, which are most.
func (f *Fan) pointer() (p *byte, eight bool) {
	f.bytes = 4 * f.H * f.Width
	f.last = len(f.Cols) - 1
	f.left = len(f.Offsets) - 1
	f.ahead = 0
	if len(f.U) >= farFrom {
		f.ahead = max(f.Ahead, aheadRows)
	}
	return (*byte)(unsafe.Pointer(f)), f.Width == 8 && f.H == 8
}

func (f *Fan) scoreFast() {
	if p, eight := f.pointer(); eight {
		fanScore8(p)
	} else {
		fanScore(p)
	}
}

func (f *Fan) scoreGradFast() {
	if p, eight := f.pointer(); eight {
		fanScoreGrad8(p)
	} else {
		fanScoreGrad(p)
	}
}

func (f *Fan) sumFast() {
	if p, eight := f.pointer(); eight {
		fanSum8(p)
	} else {
		fanSum(p)
	}
}

func (f *Fan) spreadFast() {
	if p, eight := f.pointer(); eight {
		fanSpread8(p)
	} else {
		fanSpread(p)
	}
}

func (f *Fan) dotsFast() {
	if p, eight := f.pointer(); eight {
		fanDots8(p)
	} else {
		fanDots(p)
	}
}

func (f *Fan) affineFast() {
	if p, eight := f.pointer(); eight {
		fanAffine8(p)
	} else {
		fanAffine(p)
	}
}

func (f *Fan) affineGradFast() {
	if p, eight := f.pointer(); eight {
		fanAffineGrad8(p)
	} else {
		fanAffineGrad(p)
	}
}

func (f *Fan) scoreDotsFast() {
	if p, eight := f.pointer(); eight {
		fanScoreDots8(p)
	} else {
		fanScoreDots(p)
	}
}

func (f *Fan) scoreBriefFast() {
	if p, eight := f.pointer(); eight {
		fanScoreBrief8(p)
	} else {
		fanScoreBrief(p)
	}
}
