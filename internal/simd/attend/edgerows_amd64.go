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

func (f *EdgeRows) scoreFast() bool {
	if f.complete() {
		edgeRowsScore8(f)
	} else {
		edgeRowsScore(f)
	}
	return true
}

func (f *EdgeRows) scoreGradFast() bool {
	if f.complete() {
		edgeRowsScoreGrad8(f)
	} else {
		edgeRowsScoreGrad(f)
	}
	return true
}

func (f *EdgeRows) sumFast() bool {
	if f.complete() {
		edgeRowsSum8(f)
	} else {
		edgeRowsSum(f)
	}
	return true
}

func (f *EdgeRows) spreadFast() bool {
	if f.complete() {
		edgeRowsSpread8(f)
	} else {
		edgeRowsSpread(f)
	}
	return true
}

func (f *EdgeRows) dotsFast() bool {
	if f.complete() {
		edgeRowsDots8(f)
	} else {
		edgeRowsDots(f)
	}
	return true
}

func (f *EdgeRows) affineFast() bool {
	switch eight := f.complete(); {
	case eight:
		edgeRowsAffine8(f)
	case f.wide():
		edgeRowsAffine64(f)
	default:
		edgeRowsAffine(f)
	}
	return true
}

func (f *EdgeRows) affineGradFast() bool {
	switch eight := f.complete(); {
	case eight:
		edgeRowsAffineGrad8(f)
	case f.wide():
		edgeRowsAffineGrad64(f)
	default:
		edgeRowsAffineGrad(f)
	}
	return true
}

func (f *EdgeRows) scoreDotsFast() bool {
	if f.complete() {
		edgeRowsScoreDots8(f)
	} else {
		edgeRowsScoreDots(f)
	}
	return true
}

func (f *EdgeRows) scoreBriefFast() bool {
	if f.complete() {
		edgeRowsScoreBrief8(f)
	} else {
		edgeRowsScoreBrief(f)
	}
	return true
}
