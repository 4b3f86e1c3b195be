package dense

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// columnSums adds up rows that are made of those of arrays, such as the products of a
// gradient with normalised rows:
//
//	for i := rows.lo; i < rows.hi; i++ {
//		sums[j] += row(i)[j]
//	}
//
// Rows are taken in chunks, as long as their number says, that threads share; in a chunk
// runs of few rows are added in float32, what they give in float64, and the sums of
// chunks in order.
type columnSums struct {
	of     rowsOf
	x, dy  []tensor.Float // rows of d elements
	d      int
	centre []tensor.Float // of columns, of squareRows and offsetRows
	relu   vec.Columns    // of offsetRows: the columns whose ReLU dy is the gradient of; without Centre there is none
	layer  *LayerNorm     // of affineRows and gainRows
	pass   normPass       // of the same: dy, and where the gradient of its X is wanted that
	rows   part

	step    int
	partial []float64
}

// rowsOf says what is made of a row.
type rowsOf uint8

const (
	valueRows  rowsOf = iota // x
	squareRows               // (x − centre)²
	offsetRows               // dy·(x − centre), and then dy
	affineRows               // dy·x̂, and then dy
	gainRows                 // dy·x̂
)

const (
	sumRun    = 64 // rows added in float32
	sumChunks = 32 // at most
)

// width is the length of what is made of a row.
func (w *columnSums) width() int {
	if w.of == offsetRows || w.of == affineRows {
		return 2 * w.d
	}
	return w.d
}

var columnSumsPool = sync.Pool{New: func() any { return new(columnSums) }}

// into sets out to the sums.
func (w columnSums) into(out []float64) {
	if w.rows.hi-w.rows.lo <= sumRun {
		clear(out)
		w.step, w.partial = sumRun, out
		w.Chunk(0)
		return
	}
	p := columnSumsPool.Get().(*columnSums)
	w.partial = p.partial
	*p = w
	rows, width := p.rows.hi-p.rows.lo, p.width()
	p.step = max(1, (rows/sumChunks+sumRun-1)/sumRun) * sumRun
	chunks := (rows + p.step - 1) / p.step
	p.partial = slices.Grow(p.partial[:0], chunks*width)[:chunks*width]
	clear(p.partial)
	par.Run(chunks, p)
	clear(out)
	for part := p.partial; len(part) > 0; part = part[width:] {
		for j, v := range part[:width] {
			out[j] += v
		}
	}
	*p = columnSums{partial: p.partial}
	columnSumsPool.Put(p)
}

// Chunk adds up chunk i.
func (w *columnSums) Chunk(i int) {
	width := w.width()
	if width == 0 {
		return
	}
	to := w.partial[i*width : (i+1)*width]
	end := min(w.rows.lo+(i+1)*w.step, w.rows.hi)
	for lo := w.rows.lo + i*w.step; lo < end; lo += sumRun {
		w.run(part{lo, min(lo+sumRun, end)}, func(sum []tensor.Float) {
			for j, v := range sum {
				to[j] += float64(v)
			}
		})
	}
}

// run calls f with the sums of a run of rows.
func (w *columnSums) run(rows part, f func(sum []tensor.Float)) {
	room := scratch.Borrow(w.width())
	sum := *room
	clear(sum)
	lo, hi := rows.lo*w.d, rows.hi*w.d
	switch w.of {
	case valueRows:
		vec.AddRows(sum, w.x[lo:hi])
	case squareRows:
		vec.CentredSquares(sum, w.x[lo:hi], w.centre)
	case offsetRows:
		if w.relu.Centre != nil {
			w.relu.ReLUDots(sum[:w.d], sum[w.d:], w.dy[lo:hi], w.x[lo:hi])
		} else {
			vec.CentredDots(sum[:w.d], sum[w.d:], w.dy[lo:hi], w.x[lo:hi], w.centre)
		}
	default:
		w.layer.addAffine(sum, w.pass, rows)
	}
	f(sum)
	scratch.Repay(room)
}

// addAffine adds what rows contribute to the gradient of Gain and, where sum is longer, to
// that of Bias. If p has a place for it they add to the gradient of X, too.
func (n *LayerNorm) addAffine(sum []tensor.Float, p normPass, rows part) {
	if p.to != nil {
		n.backwardRows(p, rows)
	}
	bias := sum[n.D:]
	if len(bias) == 0 {
		bias = nil
	}
	for i := rows.lo; i < rows.hi; i++ {
		vec.NormaliseSums(sum[:n.D], bias, n.row(n.X, i), n.row(p.dy, i), n.moments(i))
	}
}

// sumBuffers are float64 rows of sums.
var sumBuffers = sync.Pool{New: func() any { return new([]float64) }}

// withSums calls f with n sums, which hold anything.
func withSums(n int, f func(sums []float64)) {
	p := sumBuffers.Get().(*[]float64)
	*p = slices.Grow((*p)[:0], n)[:n]
	spoil.Floats(*p)
	f(*p)
	sumBuffers.Put(p)
}
