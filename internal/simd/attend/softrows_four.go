//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

func (s *SoftRows) addFast() bool {
	for i := range s.Rows {
		s.Sum[i*s.Each] += softWeights(s.row(s.X, i), s.Scale, s.Top[i*s.Each], 1)
	}
	return true
}

func (s *SoftRows) weighFast() bool {
	for i := range s.Rows {
		softWeights(s.row(s.X, i), s.Scale, s.Top[i*s.Each], Inverse(s.Sum[i*s.Each]))
	}
	return true
}

// softWeights sets x to the weights of logits, times by, and returns their sum.
func softWeights(x []Float, scale, top, by Float) (sum Float) {
	below := math.Nextafter32(float32(leastWeight), -90)
	top = max(top, -math.MaxFloat32) // below which −∞ weighs nothing
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		n := min(cpu.AtOnce, len(x)-lo)
		sum += four.Weigh(place(x, lo), unsafe.Pointer(&four.Table), n, scale, top, below, by)
	}
	return sum
}
