package dense

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MatMulInPlace multiplies the rows of a matrix by the transpose of a square one, in
// their memory, to the bits of a product beside it:
//
//	for i := range rows {
//		row := copy of x[i]
//		x[i,j] = Σ_k row[k]·w[j,k]
//	}
func MatMulInPlace(x, w *tensor.Dense) {
	t := inPlaces.Get().(*inPlace)
	t.x = *x
	t.back.Set(w, tensor.TransB)
	par.Run((t.x.Rows()-1)/t.rows(inPlacePart)+1, t)
	t.x = tensor.Dense{}
	inPlaces.Put(t)
}

// inPlace is a product in parts of rows.
type inPlace struct {
	x    tensor.Dense
	back tensor.Packed
}

// A part is about inPlacePart elements, of which inPlaceBlock are copied at a time:
// they stay in the second cache.
const (
	inPlacePart  = 1 << 16
	inPlaceBlock = 1 << 14
)

// rows returns the rows of so many elements.
func (t *inPlace) rows(size int) int { return max(1, size/t.x.RowLen()) }

var inPlaces = sync.Pool{New: func() any { return new(inPlace) }}

// inPlaceRows is what a part works with.
type inPlaceRows struct {
	room     []tensor.Float
	from, to tensor.Dense
}

var inPlaceRooms = sync.Pool{New: func() any { return new(inPlaceRows) }}

// Chunk does one part.
func (t *inPlace) Chunk(i int) {
	n, part, block := t.x.RowLen(), t.rows(inPlacePart), t.rows(inPlaceBlock)
	end := min((i+1)*part, t.x.Rows())
	s := inPlaceRooms.Get().(*inPlaceRows)
	if len(s.room) < block*n {
		s.room = make([]tensor.Float, block*n)
	}
	spoil.Floats(s.room)
	for lo := i * part; lo < end; lo += block {
		hi := min(lo+block, end)
		rows := t.x.Data[lo*n : hi*n]
		s.from.Set(s.room[:copy(s.room, rows)], hi-lo, n)
		s.to.Set(rows, hi-lo, n)
		tensor.MatMulPackedThen(&s.to, &s.from, &t.back, 0, tensor.Epilogue{})
	}
	s.to = tensor.Dense{}
	inPlaceRooms.Put(s)
}
