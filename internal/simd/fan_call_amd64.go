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

// wide reports whether rows are of one head of 64 elements.
func (f *Fan) wide() bool { return f.Width == wideRow && f.H == 1 }

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
	switch p, eight := f.pointer(); {
	case eight:
		fanAffine8(p)
	case f.wide():
		fanAffine64(p)
	default:
		fanAffine(p)
	}
}

func (f *Fan) affineGradFast() {
	switch p, eight := f.pointer(); {
	case eight:
		fanAffineGrad8(p)
	case f.wide():
		fanAffineGrad64(p)
	default:
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
