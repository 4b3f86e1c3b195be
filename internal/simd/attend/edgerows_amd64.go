//go:build !noasm && !f64

package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// completed completes f for the assembly. One head after another is done in a
// loop, but of eight heads of eight elements, which are most.
func (f *EdgeRows) completed() (p *EdgeRows, eight bool) {
	f.bytes = 4 * f.H * f.Width
	f.last = len(f.Cols) - 1
	f.left = len(f.Offsets) - 1
	f.ahead = 0
	if len(f.U) >= cpu.FarFrom {
		f.ahead = max(f.Ahead, cpu.AheadRows)
	}
	return f, f.Width == 8 && f.H == 8
}

// wide reports whether rows are of one head of 64 elements.
func (f *EdgeRows) wide() bool { return f.Width == cpu.WideRow && f.H == 1 }

func (f *EdgeRows) scoreFast() {
	if p, eight := f.completed(); eight {
		edgeRowsScore8(p)
	} else {
		edgeRowsScore(p)
	}
}

func (f *EdgeRows) scoreGradFast() {
	if p, eight := f.completed(); eight {
		edgeRowsScoreGrad8(p)
	} else {
		edgeRowsScoreGrad(p)
	}
}

func (f *EdgeRows) sumFast() {
	if p, eight := f.completed(); eight {
		edgeRowsSum8(p)
	} else {
		edgeRowsSum(p)
	}
}

func (f *EdgeRows) spreadFast() {
	if p, eight := f.completed(); eight {
		edgeRowsSpread8(p)
	} else {
		edgeRowsSpread(p)
	}
}

func (f *EdgeRows) dotsFast() {
	if p, eight := f.completed(); eight {
		edgeRowsDots8(p)
	} else {
		edgeRowsDots(p)
	}
}

func (f *EdgeRows) affineFast() {
	switch p, eight := f.completed(); {
	case eight:
		edgeRowsAffine8(p)
	case f.wide():
		edgeRowsAffine64(p)
	default:
		edgeRowsAffine(p)
	}
}

func (f *EdgeRows) affineGradFast() {
	switch p, eight := f.completed(); {
	case eight:
		edgeRowsAffineGrad8(p)
	case f.wide():
		edgeRowsAffineGrad64(p)
	default:
		edgeRowsAffineGrad(p)
	}
}

func (f *EdgeRows) scoreDotsFast() {
	if p, eight := f.completed(); eight {
		edgeRowsScoreDots8(p)
	} else {
		edgeRowsScoreDots(p)
	}
}

func (f *EdgeRows) scoreBriefFast() {
	if p, eight := f.completed(); eight {
		edgeRowsScoreBrief8(p)
	} else {
		edgeRowsScoreBrief(p)
	}
}
