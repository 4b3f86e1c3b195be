package tensor

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// Epilogue is what is done to the rows of a product while they are in cache:
// Bias is added, then Act applied. The zero value does nothing.
type Epilogue struct {
	Bias *Dense     // a number for each column; nil adds nothing
	Act  Activation // applied to each element
}

// Activation is a function of an element that ends a layer. The zero value is
// none; [Activate] makes one.
type Activation struct {
	f  vec.Unary
	c  Float
	on bool
}

// Activate returns f with its constant c, which some functions have, as an
// activation.
func Activate(f Unary, c Float) Activation { return Activation{vec.Unary(f), c, true} }

// fits reports whether e can follow a product that is dst.
func (e *Epilogue) fits(dst *Dense) bool {
	return e.Bias == nil || len(e.Bias.Data) == dst.dims[1] && !overlap(dst.Data, e.Bias.Data)
}

// ends reports whether anything comes after the product.
func (e *Epilogue) ends() bool { return e.Bias != nil || e.Act.on }

// finish does what comes after a product to the rows and columns of a block of
// it, whose rows have n elements.
func (e *Epilogue) finish(product []Float, n int, blk block) {
	if !e.ends() {
		return
	}
	if blk.right-blk.left == n {
		e.rows(product[blk.lo*n:blk.hi*n], 0, n)
		return
	}
	for i := blk.lo; i < blk.hi; i++ {
		e.rows(product[i*n+blk.left:i*n+blk.right], blk.left, blk.right)
	}
}

// rows is finish of whole rows of the columns from left to right.
func (e *Epilogue) rows(c []Float, left, right int) {
	if e.Bias != nil {
		vec.Add.ForwardRows(c, c, e.Bias.Data[left:right])
	}
	if e.Act.on {
		e.Act.f.Forward(c, c, e.Act.c)
	}
}

// finish does what comes after the product to a block of it.
func (g *gemm) finish(blk block) { g.then.finish(g.c, g.n, blk) }
