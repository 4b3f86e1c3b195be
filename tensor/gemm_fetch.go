package tensor

import simdgemm "github.com/edgewise-ml/edgewise/internal/simd/gemm"

// A processor fetches long runs of memory ahead by itself, but a block of a is
// many short ones. So the kernel asks, while it computes a block, for what the
// block after it reads.

// fetchNext asks for what comes after p.K steps of a block, from step l of its own: of a
// far b the panels of the steps that follow or, after the last, of the columns that do.
func (g *gemm) fetchNext(p *simdgemm.Product, blk block, l int) {
	if p.Far = blk.far; !p.Far {
		g.fetchA(p, blk, l)
		return
	}
	if p.Next = p.K * nr; l+p.K == blk.kg {
		p.Next = panels(blk.right-blk.left)*blk.panel - l*nr
	}
}

// fetchA asks for the part of a that comes after p.K steps of a block, from step
// l of its own: the next rows, or of a transposed a the next steps.
func (g *gemm) fetchA(p *simdgemm.Product, blk block, l int) {
	next := view{}
	rows := blk.hi - blk.lo
	switch {
	case g.a.rs == g.k:
		next = g.a.from(blk.hi, l*rows) // rows*k elements lie together, and each step asks for its part of them
	case g.a.rs == 1 && rows == g.a.cs:
		next = g.a.from(0, blk.k0+l+p.K)
	}
	g.fetch(p, blk, next.data, rows*p.K)
}

// fetchB asks for what of b is packed next, to take the place of these steps.
func (g *gemm) fetchB(p *simdgemm.Product, blk block, l int) {
	if g.b.rs == g.n {
		g.fetch(p, blk, g.b.from(blk.k0+blk.kg+l, 0).data, p.K*g.n)
	}
}

// fetch has the kernel ask for n elements of x in the course of a block, or of
// half of it where a and b are to be fetched.
func (g *gemm) fetch(p *simdgemm.Product, blk block, x []Float, n int) {
	p.Ahead, p.AheadStep = 0, 0
	asks := p.M / simdgemm.ProductGroup * panels(blk.right-blk.left) * (p.K / 4)
	if g.part {
		asks /= 2
	}
	if n = min(n, len(x)); n <= 0 || asks == 0 {
		return
	}
	p.Fetch(x[:n], asks)
}
