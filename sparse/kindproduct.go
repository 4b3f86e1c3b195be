package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Into sets y to the product of x and w, which has a matrix for each kind. A row is the
// same sum on any number of threads.
func (k *Kinds) Into(y, x, w *tensor.Dense) {
	k.check("sparse.Kinds.Into", y, x, w)
	j := kindJobs.Get().(*kindJob)
	j.kindTiles, j.x, j.y, j.set = k.rows, x, y, true
	j.pack(w, 0)
	j.run()
}

// Grad adds to the gradients of x and w, where they are not nil, those of [Kinds.Into]'s
// result, dy.
func (k *Kinds) Grad(dx, dw, dy, x, w *tensor.Dense) {
	k.check("sparse.Kinds.Grad", dy, x, w)
	if dx == nil && dw == nil {
		return
	}
	j := kindJobs.Get().(*kindJob)
	j.kindTiles, j.x, j.y, j.set = k.columns(), dy, dx, false
	if dx != nil {
		k.check("sparse.Kinds.Grad", dy, dx, w)
		j.pack(w, tensor.TransB)
	}
	if dw != nil {
		k.check("sparse.Kinds.Grad", dy, x, dw)
		j.from, j.dw = x, dw
	}
	j.run()
}

// check panics unless y has the shape of the product of x and w.
func (k *Kinds) check(op string, y, x, w *tensor.Dense) {
	if k == nil || y == nil || x == nil || w == nil {
		panic(&tensor.ShapeError{Op: op, Why: "the matrix or an array is nil"})
	}
	t := k.rows
	if w.Axes() != 3 || w.Dim(0) != t.n || !fits(x, t.csr.NumCols, w.Dim(1)) || !fits(y, t.bounds[t.tiles()], w.Dim(2)) {
		panic(tensor.Mismatch(op, y, x, w))
	}
}

// kindJob is a product that tiles are added to: with z the sums of rows of x of a kind c,
//
//	y[of,:] += z·m_c,   dw_c += from[of,:]ᵀ·z
//
// The gradients of the matrices are summed by parts of the tiles, which follow from
// their number, and those in order.
type kindJob struct {
	*kindTiles
	x, y     *tensor.Dense // y nil: not wanted
	set      bool          // y holds anything before
	m        []*tensor.Packed
	from, dw *tensor.Dense // nil: not wanted

	parts int
	sums  []tensor.Float // of dw, a part after the other
}

var kindJobs = sync.Pool{New: func() any { return new(kindJob) }}

// Of dw there are at most so many parts, and so many elements in all but for the first.
const (
	kindParts     = 16
	kindPartsRoom = 1 << 23
)

// pack lays out the matrices of w.
func (j *kindJob) pack(w *tensor.Dense, f tensor.Flags) {
	for len(j.m) < j.n {
		j.m = append(j.m, new(tensor.Packed))
	}
	var one tensor.Dense
	rows, size := w.Dim(1), w.Dim(1)*w.Dim(2)
	for c := range j.n {
		one.Set(w.Data[c*size:(c+1)*size], rows, w.Dim(2))
		j.m[c].Set(&one, f)
	}
}

// run adds all tiles.
func (j *kindJob) run() {
	switch {
	case j.dw == nil:
		j.parts = j.tiles()
		par.Run(j.parts, j)
	case j.tiles() == 1:
		j.parts, j.sums = 1, j.dw.Data
		j.Chunk(0)
	default:
		size := len(j.dw.Data)
		j.parts = max(1, min(kindParts, j.tiles(), kindPartsRoom/max(1, size)))
		room := scratch.Borrow(j.parts * size)
		j.sums = *room
		clear(j.sums)
		par.Run(j.parts, j)
		par.For(size, 1<<13, func(lo, hi int) {
			for p := range j.parts {
				add(j.dw.Data[lo:hi], j.sums[p*size+lo:p*size+hi])
			}
		})
		scratch.Repay(room)
	}
	*j = kindJob{m: j.m}
	kindJobs.Put(j)
}

// Chunk adds part i of the tiles.
func (j *kindJob) Chunk(i int) {
	r := kindRooms.Get().(*kindRoom)
	r.take(j)
	for tile := i * j.tiles() / j.parts; tile < (i+1)*j.tiles()/j.parts; tile++ {
		j.tile(r, tile, i)
	}
	r.release()
}

// kindRoom is what a thread works in: the sums of a kind, their product, and the rows that
// are multiplied with them.
type kindRoom struct {
	buf           *[]tensor.Float
	z, out, x, dw tensor.Dense
	order         []uint16 // 0, 1, 2, …
}

var kindRooms = sync.Pool{New: func() any { return new(kindRoom) }}

func (r *kindRoom) take(j *kindJob) {
	width := j.x.RowLen()
	if j.y != nil {
		width += j.y.RowLen()
	}
	if j.dw != nil {
		width += j.from.RowLen()
	}
	r.buf = scratch.Borrow(j.most * width)
	for len(r.order) < j.most {
		r.order = append(r.order, uint16(len(r.order)))
	}
}

func (r *kindRoom) release() {
	scratch.Repay(r.buf)
	*r = kindRoom{order: r.order}
	kindRooms.Put(r)
}

// rows makes d so many rows of the room's memory.
func (r *kindRoom) rows(d *tensor.Dense, at *int, rows, width int) {
	d.Set((*r.buf)[*at:*at+rows*width], rows, width)
	*at += rows * width
}

// tile adds a tile. The gradients of the matrices go to a part of sums.
func (j *kindJob) tile(r *kindRoom, tile, part int) {
	if j.set {
		f := j.y.RowLen()
		clear(j.y.Data[j.bounds[tile]*f : j.bounds[tile+1]*f])
	}
	for c := range j.n {
		if lo, hi := int(j.starts[tile*j.n+c]), int(j.starts[tile*j.n+c+1]); lo < hi {
			j.kind(r, [2]int{lo, hi}, c, part)
		}
	}
}

// kind adds the rows of sums from p[0] up to p[1], which are of kind c.
func (j *kindJob) kind(r *kindRoom, p [2]int, c, part int) {
	n, at, of := p[1]-p[0], 0, j.of[p[0]:p[1]]
	r.rows(&r.z, &at, n, j.x.RowLen())
	j.addUp(r.z.Data, p[0], n)
	if j.y != nil {
		f := j.y.RowLen()
		r.rows(&r.out, &at, n, f)
		tensor.MatMulPackedThen(&r.out, &r.z, j.m[c], 0, tensor.Epilogue{})
		spmm.Rows(f).Scatter(j.y.Data, r.out.Data, of, r.order[:n])
	}
	if j.dw != nil {
		in, out := j.from.RowLen(), j.x.RowLen()
		r.rows(&r.x, &at, n, in)
		spmm.Rows(in).Gather(r.x.Data, j.from.Data, of)
		r.dw.Set(j.sums[part*len(j.dw.Data)+c*in*out:][:in*out], in, out)
		tensor.MatMul(&r.dw, &r.x, &r.z, tensor.TransA)
	}
}

// addUp sets z to n rows of sums from lo on.
func (j *kindJob) addUp(z []tensor.Float, lo, n int) {
	sum := spmm.RowSum{Gather: j.csr.gather(j.x), Y: z, Set: true, Mean: j.mean}
	sum.Offsets = sum.Offsets[lo : lo+n+1]
	if w := j.csr.Values; w != nil {
		sum.W, sum.Heads = w, 1
	}
	sum.AddRows(0, n)
}
