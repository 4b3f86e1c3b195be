package dense

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// soundPart is how many numbers are looked at together: about a microsecond.
const soundPart = 1 << 14

// Sound reports whether all arrays are without NaN and infinities. Numbers so large that the sum
// of some thousands is infinite are taken for one.
func Sound(arrays [][]tensor.Float) bool {
	l := looks.Get().(*look)
	for _, x := range arrays {
		for part := range slices.Chunk(x, soundPart) {
			l.parts = append(l.parts, part)
		}
	}
	l.odd.Store(false)
	par.Run(len(l.parts), l)
	sound := !l.odd.Load()
	clear(l.parts)
	l.parts = l.parts[:0]
	looks.Put(l)
	return sound
}

// look looks at parts of arrays. Where there is a NaN or an infinity, no sum is finite.
type look struct {
	parts [][]tensor.Float
	odd   atomic.Bool
}

var looks = sync.Pool{New: func() any { return new(look) }}

// Chunk looks at one part.
func (l *look) Chunk(i int) {
	if s := vec.Sum(l.parts[i]); s-s != 0 {
		l.odd.Store(true)
	}
}
