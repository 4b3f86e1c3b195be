package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Sum64 returns the sum of all elements, added in float64: those of each few
// thousand first, and then what these give, in order.
func Sum64(x *Dense) float64 {
	const part = 1 << 14 // half a chunk, whatever share a test sets
	n := (len(x.Data) + part - 1) / part
	if n <= 1 {
		return vec.Sum64(x.Data)
	}
	s := sumMemory.Get().(*sums)
	if cap(s.of) < n {
		s.of = make([]float64, n)
	}
	s.of, s.x = s.of[:n], x.Data
	sumJobs.run(s, n, part, func(s **sums, lo, hi int) {
		for i := lo; i < hi; i++ {
			(*s).of[i] = vec.Sum64((*s).x[i*part : min((i+1)*part, len((*s).x))])
		}
	})
	total := 0.0
	for _, v := range s.of {
		total += v
	}
	s.x = nil
	sumMemory.Put(s)
	return total
}

// sums are the sums of parts of x.
type sums struct {
	of []float64
	x  []Float
}

var (
	sumJobs   jobs[*sums]
	sumMemory = sync.Pool{New: func() any { return new(sums) }}
)
