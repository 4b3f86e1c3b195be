package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scratchRows are rows of scratch for loops on several threads.
var scratchRows = sync.Pool{New: func() any { return new([]tensor.Float) }}

// borrowRows returns n elements of scratch, which hold anything and go back to scratchRows.
func borrowRows(n int) *[]tensor.Float {
	p := scratchRows.Get().(*[]tensor.Float)
	*p = slices.Grow((*p)[:0], n)[:n]
	spoil.Floats(*p)
	return p
}
