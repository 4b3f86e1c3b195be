package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A columnSum adds up rows that a function makes, such as the products of a
// gradient with normalised rows. Rows are taken in chunks, as long as their number
// says, that threads share; in a chunk runs of few rows are added in float32, what
// they give in float64, and the sums of chunks in order.
type columnSum struct {
	n     *norm
	c     *columnNorm // if n is part of one
	k     int         // the range of rows, of a columnNorm
	dy    []tensor.Float
	kind  rowKind
	rows  part
	width int // of what row returns

	step    int
	partial []float64
}

// rowKind says what is made of a row.
type rowKind uint8

const (
	valueRows  rowKind = iota // x
	squareRows                // (x − centre)²
	offsetRows                // dy·(x − centre) and dy
	affineRows                // dy·x̂ and dy
)

const (
	sumRun    = 64 // rows added in float32
	sumChunks = 32 // at most
)

var columnSums = sync.Pool{New: func() any { return new(columnSum) }}

// sumRows sets out to the sums of what w makes of its rows.
func sumRows(w columnSum, out []float64) {
	if w.rows.hi-w.rows.lo <= sumRun {
		clear(out)
		w.step, w.partial = sumRun, out
		w.Chunk(0)
		return
	}
	p := columnSums.Get().(*columnSum)
	w.partial = p.partial
	*p = w
	rows := p.rows.hi - p.rows.lo
	p.step = max(1, (rows/sumChunks+sumRun-1)/sumRun) * sumRun
	chunks := (rows + p.step - 1) / p.step
	p.partial = slices.Grow(p.partial[:0], chunks*p.width)[:chunks*p.width]
	clear(p.partial)
	par.Run(chunks, p)
	clear(out)
	for i, v := range p.partial {
		out[i%p.width] += v
	}
	*p = columnSum{partial: p.partial}
	columnSums.Put(p)
}

// Chunk adds up chunk i.
func (w *columnSum) Chunk(i int) {
	if w.width == 0 {
		return
	}
	to := w.partial[i*w.width : (i+1)*w.width]
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
func (w *columnSum) run(rows part, f func(sum []tensor.Float)) {
	scratch := borrowRows(2 * w.width)
	sum, buf := (*scratch)[:w.width], (*scratch)[w.width:]
	clear(sum)
	for r := rows.lo; r < rows.hi; r++ {
		addTo(sum, w.row(r, buf))
	}
	f(sum)
	scratchRows.Put(scratch)
}

// sumBuffers are float64 rows of sums.
var sumBuffers = sync.Pool{New: func() any { return new([]float64) }}

// withSums calls f with n sums.
func withSums(n int, f func(sums []float64)) {
	p := sumBuffers.Get().(*[]float64)
	*p = slices.Grow((*p)[:0], n)[:n]
	spoil.Floats(*p)
	f(*p)
	sumBuffers.Put(p)
}

// row returns what is made of row i, in buf if it is not there already.
func (w *columnSum) row(i int, buf []tensor.Float) []tensor.Float {
	switch w.kind {
	case squareRows:
		return w.squareRow(i, buf)
	case offsetRows:
		return w.offsetRow(i, buf)
	case affineRows:
		return w.affineRow(i, buf)
	}
	return w.valueRow(i)
}

// affineRow makes dy·x̂ and dy of row i of a layer norm.
func (w *columnSum) affineRow(i int, buf []tensor.Float) []tensor.Float {
	d := w.n.d
	dy := w.dy[i*d : i*d+d]
	w.n.centre(buf[:d], i)
	simd.Scale.Forward(buf[:d], buf[:d], w.n.scale[i])
	simd.Mul.Forward(buf[:d], buf[:d], dy, 1, 1)
	copy(buf[d:], dy)
	return buf
}

// valueRow is row i of x.
func (w *columnSum) valueRow(i int) []tensor.Float {
	return w.n.x.val.Data[i*w.n.d : i*w.n.d+w.n.d]
}

// squareRow makes the squares of row i of x without its centre.
func (w *columnSum) squareRow(i int, buf []tensor.Float) []tensor.Float {
	simd.Sub.Forward(buf, w.valueRow(i), w.c.centre(w.k), 1, 1)
	simd.Square.Forward(buf, buf, 0)
	return buf
}

// offsetRow makes dy·o and dy of row i, o being x without its centre.
func (w *columnSum) offsetRow(i int, buf []tensor.Float) []tensor.Float {
	d := w.n.d
	dy := w.dy[i*d : i*d+d]
	simd.Sub.Forward(buf[:d], w.valueRow(i), w.c.centre(w.k), 1, 1)
	simd.Mul.Forward(buf[:d], buf[:d], dy, 1, 1)
	copy(buf[d:], dy)
	return buf
}
