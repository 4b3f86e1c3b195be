package tensor

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// Mask says which elements one dropout keeps in one step. [NewMask] makes one, and
// so does grad's Tape.NextDropout. An element is kept by a hash of its row, its
// column and the fields, so any part of a mask can be computed anywhere and again.
type Mask struct {
	K0, K1 uint32  // the keys of the hash
	Below  uint32  // an element is dropped if its hash is below
	Off    bool    // nothing is dropped
	Scale  float64 // of what is kept: 1/(1−p)
}

// NewMask returns the mask that drops a fraction p of the elements: that of
// dropout number op of a step of a training with a seed. A p of at least 1 drops
// all.
func NewMask(seed, step uint64, op uint32, p float64) Mask {
	return Mask(vec.NewDropout(seed, step, op, p))
}

// Keeps reports whether the element of a row and a column is kept.
func (m *Mask) Keeps(row, col int) bool {
	d := (*vec.Dropout)(m)
	return d.Keep(d.Row(row), col)
}

// drop is a dropout of rows.
type drop struct {
	dst, src []Float
	width    int
	mask     *vec.Dropout
	add      bool
}

var dropJobs jobs[drop]

// Dropout sets dst to what the mask keeps of x, scaled, and else to zero. An
// element is its row along the first axis and its place in that row. dst has x's
// shape; it may be x itself but must not overlap it otherwise.
func Dropout(dst, x *Dense, mask *Mask) {
	sameShape("Dropout", dst, x)
	inPlace("Dropout", dst, x)
	dropRows(dst, x, mask, false)
}

// DropoutAdd adds what the mask keeps of x, scaled, to dst: the gradient of
// [Dropout], if x is that of its result. dst has x's shape and must not overlap
// it.
func DropoutAdd(dst, x *Dense, mask *Mask) {
	sameShape("DropoutAdd", dst, x)
	apart("DropoutAdd", dst, x)
	dropRows(dst, x, mask, true)
}

func dropRows(dst, x *Dense, mask *Mask, add bool) {
	if len(x.Data) == 0 {
		return
	}
	d := drop{dst.Data, x.Data, x.RowLen(), (*vec.Dropout)(mask), add}
	if alone(x.Rows(), 2*d.width) {
		d.rows(0, x.Rows())
		return
	}
	dropJobs.run(d, x.Rows(), 2*d.width, (*drop).rows)
}

func (d *drop) rows(lo, hi int) {
	to, from := d.dst[lo*d.width:hi*d.width], d.src[lo*d.width:hi*d.width]
	if d.add {
		d.mask.Add(to, from, lo, d.width)
	} else {
		d.mask.Set(to, from, lo, d.width)
	}
}
