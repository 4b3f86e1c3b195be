package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// product is a product of a matrix of a's structure, or of several, and a dense
// one. Its weights are a's values, or weights; if both are nil, ones.
type product struct {
	a       *CSR
	values  []tensor.Float // a number a nonzero; zeros are left out
	weights *tensor.Dense  // a row a nonzero, a number for each head
	mean    bool           // divided by the number of nonzeros of a's row
	set     bool           // what it is added to holds anything and counts as zero
}

// scatterWork is the work, in elements, up to which a product with a transpose
// does not turn a matrix that has not been turned yet.
const scatterWork = 1 << 16

// addTo adds the product with x to dst.
func (p product) addTo(dst, x *tensor.Dense) {
	if x.RowLen() == 0 {
		return
	}
	if p.a.left != nil && p.weights == nil && !p.mean {
		p.addLeft(dst, x)
		return
	}
	p.a.Settle()
	k := p.kernel(p.a, dst, x)
	k.mean = p.mean
	p.a.run(x.RowLen(), k)
	k.free()
}

// addToT adds the product of the transpose with x to dst. Either way an element
// is the same chain.
func (p product) addToT(dst, x *tensor.Dense) {
	f := x.RowLen()
	switch {
	case len(dst.Data) == 0:
		return
	case p.a.NNZ()*f <= scatterWork && !p.a.turned():
		if p.set {
			dst.Zero()
		}
		p.a.Settle()
		p.scatter(dst, x)
		return
	case p.spills(dst, x):
		p.spill(dst, x)
		return
	}
	p.a.Settle()
	t, perm := p.a.structureT()
	k := p.kernel(t, dst, x)
	if p.weights != nil {
		k.sum.Edges = perm
	} else if p.values != nil || p.mean {
		k.perm = perm
	}
	if p.mean {
		k.of = p.a.Offsets
	}
	t.run(f, k)
	k.free()
}

// scatter is addToT of a few elements, by a's rows.
func (p product) scatter(dst, x *tensor.Dense) {
	f := x.RowLen()
	for i := range p.a.NumRows {
		lo, hi := int(p.a.Offsets[i]), int(p.a.Offsets[i+1])
		from := x.Data[i*f : i*f+f]
		for k := lo; k < hi; k++ {
			c := int(p.a.Cols[k])
			to := dst.Data[c*f : c*f+f]
			if p.weights != nil {
				axpyHeads(to, p.weights.Row(k), from)
				continue
			}
			w := p.value(k)
			if p.mean {
				w /= tensor.Float(hi - lo)
			}
			switch {
			case p.values == nil && !p.mean:
				add(to, from)
			case w != 0:
				axpy(to, w, from)
			}
		}
	}
}

// value returns the value of nonzero k.
func (p product) value(k int) tensor.Float {
	if p.values == nil {
		return 1
	}
	return p.values[k]
}

// kernel returns the kernel of the product of a matrix of t's structure.
func (p product) kernel(t *CSR, dst, x *tensor.Dense) *sumKernel {
	k := sumKernels.Get().(*sumKernel)
	k.values, k.set = p.values, p.set
	k.sum = simd.RowSum{Gather: t.gather(x), Y: dst.Data}
	k.sum.Past = passes(dst)
	if p.weights != nil {
		k.sum.W, k.sum.Heads = p.weights.Data, p.weights.RowLen()
	}
	return k
}

// sumKernel adds up weighted rows. Without values and perm it is its sum.
type sumKernel struct {
	sum    simd.RowSum
	values []tensor.Float // nil: ones
	perm   []int32        // nonzero k has value perm[k]; nil: k
	of     []int64        // divide a value by the number of nonzeros that row Cols[k] has by these offsets
	mean   bool           // divide a row by the number of its nonzeros
	set    bool           // y holds anything
}

var sumKernels = sync.Pool{New: func() any { return new(sumKernel) }}

func (k *sumKernel) free() {
	*k = sumKernel{}
	sumKernels.Put(k)
}

// meanWork is how many elements of sums wait to be divided: they stay in the
// first cache.
const meanWork = 1 << 12

func (k *sumKernel) rows(lo, hi int) {
	f := k.sum.F
	if !k.mean {
		k.add(k.sum.Y[lo*f:hi*f], lo, hi, k.set)
		return
	}
	step := max(1, meanWork/f)
	if k.set {
		k.setMeans(lo, hi, step)
		return
	}
	buf := borrow(step * f)
	defer repay(buf)
	for ; lo < hi; lo += step {
		k.addMeans(*buf, lo, min(lo+step, hi))
	}
}

