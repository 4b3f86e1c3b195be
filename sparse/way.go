package sparse

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Way is how a product runs over a matrix. The zero value is the plain way, row by row.
type Way struct {
	Tile, Block int // columns of x in a tile, rows of x in a block; 0: all
}

// String returns the way in words, such as "plain" or "blocks of 8192, tiles of 32".
func (w Way) String() string {
	switch {
	case w.Block > 0 && w.Tile > 0:
		return fmt.Sprintf("blocks of %d, tiles of %d", w.Block, w.Tile)
	case w.Block > 0:
		return fmt.Sprintf("blocks of %d", w.Block)
	case w.Tile > 0:
		return fmt.Sprintf("tiles of %d", w.Tile)
	}
	return "plain"
}

// Way returns the way in which the product with x runs.
func (p Product) Way(x *tensor.Dense) Way { return Way{} }

// Way returns the way in which the inner products with x run.
func (p Dots) Way(x *tensor.Dense) Way { return Way{} }

// BestWay returns the way in which [MaxDense] and [MinDense] run.
func BestWay(a *CSR, x *tensor.Dense) Way { return Way{} }
