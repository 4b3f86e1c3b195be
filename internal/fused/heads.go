package fused

import (
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/tensor"
)

// headBlocks is how the heads are cut into blocks of a power of two of lanes, at
// most eight.
type headBlocks struct {
	heads  int
	lanes  int // of a block
	padded int // lanes of all blocks
}

func (k *GAT) heads() headBlocks {
	b := headBlocks{heads: k.El.RowLen(), lanes: 1}
	for b.lanes < min(b.heads, 8) {
		b.lanes *= 2
	}
	b.padded = (b.heads + b.lanes - 1) / b.lanes * b.lanes
	return b
}

// in returns how many heads the block from lane on has.
func (b headBlocks) in(lane int) int { return min(b.lanes, b.heads-lane) }

// pad returns x, of a row of heads each, with rows of whole blocks, and a buffer
// to hand back if there had to be one.
func (b headBlocks) pad(x *tensor.Dense) ([]tensor.Float, *[]tensor.Float) {
	if b.heads == b.padded {
		return x.Data, nil
	}
	buf := scratch.Borrow(x.Rows() * b.padded)
	for i := range x.Rows() {
		to := (*buf)[i*b.padded:][:b.padded]
		clear(to[copy(to, x.Row(i)):])
	}
	return *buf, buf
}
