package fused

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GAT takes rows in tiles, whose numbers stay in the first cache. A row
// too long for a call of the assembly is cut into pieces.
const (
	tileGroups = 128     // groups of eight numbers an edge in a tile of several rows
	tileRows   = 512     // rows of a tile
	pieceMost  = 1024    // edges of a row in one tile
	fetchAhead = 32      // edges: how early memory is asked for a row
	inCache    = 1 << 18 // bytes of a table that stays near, though another core has written it
)

// space is what one thread works in.
type space struct {
	headBlocks
	tile    attend.Tile
	mul     attend.Heads
	nodeExp attend.NodeExpAttention
	long    LongRow // that is taken in pieces
	whole   bool    // the tile is of whole rows, and not taken yet
	ones    [8]tensor.Float
	sum     []tensor.Float // of a row in pieces, or for each row of a tile
	past    []tensor.Float // for each slot: the softmax under the mask
	room    []tensor.Float
	edges   []int32
	recs    []tensor.Float // of a tile's rows and eight heads; nil until wanted
}

var spaces = sync.Pool{New: func() any { return new(space) }}

// slotRoom is the numbers in a tile's slots: pieces and the row that passes the
// limit of a tile, with the register that a row's end may overwrite.
const slotRoom = 8*(pieceMost+tileGroups) + 72 // not a power of two, whose multiples share lines of the cache

// newSpace returns a space for a matrix of columns.
func newSpace(b headBlocks, cols []int32, slope tensor.Float) *space {
	s := spaces.Get().(*space)
	if s.room == nil {
		s.room = make([]tensor.Float, 8*slotRoom)
		s.edges = make([]int32, slotRoom)
		for i := range s.ones {
			s.ones[i] = 1
		}
	}
	spoil.Floats(s.room)
	spoil.Ints(s.edges)
	s.headBlocks = b
	at := func(i int) []tensor.Float { return s.room[i*slotRoom : (i+1)*slotRoom] }
	s.past, s.sum = at(6), at(7)
	s.tile = attend.Tile{
		Cols: cols, Edge: s.edges, Z: at(0), A: at(1), B: at(2), G: at(3), T: at(4), M: at(5),
		FarStride: b.padded, NearStride: b.padded,
		Last: len(cols) - 1, Slope: slope, Lanes: b.lanes,
	}
	s.mul = attend.Heads{Cols: cols, Last: len(cols) - 1, WStride: b.lanes, Filler: 8/b.lanes - 1}
	return s
}

// records returns room for the records of a tile's rows, of a block of heads.
func (s *space) records() []tensor.Float {
	if s.recs == nil {
		s.recs = make([]tensor.Float, tileRows*attend.Record*8)
	}
	return s.recs
}

// put hands s back, without what it points to.
func (s *space) put() {
	s.tile, s.mul, s.nodeExp = attend.Tile{}, attend.Heads{}, attend.NodeExpAttention{}
	spaces.Put(s)
}

// begin takes the next rows before hi: as many as make a tile, or the row lo alone if that
// is too long, which comes in pieces. It returns the row that the next tile begins with.
func (s *space) begin(offsets []int64, lo, hi int) (next int) {
	if offsets[lo+1]-offsets[lo] > pieceMost {
		s.long.Begin(offsets[lo], offsets[lo+1], pieceMost)
		s.whole = false
		return lo + 1
	}
	groups, r := 0, lo
	for ; r < hi && r-lo < tileRows; r++ {
		d := int(offsets[r+1] - offsets[r])
		groups += attend.Groups(d, s.lanes)
		if r > lo && groups > tileGroups {
			break
		}
	}
	s.set(offsets[lo : r+1])
	s.whole, s.long.end = true, 0 // and no piece of a row before
	return r
}

// next takes what begin has made: a tile of whole rows once, a long row piece by piece. It
// reports whether there was something left.
func (s *space) next() bool {
	if s.whole {
		s.whole = false
		return true
	}
	if !s.long.Next() {
		return false
	}
	s.set(s.long.Edges[:])
	return true
}

// set makes the rows of offsets the tile.
func (s *space) set(offsets []int64) {
	groups := 0
	for r := range len(offsets) - 1 {
		groups += attend.Groups(int(offsets[r+1]-offsets[r]), s.lanes)
	}
	s.tile.Offsets, s.mul.Offsets, s.tile.Slots = offsets, offsets, groups
}

// each calls f for each edge of the tile, with the first of its numbers in an
// array of slots and its number in the attention's matrix.
func (s *space) each(f func(at, edge int)) {
	at := 0
	o := s.tile.Offsets
	for r := range len(o) - 1 {
		d := int(o[r+1] - o[r])
		for i := range d {
			slot := at + i*s.lanes
			f(slot, int(s.tile.Edge[slot/s.lanes]))
		}
		at += attend.Groups(d, s.lanes) * 8
	}
}

// slots returns the tile's part of an array of slots.
func (s *space) slots(x []tensor.Float) []tensor.Float { return x[:8*s.tile.Slots] }

// addEdges adds x's numbers of each edge, of the block from lane on, to Z.
func (s *space) addEdges(x *tensor.Dense, lane int) {
	if x == nil {
		return
	}
	n := s.in(lane)
	s.each(func(at, edge int) {
		for h, v := range x.Data[edge*s.heads+lane:][:n] {
			s.tile.Z[at+h] += v
		}
	})
}

// weighEdges multiplies x by the edges' weights.
func (s *space) weighEdges(x []tensor.Float, k *GAT, lane int) {
	if k.Weight == nil {
		return
	}
	n := s.in(lane)
	s.each(func(at, edge int) {
		for h := range n {
			x[at+h] *= k.weight(edge, lane+h)
		}
	})
}

// multiply is y *= x on the tile's slots.
func (s *space) multiply(y, x []tensor.Float) {
	y, x = s.slots(y), s.slots(x)
	vec.Mul.Forward(y, y, x, 1, 1)
}

// ask makes the steps of a tile ask for the first lines of the rows of x some
// edges ahead, so that memory is not idle while they compute: those of a forward
// pass for three, those of a backward one for four. It pays only where a row has
// more than two, with eight lanes.
func (s *space) ask(x *tensor.Dense, edges, early int) {
	if s.lanes == 8 && x.RowLen() > 32 && edges > 0 && s.mul.Width <= 8 {
		s.tile.Ask, s.tile.AskStride, s.tile.AskAhead, s.mul.Early = x.Data, x.RowLen(), edges, early
	}
}

// ahead is how early to ask for rows of a table, of a number of elements.
func ahead(elements int) int {
	if elements*4 <= inCache {
		return 0
	}
	return fetchAhead
}
