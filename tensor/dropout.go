package tensor

import "github.com/edgewise-ml/edgewise/internal/simd"

// drop is a dropout of rows.
type drop struct {
	dst, src []Float
	width    int
	mask     *simd.Dropout
	add      bool
}

var dropJobs jobs[drop]

// Dropout sets dst to what the mask keeps of x, scaled, and else to zero. An
// element is its row along the first axis and its place in that row. dst has x's
// shape; it may be x itself but must not overlap it otherwise.
func Dropout(dst, x *Dense, mask *simd.Dropout) {
	sameShape("Dropout", dst, x)
	inPlace("Dropout", dst, x)
	dropRows(dst, x, mask, false)
}

// DropoutAdd adds what the mask keeps of x, scaled, to dst: the gradient of
// [Dropout], if x is that of its result. dst has x's shape and must not overlap
// it.
func DropoutAdd(dst, x *Dense, mask *simd.Dropout) {
	sameShape("DropoutAdd", dst, x)
	apart("DropoutAdd", dst, x)
	dropRows(dst, x, mask, true)
}

func dropRows(dst, x *Dense, mask *simd.Dropout, add bool) {
	if len(x.Data) == 0 {
		return
	}
	d := drop{dst.Data, x.Data, x.RowLen(), mask, add}
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
