//go:build !noasm && !f64

package attend

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// pointer completes f for the assembly. One head after another is done in a
// loop, but of eight heads of eight elements, which are most.
func (f *EdgeRows) pointer() (p *byte, eight bool) {
	f.bytes = 4 * f.H * f.Width
	f.last = len(f.Cols) - 1
	f.left = len(f.Offsets) - 1
	f.ahead = 0
	if len(f.U) >= cpu.FarFrom {
		f.ahead = max(f.Ahead, cpu.AheadRows)
	}
	return (*byte)(unsafe.Pointer(f)), f.Width == 8 && f.H == 8
}

// wide reports whether rows are of one head of 64 elements.
func (f *EdgeRows) wide() bool { return f.Width == cpu.WideRow && f.H == 1 }

func (f *EdgeRows) scoreFast() {
	if p, eight := f.pointer(); eight {
		fanScore8(p)
	} else {
		fanScore(p)
	}
}

func (f *EdgeRows) scoreGradFast() {
	if p, eight := f.pointer(); eight {
		fanScoreGrad8(p)
	} else {
		fanScoreGrad(p)
	}
}

func (f *EdgeRows) sumFast() {
	if p, eight := f.pointer(); eight {
		fanSum8(p)
	} else {
		fanSum(p)
	}
}

func (f *EdgeRows) spreadFast() {
	if p, eight := f.pointer(); eight {
		fanSpread8(p)
	} else {
		fanSpread(p)
	}
}

func (f *EdgeRows) dotsFast() {
	if p, eight := f.pointer(); eight {
		fanDots8(p)
	} else {
		fanDots(p)
	}
}

func (f *EdgeRows) affineFast() {
	switch p, eight := f.pointer(); {
	case eight:
		fanAffine8(p)
	case f.wide():
		fanAffine64(p)
	default:
		fanAffine(p)
	}
}

func (f *EdgeRows) affineGradFast() {
	switch p, eight := f.pointer(); {
	case eight:
		fanAffineGrad8(p)
	case f.wide():
		fanAffineGrad64(p)
	default:
		fanAffineGrad(p)
	}
}

func (f *EdgeRows) scoreDotsFast() {
	if p, eight := f.pointer(); eight {
		fanScoreDots8(p)
	} else {
		fanScoreDots(p)
	}
}

func (f *EdgeRows) scoreBriefFast() {
	if p, eight := f.pointer(); eight {
		fanScoreBrief8(p)
	} else {
		fanScoreBrief(p)
	}
}
