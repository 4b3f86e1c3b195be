package fused

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Records are what [GAT.Forward] keeps for [GAT.Backward]: some numbers for each
// destination and head, and none for an edge. Data, of RecordsLen elements, is the
// caller's. Forward sets Kind, which says what stands in Data:
//
//	Tiles          er           top            1/Σ      Σα·dα
//	Exponentials   e^er/Σ       e^(s·er)/Σ     Σα·dα
//	  out of range −1/Σ         top            Σα·dα
//
// The last is where Mixed is set, of the destinations that went in tiles all the same.
//
// er is the destination's part of the logits, top the largest logit, Σ the sum of the
// weights below it (of Exponentials: of the weights as they are), and s the slope of
// LeakyReLU. Σα·dα belongs to Backward, which sets it each time; the others are only read.
//
// A destination's heads stand in blocks, see headBlocks. In a block each number of the
// record is there for all heads, before the next one. A destination takes, of h heads that
// are padded to p,
//
//	Tiles                         4·p
//	Exponentials, 8 heads or more 3·h
//	Exponentials, one head        4: the first place is not used, so that a record is in one line of the cache
type Records struct {
	Kind  Kind
	Mixed bool
	Data  []tensor.Float
}

// Kind says which forward pass ran, and so what the records hold.
type Kind uint8

// The kinds of records.
const (
	Unset        Kind = iota // no Forward has run
	Tiles                    // tiles of edges, with the largest logit of each row
	Exponentials             // exponentials of nodes, which are multiplied at the edges, where they are in range
)

// String returns the name of the kind.
func (k Kind) String() string {
	names := []string{"unset", "tiles", "exponentials of nodes"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// RecordsLen is how many elements the records of an attention have, of whichever kind
// they will be.
func (k *GAT) RecordsLen() int { return k.In.NumRows * k.heads().layout(Tiles).stride }

// recordLayout is where records of a kind stand.
type recordLayout struct {
	stride int // elements of a destination
	first  int // the place of the first number
	parts  int // numbers of a head
}

// layout returns that of the records of all destinations.
func (b headBlocks) layout(k Kind) recordLayout {
	switch {
	case k == Tiles:
		return recordLayout{attend.Record * b.padded, 0, attend.Record}
	case b.heads == 1:
		return recordLayout{oneRow, 1, attend.NodeExpRecord}
	}
	return recordLayout{attend.NodeExpRecord * b.heads, 0, attend.NodeExpRecord}
}

// at returns where the record of a destination begins, for the block of heads from lane on.
func (l recordLayout) at(row, lane int) int { return row*l.stride + l.parts*lane }

// center returns where Σα·dα stands, of the first destination and the block of heads from
// lane on, which has so many lanes.
func (l recordLayout) center(lane, lanes int) int { return l.first + l.parts*lane + (l.parts-1)*lanes }

// checkRecords panics unless there is a record for each destination.
func (k *GAT) checkRecords(op string, r *Records) {
	n := 0
	if r != nil {
		n = len(r.Data)
	}
	if n != k.RecordsLen() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{n}, k.In.Shape()}, Why: fmt.Sprintf("want records of %d elements, RecordsLen", k.RecordsLen())})
	}
}

// inTiles returns records of exponentials as those of tiles, in scratch to hand back. Tiles
// alone have the gradients of edges' logits and weights, and take logits of any size. The top is
// 0 where logits are in range.
func (r *Records) inTiles(k *GAT) (Records, *[]tensor.Float) {
	b := k.heads()
	buf := scratch.Borrow(k.RecordsLen())
	par.For(k.In.NumRows, rowsOfPart(b.heads == 1), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			for lane := 0; lane < b.heads; lane += b.lanes {
				r.toTile((*buf)[b.layout(Tiles).at(v, lane):], k, v, lane)
			}
		}
	})
	return Records{Kind: Tiles, Data: *buf}, buf
}

// toTile sets rec to the record of a destination, of the block of heads from lane on.
func (r *Records) toTile(rec []tensor.Float, k *GAT, v, lane int) {
	from, n := k.heads().layout(Exponentials), k.heads().lanes
	own := r.Data[from.at(v, lane)+from.first:][:2*n]
	for h, er := range k.Er.Row(v)[lane : lane+n] {
		rec[h], rec[n+h], rec[2*n+h] = er, 0, own[h]*tensor.Float(math.Exp(-float64(er)))
		if !(own[h] >= 0) { // out of range
			rec[n+h], rec[2*n+h] = own[n+h], -own[h]
		}
	}
}
