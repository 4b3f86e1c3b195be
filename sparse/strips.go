package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// strips are the transposes of strips of a matrix's rows, one after another. A product
// gathers rows of one strip, which are near, for each column: the column's sum is in
// registers for as long, where [Product.spill] loads and stores it at each nonzero.
type strips struct {
	offsets []int64 // of strip s and column c: place s·columns + c; and the end
	rows    []int32 // of each nonzero
	perm    []int32 // nonzero k is nonzero perm[k] of the matrix
	totals  []int64 // nonzeros of the columns before each, and of all
	all     int     // strips
}

const (
	stripRows  = 1 << 7 // of a strip: of 32 elements they are half as large as the smallest first cache
	stripLeast = 12     // nonzeros that a column has in a strip on average, where strips pay
	stripMost  = 64     // columns of x that pay, as many as are gathered at once
)

// strips reports whether the product with the transpose runs by strips of rows.
func (p Product) strips(x *tensor.Dense) bool {
	f, a := x.RowLen(), p.A
	return a.left == nil && f%16 == 0 && f <= stripMost && a.NumRows > stripRows && a.NNZ() >= stripLeast*a.NumCols*((a.NumRows-1)/stripRows+1)
}

// structureStrips returns the strips of a's structure, which are made once.
func (a *CSR) structureStrips() *strips {
	r := a.root()
	r.cut.Do(func() { r.strip = r.strips() })
	return r.strip
}

// strips makes the strips of a.
func (a *CSR) strips() *strips {
	s := &strips{all: (a.NumRows-1)/stripRows + 1, rows: make([]int32, a.NNZ()), perm: make([]int32, a.NNZ())}
	s.offsets = make([]int64, s.all*a.NumCols+1)
	s.totals = make([]int64, a.NumCols+1)
	par.For(s.all, 1, func(from, to int) {
		for i := from; i < to; i++ {
			s.turn(a, i)
		}
	})
	s.offsets[len(s.offsets)-1] = int64(a.NNZ())
	for _, c := range a.Cols {
		s.totals[c+1]++
	}
	for c := range a.NumCols {
		s.totals[c+1] += s.totals[c]
	}
	return s
}

// turn transposes strip i of a by a counting sort.
func (s *strips) turn(a *CSR, i int) {
	lo, hi := i*stripRows, min((i+1)*stripRows, a.NumRows)
	next := make([]int64, a.NumCols)
	for _, c := range a.Cols[a.Offsets[lo]:a.Offsets[hi]] {
		next[c]++
	}
	at := a.Offsets[lo]
	for c, n := range next {
		s.offsets[i*a.NumCols+c], next[c] = at, at
		at += n
	}
	for r := lo; r < hi; r++ {
		for k := a.Offsets[r]; k < a.Offsets[r+1]; k++ {
			to := &next[a.Cols[k]]
			s.rows[*to], s.perm[*to] = int32(r), int32(k)
			*to++
		}
	}
}

// stripTask is a product by strips.
type stripTask struct {
	*strips
	a      *CSR
	values []tensor.Float
	sum    spmm.RowSum
	set    bool
	bounds []int // of the columns of each thread, which all strips come by
}

var stripTasks = sync.Pool{New: func() any { return new(stripTask) }}

// byStrips is the product with the transpose by strips of rows: each element is the chain of
// [Product.spill].
func (p Product) byStrips(dst, x *tensor.Dense) {
	t := stripTasks.Get().(*stripTask)
	*t = stripTask{strips: p.A.structureStrips(), a: p.A, values: p.values(), set: !p.Add, bounds: t.bounds}
	t.bounds = par.Split(t.totals, max(1, min(par.Threads(), p.A.NumCols)), t.bounds)
	t.sum = spmm.RowSum{Gather: spmm.Gather{X: x.Data, Cols: t.rows, F: x.RowLen()}, Y: dst.Data}
	par.Run(len(t.bounds)-1, t)
	*t = stripTask{bounds: t.bounds}
	stripTasks.Put(t)
}

// Chunk adds up the rows of some columns, strip by strip.
func (t *stripTask) Chunk(i int) {
	lo, hi, f := t.bounds[i], t.bounds[i+1], t.sum.F
	y := t.sum.Y[lo*f : hi*f]
	for s := range t.all {
		set := t.set && s == 0
		from := s * t.a.NumCols
		sum := t.sum
		sum.Offsets = t.offsets[from+lo : from+hi+1]
		values := t.values[t.a.Offsets[s*stripRows]:t.a.Offsets[min((s+1)*stripRows, t.a.NumRows)]]
		if vec.HasZero(values) { // which is left out
			k := sumKernel{sum: sum, values: t.values, perm: t.perm}
			k.add(y, 0, hi-lo, set)
			continue
		}
		sum.Y, sum.W, sum.Edges, sum.Heads, sum.Set = y, t.values, t.perm, 1, set
		sum.AddRows(0, hi-lo)
	}
}
