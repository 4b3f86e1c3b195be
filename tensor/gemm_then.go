package tensor

import "github.com/edgewise-ml/edgewise/internal/simd"

// Epilogue is what is done to the rows of a product while they are in cache:
// Bias is added, then Act applied. The zero value does nothing.
type Epilogue struct {
	Bias *Dense     // a number for each column; nil adds nothing
	Act  Activation // applied to each element
}

// Activation is a function of an element that ends a layer. The zero value is
// none; [Activate] makes one.
type Activation struct {
	f  simd.Unary
	c  Float
	on bool
}

// Activate returns f with its constant c, which some functions have, as an
// activation.
func Activate(f simd.Unary, c Float) Activation { return Activation{f, c, true} }

// fits reports whether e can follow a product that is dst.
func (e *Epilogue) fits(dst *Dense) bool {
	return e.Bias == nil || len(e.Bias.Data) == dst.dims[1] && !overlap(dst.Data, e.Bias.Data)
}

// few does what e says to few rows.
func (e *Epilogue) few(dst *Dense) {
	if e.Bias != nil {
		for i := range dst.dims[0] {
			c := dst.Row(i)
			simd.Add.Forward(c, c, e.Bias.Data, 1, 1)
		}
	}
	if e.Act.on {
		e.Act.f.Forward(dst.Data, dst.Data, e.Act.c)
	}
}

// ends reports whether anything comes after the product.
func (g *gemm) ends() bool { return g.then.Bias != nil || g.then.Act.on }

// finish does what comes after the product to the rows and columns of a block.
func (g *gemm) finish(blk block) {
	if !g.ends() {
		return
	}
	for i := blk.lo; i < blk.hi; i++ {
		c := g.c[i*g.n+blk.left : i*g.n+blk.right]
		if b := g.then.Bias; b != nil {
			simd.Add.Forward(c, c, b.Data[blk.left:blk.right], 1, 1)
		}
		if a := g.then.Act; a.on && len(c) != g.n {
			a.f.Forward(c, c, a.c)
		}
	}
	if a := g.then.Act; a.on && blk.right-blk.left == g.n {
		c := g.c[blk.lo*g.n : blk.hi*g.n]
		a.f.Forward(c, c, a.c)
	}
}
