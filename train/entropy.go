package train

import (
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// entropy adds up −log softmax(row)_label. It collects rows and takes the
// exponentials of many at once: those of one would be a call each.
type entropy struct {
	sum   float64
	buf   []tensor.Float // rows, less their largest element
	heads []rowHead
}

// rowHead is what else is known of a row in buf.
type rowHead struct {
	width int
	lead  float64 // its largest element less that of the label
}

// entropyRoom is about how many elements are collected.
const entropyRoom = 1 << 10

var entropies = sync.Pool{New: func() any { return new(entropy) }}

// add counts one row.
func (e *entropy) add(row []tensor.Float, label int) {
	top := slices.Max(row) // NaN if there is one
	e.heads = append(e.heads, rowHead{len(row), float64(top) - float64(row[label])})
	for _, v := range row {
		e.buf = append(e.buf, v-top)
	}
	if len(e.buf) >= entropyRoom {
		e.flush()
	}
}

// flush adds up what was collected.
func (e *entropy) flush() {
	simd.Exp.Forward(e.buf, e.buf, 0)
	rest := e.buf
	for _, h := range e.heads {
		sum := 0.0
		for _, v := range rest[:h.width] {
			sum += float64(v)
		}
		e.sum += math.Log(sum) + h.lead
		rest = rest[h.width:]
	}
	e.buf, e.heads = e.buf[:0], e.heads[:0]
}
