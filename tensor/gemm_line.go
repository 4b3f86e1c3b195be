package tensor

// line computes a product of a matrix and a vector. Its transpose has the same elements at the
// same places, so it is computed as whichever lets the kernels read the matrix as it lies: a
// row times a matrix if steps of k are rows of that, else a matrix times a column.
func (g *gemm) line(parts int) {
	t := *g
	t.then = Epilogue{}
	if t.m == 1 && t.b.cs != 1 || t.n == 1 && t.a.cs != 1 {
		t.m, t.n = t.n, t.m
		t.a, t.b = view{g.b.data, g.b.cs, g.b.rs}, view{g.a.data, g.a.cs, g.a.rs}
	}
	if t.n == 1 {
		t.b.cs = 1 // there is no other column
	}
	if parts > 1 {
		t.split(parts)
	} else {
		t.run()
	}
	g.finish(block{hi: g.m, right: g.n})
}
