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

// A gradient of weights of few columns, such as those of a layer that ends in
// classes, is computed as its transpose: then the long side of it fills the
// kernel's registers, and the long operand is read where it lies. An element is
// the same chain either way.

// slimMost is how many columns are few: two groups of rows of the kernel.
const slimMost = 12

// slim reports whether g = aᵀb is better computed as bᵀa.
func (g *gemm) slim() bool {
	return g.n <= slimMost && g.m >= 4*nr && g.k >= kc/2 && !g.then.ends()
}

// sideways computes c as the transpose of bᵀa, with k in parts.
func (g *gemm) sideways(parts int) {
	w := workspaces.Get().(*workspace)
	c := room(&w.c, g.m*g.n)
	if !g.set {
		for i := range g.m {
			for j, v := range g.c[i*g.n : i*g.n+g.n] {
				c[j*g.m+i] = v
			}
		}
	}
	t := gemm{m: g.n, n: g.m, k: g.k, a: view{g.b.data, g.b.cs, g.b.rs}, b: view{g.a.data, g.a.cs, g.a.rs}, c: c, set: g.set}
	if parts > 1 {
		t.split(parts)
	} else {
		t.run()
	}
	for i := range g.m {
		for j := range g.n {
			g.c[i*g.n+j] = c[j*g.m+i]
		}
	}
	workspaces.Put(w)
}
