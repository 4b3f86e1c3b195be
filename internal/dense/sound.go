package dense

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// soundPart is how many numbers are looked at together: some microseconds.
const soundPart = 1 << 15

// Sound reports whether all arrays are without NaN and infinities. Numbers so large that the sum
// of some thousands is infinite are taken for one.
func Sound(arrays [][]tensor.Float) bool {
	l := looks.Get().(*look)
	held := 0
	for _, x := range arrays {
		for part := range slices.Chunk(x, soundPart) {
			l.parts = append(l.parts, part)
			if held += len(part); len(l.ends) == 0 || held > soundPart {
				l.ends, held = append(l.ends, 0), len(part)
			}
			l.ends[len(l.ends)-1] = len(l.parts)
		}
	}
	l.odd.Store(false)
	par.Run(len(l.ends), l)
	sound := !l.odd.Load()
	clear(l.parts)
	l.parts, l.ends = l.parts[:0], l.ends[:0]
	looks.Put(l)
	return sound
}

// look looks at parts of arrays. Where there is a NaN or an infinity, no sum is finite.
type look struct {
	parts [][]tensor.Float
	ends  []int // of those that are looked at together, in parts
	odd   atomic.Bool
}

var looks = sync.Pool{New: func() any { return new(look) }}

// Chunk looks at the parts that go together.
func (l *look) Chunk(i int) {
	lo := 0
	if i > 0 {
		lo = l.ends[i-1]
	}
	for _, part := range l.parts[lo:l.ends[i]] {
		if s := vec.Sum(part); s-s != 0 {
			l.odd.Store(true)
		}
	}
}
