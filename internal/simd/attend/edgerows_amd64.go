//go:build !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// complete sets what the assembly takes. One head after another is done in a
// loop, but of eight heads of eight elements, which are most: eight says so.
func (f *EdgeRows) complete() (eight bool) {
	f.bytes = 4 * f.H * f.Width
	f.last = len(f.Cols) - 1
	f.left = len(f.Offsets) - 1
	f.ahead = 0
	if len(f.U) >= cpu.FarFrom {
		f.ahead = max(f.Ahead, cpu.AheadRows)
	}
	return f.Width == 8 && f.H == 8
}

// wide reports whether rows are of one head of 64 elements.
func (f *EdgeRows) wide() bool { return f.Width == cpu.WideRow && f.H == 1 }

func (f *EdgeRows) scoreFast() {
	if f.complete() {
		edgeRowsScore8(f)
	} else {
		edgeRowsScore(f)
	}
}

func (f *EdgeRows) scoreGradFast() {
	if f.complete() {
		edgeRowsScoreGrad8(f)
	} else {
		edgeRowsScoreGrad(f)
	}
}

func (f *EdgeRows) sumFast() {
	if f.complete() {
		edgeRowsSum8(f)
	} else {
		edgeRowsSum(f)
	}
}

func (f *EdgeRows) spreadFast() {
	if f.complete() {
		edgeRowsSpread8(f)
	} else {
		edgeRowsSpread(f)
	}
}

func (f *EdgeRows) dotsFast() {
	if f.complete() {
		edgeRowsDots8(f)
	} else {
		edgeRowsDots(f)
	}
}

func (f *EdgeRows) affineFast() {
	switch eight := f.complete(); {
	case eight:
		edgeRowsAffine8(f)
	case f.wide():
		edgeRowsAffine64(f)
	default:
		edgeRowsAffine(f)
	}
}

func (f *EdgeRows) affineGradFast() {
	switch eight := f.complete(); {
	case eight:
		edgeRowsAffineGrad8(f)
	case f.wide():
		edgeRowsAffineGrad64(f)
	default:
		edgeRowsAffineGrad(f)
	}
}

func (f *EdgeRows) scoreDotsFast() {
	if f.complete() {
		edgeRowsScoreDots8(f)
	} else {
		edgeRowsScoreDots(f)
	}
}

func (f *EdgeRows) scoreBriefFast() {
	if f.complete() {
		edgeRowsScoreBrief8(f)
	} else {
		edgeRowsScoreBrief(f)
	}
}
