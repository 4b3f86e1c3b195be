package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scatterWork is the work, in elements, up to which a product with a transpose
// does not turn a matrix that has not been turned yet.
const scatterWork = 1 << 16

// run is [Product.Into] of the matrix itself.
func (p Product) run(dst, x *tensor.Dense) {
	if x.RowLen() == 0 {
		return
	}
	if p.A.left != nil && p.Weights == nil && !p.Mean {
		p.runLeft(dst, x)
		return
	}
	p.A.Settle()
	k := p.kernel(p.A, dst, x)
	k.mean, k.after = p.Mean, true
	k.run(p, p.A)
	k.free()
}

// begin sets dst to own, or adds that to it, where there is one.
func begin(dst, own *tensor.Dense, add bool) {
	switch {
	case own == nil:
	case add:
		tensor.Add(dst, dst, own)
	default:
		tensor.Apply(dst, own, tensor.Unary(vec.Shift), 0)
	}
}

// runT is [Product.Into] of the transpose. Whichever way it takes, an element is
// the same chain.
func (p Product) runT(dst, x *tensor.Dense) {
	f := x.RowLen()
	switch {
	case len(dst.Data) == 0:
		return
	case p.A.NNZ()*f <= scatterWork && !p.A.turned():
		if p.Own == nil && !p.Add {
			dst.Zero()
		}
		begin(dst, p.Own, p.Add)
		p.A.Settle()
		p.scatter(dst, x)
		return
	case p.scattersOnce(dst):
		p.scatterOnce(dst, x)
		return
	case !p.spills(dst, x):
	case p.strips(x):
		p.byStrips(dst, x)
		return
	default:
		p.spill(dst, x)
		return
	}
	p.A.Settle()
	flip := p.A.flipped()
	t := flip.t
	k := p.kernel(t, dst, x)
	if p.Weights != nil {
		k.sum.Edges = flip.order()
	} else if k.values != nil || p.Mean {
		k.perm = flip.order()
	}
	if p.Mean {
		k.of = p.A.Offsets
	}
	k.run(p, t)
	k.free()
}

// run adds up the rows of t in the way that costs the least.
func (k *sumKernel) run(p Product, t *CSR) {
	if way := t.chosen(p.shape(t, k.sum.F)); way != (Way{}) && !p.skips() {
		k.pass(t, way)
	} else {
		t.run(k.sum.F, k)
	}
}

// scatter is runT of a few elements, by a's rows.
func (p Product) scatter(dst, x *tensor.Dense) {
	f, values := x.RowLen(), p.values()
	for i := range p.A.NumRows {
		lo, hi := int(p.A.Offsets[i]), int(p.A.Offsets[i+1])
		from := x.Data[i*f : i*f+f]
		for k := lo; k < hi; k++ {
			c := int(p.A.Cols[k])
			to := dst.Data[c*f : c*f+f]
			if p.Weights != nil {
				axpyHeads(to, p.Weights.Row(k), from)
				continue
			}
			w := tensor.Float(1)
			if values != nil {
				w = values[k]
			}
			if p.Mean {
				w /= tensor.Float(hi - lo)
			}
			switch {
			case values == nil && !p.Mean:
				add(to, from)
			case w != 0:
				axpy(to, w, from)
			}
		}
	}
}

// kernel returns the kernel of the product of a matrix of t's structure.
func (p Product) kernel(t *CSR, dst, x *tensor.Dense) *sumKernel {
	k := sumKernels.Get().(*sumKernel)
	k.values, k.set = p.values(), !p.Add
	k.sum = spmm.RowSum{Gather: t.gather(x), Y: dst.Data}
	if k.sum.Stream = passes(dst); p.Own != nil {
		k.own, k.sum.Stream = p.Own.Data, false
	}
	if p.Weights != nil {
		k.sum.W, k.sum.Heads = p.Weights.Data, p.Weights.RowLen()
	}
	return k
}

