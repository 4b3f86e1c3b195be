package tensor

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// A product of at least wideProduct multiplications is shared by the threads
// itself; of smaller ones each thread takes about chunkWork at a time.
const wideProduct = 1 << 23

// BatchMatMul adds to each matrix of dst the product of those of a and b, as
// [MatMul] does and to the same bits. The last two axes of the three are the
// matrices; the one or two before them count matrices and are the same. It
// panics with a [*ShapeError] where the shapes do not fit, and where dst
// overlaps a or b.
func BatchMatMul(dst, a, b *Dense, f Flags) {
	k := dst.axes - 2
	if k < 1 || a.axes != dst.axes || b.axes != dst.axes || !slices.Equal(a.dims[:k], dst.dims[:k]) || !slices.Equal(b.dims[:k], dst.dims[:k]) || !multiply(dst, a, b, f) {
		panic(Mismatch("tensor.BatchMatMul", a, b, dst))
	}
	apart("BatchMatMul", dst, a)
	apart("BatchMatMul", dst, b)
	if len(dst.Data) == 0 || len(a.Data) == 0 {
		return // however many matrices without elements there are
	}
	t := batches.Get().(*batch)
	t.dst, t.a, t.b, t.f, t.n = dst, a, b, f, 1
	for _, s := range dst.dims[:k] {
		t.n *= s
	}
	work := len(a.Data) / t.n * dst.Dim(-1) // of one product
	t.by = min(max(1, chunkWork/work), t.n)
	if work >= wideProduct || t.by == t.n {
		t.by = t.n
		t.Chunk(0)
	} else {
		par.Run((t.n+t.by-1)/t.by, t)
	}
	t.dst, t.a, t.b = nil, nil, nil
	batches.Put(t) // after a panic it is left to the collector
}

// multiply reports whether the last two axes fit a product.
func multiply(dst, a, b *Dense, f Flags) bool {
	m, k := a.Dim(-2), a.Dim(-1)
	if f&TransA != 0 {
		m, k = k, m
	}
	l, n := b.Dim(-2), b.Dim(-1)
	if f&TransB != 0 {
		l, n = n, l
	}
	return k == l && dst.Dim(-2) == m && dst.Dim(-1) == n
}

// batch is the products of one call, and how many of them make a chunk.
type batch struct {
	dst, a, b *Dense
	f         Flags
	n, by     int
}

// product is the operands of one of them.
type product struct{ dst, a, b Dense }

var (
	batches  = sync.Pool{New: func() any { return new(batch) }}
	products = sync.Pool{New: func() any { return new(product) }}
)

// Chunk computes some of the products.
func (t *batch) Chunk(i int) {
	p := products.Get().(*product)
	for i, end := i*t.by, min((i+1)*t.by, t.n); i < end; i++ {
		t.matrix(&p.dst, t.dst, i)
		t.matrix(&p.a, t.a, i)
		t.matrix(&p.b, t.b, i)
		MatMul(&p.dst, &p.a, &p.b, t.f)
	}
	*p = product{}
	products.Put(p)
}

// matrix makes m matrix i of x, as a view.
func (t *batch) matrix(m, x *Dense, i int) {
	size := len(x.Data) / t.n
	m.Data, m.axes = x.Data[i*size:(i+1)*size:(i+1)*size], 2
	m.dims = [MaxAxes]int{x.Dim(-2), x.Dim(-1)}
}
