package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/pages"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scratch keeps the working rows of kernels between calls, so that a step of
// training allocates none.
var scratch = sync.Pool{New: func() any { return new([]tensor.Float) }}

// borrow returns n elements of any value, which the caller hands back.
func borrow(n int) *[]tensor.Float {
	s := scratch.Get().(*[]tensor.Float)
	if cap(*s) < n {
		*s = pages.Make[tensor.Float](n, n)
	}
	*s = (*s)[:n]
	return s
}