// sumKernel adds up weighted rows. Without values and perm it is its sum.
type sumKernel struct {
	sum    spmm.RowSum
	values []tensor.Float // nil: ones
	perm   []int32        // nonzero k has value perm[k]; nil: k
	of     []int64        // divide a value by the number of nonzeros that row Cols[k] has by these offsets
	mean   bool           // divide a row by the number of its nonzeros
	set    bool           // y holds anything
	own    []tensor.Float // rows that are added as well; nil: none
	after  bool           // when the sum of a row is made, else before
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
	if k.own != nil {
		k.addOwn(lo, hi)
		return
	}
	if !k.mean {
		k.add(k.sum.Y[lo*f:hi*f], lo, hi, k.set)
		return
	}
	step := max(1, meanWork/f)
	if k.set {
		k.setMeans(lo, hi, step)
		return
	}
	buf := scratch.Borrow(step * f)
	defer scratch.Repay(buf)
	for ; lo < hi; lo += step {
		k.addMeans(*buf, lo, min(lo+step, hi))
	}
}

// addOwn adds up rows lo to hi and those of own, a few at a time.
func (k *sumKernel) addOwn(lo, hi int) {
	f := k.sum.F
	for step := max(1, meanWork/f); lo < hi; lo += step {
		n := min(lo+step, hi)
		y := k.sum.Y[lo*f : n*f]
		if k.after {
			k.add(y, lo, n, k.set)
			k.ownAfter(lo, n)
			continue
		}
		k.ownBefore(lo, n)
		k.add(y, lo, n, false)
	}
}

// ownBefore has the sums of rows lo to hi begin at own.
func (k *sumKernel) ownBefore(lo, hi int) {
	f := k.sum.F
	if y, own := k.sum.Y[lo*f:hi*f], k.own[lo*f:hi*f]; k.set {
		vec.Shift.Forward(y, own, 0) // no −0, as where it is added to zero
	} else {
		vec.Add.Forward(y, y, own, 1, 1)
	}
}

// ownAfter adds own to the sums of rows lo to hi.
func (k *sumKernel) ownAfter(lo, hi int) {
	f := k.sum.F
	y := k.sum.Y[lo*f : hi*f]
	vec.Add.Forward(y, k.own[lo*f:hi*f], y, 1, 1)
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
		spmm.Rows(f).DivideRanges(y, y, k.sum.Offsets[lo:n+1])
	}
}

// addMeans adds the means of rows lo to hi, whose sums have room in buf.
func (k *sumKernel) addMeans(buf []tensor.Float, lo, hi int) {
	f := k.sum.F
	sums := buf[:(hi-lo)*f]
	clear(sums)
	k.add(sums, lo, hi, false)
	spmm.Rows(f).AddMeans(k.sum.Y[lo*f:hi*f], sums, k.sum.Offsets[lo:hi+1])
}

// add adds the sums of rows lo to hi to y, or sets y to them.
func (k *sumKernel) add(y []tensor.Float, lo, hi int, set bool) {
	sum := k.sum
	sum.Set = set
	sum.Y, sum.Offsets = y, sum.Offsets[lo:hi+1]
	if k.values != nil && k.perm == nil && !vec.HasZero(k.values[sum.Offsets[0]:sum.Offsets[hi-lo]]) {
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
	b.sum, b.local = spmm.RowSum{}, spmm.RowSum{}
	pickings.Put(b)
}

// picking is a matrix of the nonzeros of a few rows whose values are not zero,
// picked together so that the sum does not have to branch at each.
type picking struct {
	sum, local spmm.RowSum // of all rows, and of these
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
		return spmm.Pick(b.cols[n:], to, cols, k.values[lo:hi])
	}
	if k.of == nil && k.values != nil {
		return spmm.PickEdges(b.cols[n:], to, cols, k.values, k.perm[lo:hi])
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
	return spmm.Pick(b.cols[n:], to, cols, to)
}
