package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tiling"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Way is how a product runs over a matrix: row by row, which is the zero value, by tiles of
// so many columns of x or by blocks of so many of its rows, or both. It changes no bit of
// the result. The way that takes the least time follows from the sizes, from how often the
// matrix comes back to a row of x, and from the caches of the machine.
//
// Blocks want the nonzeros in another order, which the second product that gains by it makes
// and the matrix keeps, as it does its transpose: 4 bytes for each nonzero, and 8 for each row
// and block. There are none where the columns of a row do not ascend.
type Way struct {
	Tile  int // columns of x in a tile; 0: all
	Block int // rows of x in a block; 0: all
}

// String names the way, and its sizes.
func (w Way) String() string { return tiling.Way(w).String() }

// forced is a way for all products that it may be of; nil: the one that costs the least.
// Tests set it.
var forced *Way

// shape is what the ways of a kernel over a's edges depend on that has f columns.
func (a *CSR) shape(f int) tiling.Shape {
	return tiling.Shape{Rows: a.NumRows, Sources: a.NumCols, Edges: a.NNZ(), Width: f, Of: (*structure)(a)}
}

// best returns the way that s costs the least.
func best(s tiling.Shape) Way {
	switch {
	case s.Edges == 0 || s.Width == 0:
		return Way{}
	case forced == nil && !cpu.Fast: // to add takes longer than to bring what is added
		return Way{}
	case forced == nil:
		return Way(s.Best(tiling.This))
	}
	way := *forced
	if way.Tile >= s.Width || way.Tile > 0 && !s.Cuts(way.Tile) {
		way.Tile = 0
	}
	if !s.Blocks || !s.Of.Ordered() || way.Block >= s.Sources {
		way.Block = 0
	}
	return way
}

// chosen is the way that a kernel takes now. One product does not pay for another order of
// the nonzeros: it takes the best way without.
func (a *CSR) chosen(s tiling.Shape) Way {
	way := best(s)
	if way.Block > 0 && forced == nil && a.root().kept.wanted.Add(1) == 1 {
		s.Blocks = false
		way = best(s)
	}
	return way
}

// Way returns how products with an x like this run, but for the first one where there are blocks.
func (p Product) Way(x *tensor.Dense) Way {
	t := p.A
	if p.Transpose {
		t = p.A.flipped().t
	}
	if way := best(p.shape(t, x.RowLen())); way == (Way{}) || !p.skips() {
		return way
	}
	return Way{}
}

// shape is that of a product over t, which is A or its transpose, with f columns.
func (p Product) shape(t *CSR, f int) tiling.Shape {
	s := t.shape(f)
	if p.Mean && p.Add && !p.Transpose {
		return s // sums have no place of their own
	}
	s.Grain, s.Blocks = 8, true
	switch {
	case p.Weights != nil:
		s.Weights = p.Weights.RowLen()
		if d := f / max(s.Weights, 1); s.Weights > 1 && d%8 == 0 {
			s.Grain = d
		} else if s.Weights > 1 {
			s.Grain = 0
		}
	case p.values() != nil || p.Transpose && p.Mean:
		s.Weights = 1
	}
	return s
}

// skips reports whether there are values of zero, which are left out, one by one.
func (p Product) skips() bool { return p.values() != nil && vec.HasZero(p.values()) }

// Way returns how the products with x, for so many heads, run.
func (p Dots) Way(x *tensor.Dense, heads int) Way {
	return best(p.shape(heads, x.RowLen()))
}

// shape is that of products of f columns. In tiles an inner product would be other additions.
func (p Dots) shape(heads, f int) tiling.Shape {
	s := p.A.shape(f)
	s.Weights, s.Blocks = heads, true
	return s
}

// BestWay returns how [MaxDense] and [MinDense] run.
func BestWay(a *CSR, x *tensor.Dense) Way {
	s := a.shape(x.RowLen())
	s.Grain = 16
	return best(s)
}
