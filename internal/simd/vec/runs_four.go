//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// short is the length below which plain Go is done with a run before a kernel.
const short = 8

func spreadFast(y, c []Float, d int) bool         { return spread(y, c, nil, d, 0) }
func spreadAddFast(y, c []Float, d int) bool      { return spread(y, c, nil, d, 1) }
func scaleGroupsFast(y, c, x []Float, d int) bool { return spread(y, c, x, d, 0) }
func axpyGroupsFast(y, c, x []Float, d int) bool  { return spread(y, c, x, d, 1) }

// spread sets runs of d elements to their numbers' multiples of x, or adds those; a nil x is 1.
func spread(y, c, x []Float, d, add int) bool {
	if d < short {
		return false
	}
	y = y[:len(c)*d]
	if x != nil {
		x = x[:len(y)]
	}
	most := cpu.AtOnce / d
	for k := 0; k < len(c); k += most {
		four.Spread(begin(y, k*d), begin(c, k), place(x, k*d), min(most, len(c)-k), d, add)
	}
	return true
}

func dotGroupsFast(y, x, z []Float, d int) bool {
	if d < short {
		return false
	}
	x, z = x[:len(y)*d], z[:len(y)*d]
	most := cpu.AtOnce / d
	for k := 0; k < len(y); k += most {
		four.RowDots(begin(y, k), begin(x, k*d), begin(z, k*d), 1, min(most, len(y)-k), d, 0, 0, 0, 1)
	}
	return true
}

func sumGroupsFast(y, x []Float, d int) bool {
	if d < short {
		return false
	}
	for k := range y {
		y[k] += Sum(x[k*d : k*d+d])
	}
	return true
}