// setMeans sets rows lo to hi to means: a few rows at a time, where their sums are
// not made in one pass.
func (k *sumKernel) setMeans(lo, hi, step int) {
	if k.values == nil && k.perm == nil {
		sum := k.sum
		sum.Set, sum.Mean = true, true
		sum.AddRows(lo, hi)
		return
	}
	f := k.sum.F
	for ; lo < hi; lo += step {
		n := min(lo+step, hi)
		y := k.sum.Y[lo*f : n*f]
		k.add(y, lo, n, true)
		simd.Rows(f).DivideRanges(y, y, k.sum.Offsets[lo:n+1])
	}
}

// addMeans adds the means of rows lo to hi, whose sums have room in buf.
func (k *sumKernel) addMeans(buf []tensor.Float, lo, hi int) {
	f := k.sum.F
	sums := buf[:(hi-lo)*f]
	clear(sums)
	k.add(sums, lo, hi, false)
	simd.Rows(f).AddMeans(k.sum.Y[lo*f:hi*f], sums, k.sum.Offsets[lo:hi+1])
}

// add adds the sums of rows lo to hi to y, or sets y to them.
func (k *sumKernel) add(y []tensor.Float, lo, hi int, set bool) {
	sum := k.sum
	sum.Set = set
	sum.Y, sum.Offsets = y, sum.Offsets[lo:hi+1]
	if k.values != nil && k.perm == nil && !simd.HasZero(k.values[sum.Offsets[0]:sum.Offsets[hi-lo]]) {
		sum.W, sum.Heads = k.values, 1
	}
	if sum.Heads > 0 || k.values == nil && k.perm == nil {
		sum.AddRows(0, hi-lo)
		return
	}
	if sum.Set { // a picking may start within a row
		clear(y[:(hi-lo)*sum.F])
		sum.Set = false
	}
	b := pickings.Get().(*picking)
	b.sum = sum
	for at := (place{0, sum.Offsets[0]}); at.row < hi-lo; {
		at = k.pick(b, at)
		b.local.AddRows(0, len(b.local.Offsets)-1)
	}
	b.sum, b.local = simd.RowSum{}, simd.RowSum{}
	pickings.Put(b)
}

// picking is a matrix of the nonzeros of a few rows whose values are not zero,
// picked together so that the sum does not have to branch at each.
type picking struct {
	sum, local simd.RowSum // of all rows, and of these
	offsets    [picksMost + 1]int64
	cols       [picksMost]int32
	values     [picksMost]tensor.Float
}

// picksMost is the most rows and nonzeros of a picking.
const picksMost = 1 << 10

var pickings = sync.Pool{New: func() any { return new(picking) }}

// place is a nonzero of a row.
type place struct {
	row int
	k   int64
}

// pick fills b.local with what comes from a place on and returns where the rest
// starts. The last row may be cut.
func (k *sumKernel) pick(b *picking, at place) place {
	first, rows, n := at.row, 0, 0
	all := b.sum.Offsets
	for rows < picksMost && n < picksMost && at.row < len(all)-1 {
		end := min(all[at.row+1], at.k+int64(picksMost-n))
		n += k.take(b, n, at.k, end)
		rows++
		b.offsets[rows] = int64(n)
		at.k = end
		if end < all[at.row+1] {
			break
		}
		at.row++
	}
	f := b.sum.F
	b.local = b.sum
	b.local.Y, b.local.Offsets = b.sum.Y[first*f:(first+rows)*f], b.offsets[:rows+1]
	b.local.Cols, b.local.W, b.local.Heads = b.cols[:n], b.values[:], 1
	return at
}

// take puts the nonzeros from lo to hi at n, and returns how many are not zero.
func (k *sumKernel) take(b *picking, n int, lo, hi int64) int {
	cols, to := b.sum.Cols[lo:hi], b.values[n:]
	if k.perm == nil {
		return simd.Pick(b.cols[n:], to, cols, k.values[lo:hi])
	}
	if k.of == nil && k.values != nil {
		return simd.PickEdges(b.cols[n:], to, cols, k.values, k.perm[lo:hi])
	}
	to = to[:len(cols)]
	for j, e := range k.perm[lo:hi] {
		to[j] = 1
		if k.values != nil {
			to[j] = k.values[e]
		}
	}
	if k.of != nil {
		for j, c := range cols {
			to[j] /= tensor.Float(k.of[c+1] - k.of[c])
		}
	}
	return simd.Pick(b.cols[n:], to, cols, to)
}
