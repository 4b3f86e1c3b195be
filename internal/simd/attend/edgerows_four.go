//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Edges are taken a block at a time, whose rows stay in the nearest cache.

// blockRoom is how many numbers the rows of a block have.
const blockRoom = 1 << 11

// block is some edges of a destination, from edge e on.
type block struct {
	r, e, n int
	z       [blockRoom]Float // U + V of each
	grads   [blockRoom]Float // and their gradients
}

var blockPool = sync.Pool{New: func() any { return new(block) }}

// blocks calls visit with the edges in blocks, or returns false if a row is larger than a block.
func (f *EdgeRows) blocks(visit func(b *block)) bool {
	w := f.H * f.Width
	if w > blockRoom {
		return false
	}
	b := blockPool.Get().(*block)
	defer blockPool.Put(b)
	for r := range len(f.Offsets) - 1 {
		for k, end := f.Offsets[r], f.Offsets[r+1]; k < end; k += int64(b.n) {
			b.r, b.e, b.n = r, int(k-f.Offsets[0]), min(blockRoom/w, int(end-k))
			visit(b)
		}
	}
	return true
}

// sums sets z to the sums of an edge's ends.
func (f *EdgeRows) sums(b *block) []Float {
	w := f.H * f.Width
	for i := range b.n {
		u := int(f.Cols[int(f.Offsets[0])+b.e+i])
		four.Add(place(b.z[:], i*w), place(f.U, u*w), place(f.V, b.r*w), w)
	}
	return b.z[:b.n*w]
}

// products are those of rows of the block, which have numbers in w.
func (f *EdgeRows) products(w []Float) Heads {
	return Heads{W: w, WStride: f.H, H: f.H, Width: f.Width}
}

func (f *EdgeRows) scoreFast() bool {
	return f.blocks(func(b *block) {
		z := f.sums(b)
		vec.LeakyReLU.Forward(z, z, f.Slope)
		k := f.products(f.C[b.e*f.H:])
		k.X, k.XStride = z, f.H*f.Width
		k.rowDots(k.W, f.A, 0, b.n, 0)
	})
}

func (f *EdgeRows) scoreDotsFast() bool {
	dots := *f
	dots.V = f.R
	return f.scoreFast() && dots.dotsFast()
}

// scoreGradFast adds to DV and DA, and sets Z or adds to it.
func (f *EdgeRows) scoreGradFast() bool {
	w := f.H * f.Width
	return f.blocks(func(b *block) {
		to, d := f.Z[b.e*w:(b.e+b.n)*w], f.grads(b, f.sums(b))
		if f.Add {
			four.Add(place(to, 0), place(to, 0), place(d, 0), len(to))
		} else {
			copy(to, d)
		}
	})
}

// grads adds the gradients of a block, whose sums are z, to DV and DA, and returns those of the sums.
func (f *EdgeRows) grads(b *block, z []Float) []Float {
	w, d, dv := f.H*f.Width, b.grads[:len(z)], place(f.DV, b.r*f.H*f.Width)
	clear(d)
	k := f.products(f.C[b.e*f.H:])
	k.X, k.Y, k.YStride = f.A, d, w
	k.scaled(0, b.n)
	four.LeakyReLUSlope(place(d, 0), place(d, 0), place(z, 0), len(z), 0, f.Slope)
	for at := 0; at < len(d); at += w {
		four.Add(dv, dv, place(d, at), w)
	}
	vec.LeakyReLU.Forward(z, z, f.Slope)
	k.X, k.XStride, k.Y, k.YStride = z, w, f.DA, 0
	k.scaled(0, b.n)
	return d
}

func (f *EdgeRows) scoreBriefFast() bool {
	w := f.H * f.Width
	return f.blocks(func(b *block) {
		z := f.sums(b)
		for i := range b.n {
			e := b.e + i
			p := int(f.Places[e])
			for h := range f.H {
				f.Z[(p*f.H+h)*2], f.Z[(p*f.H+h)*2+1] = f.C[e*f.H+h], f.G[e*f.H+h]
			}
			signs(f.Signs[p*w/8:(p+1)*w/8], z[i*w:])
		}
		f.grads(b, z)
	})
}

// signs sets a bit for each element above zero.
func signs(to []uint8, z []Float) {
	for i := range to {
		x, bits := (*[8]Float)(z[8*i:]), uint8(0)
		for j, v := range x {
			if v > 0 {
				bits |= 1 << j
			}
		}
		to[i] = bits
	}
}

// sumFast and dotsFast are products of sparse matrices.
func (f *EdgeRows) sumFast() bool {
	f.parts(func(g spmm.Gather, r, rows int) {
		p := spmm.RowSum{Gather: g, Y: f.DV[r*g.F:], W: f.C, Heads: f.H}
		p.AddRows(0, rows)
	})
	return true
}

func (f *EdgeRows) dotsFast() bool {
	f.parts(func(g spmm.Gather, r, rows int) {
		p := spmm.EdgeDot{Gather: g, Z: f.G, Y: f.V[r*g.F:], Heads: f.H, Set: true}
		p.AddRows(0, rows)
	})
	return true
}

var offsetsPool = sync.Pool{New: func() any { return new([65]int64) }}

// parts calls do with the rows of sources that some destinations from r on read. Edges count from the first.
func (f *EdgeRows) parts(do func(g spmm.Gather, r, rows int)) {
	offsets := offsetsPool.Get().(*[65]int64)
	defer offsetsPool.Put(offsets)
	first := f.Offsets[0]
	for r := 0; r < len(f.Offsets)-1; r += len(offsets) - 1 {
		rows := copy(offsets[:], f.Offsets[r:]) - 1
		for i := range offsets[:rows+1] {
			offsets[i] -= first
		}
		do(spmm.Gather{X: f.U, Offsets: offsets[:rows+1], Cols: f.Cols[first:], F: f.H * f.Width}, r, rows)
	}
}

func (f *EdgeRows) spreadFast() bool {
	w := f.H * f.Width
	return f.blocks(func(b *block) {
		to := f.Z[b.e*w : (b.e+b.n)*w]
		if !f.Add {
			clear(to)
		}
		k := f.products(f.C[b.e*f.H:])
		k.X, k.Y, k.YStride = f.V[b.r*w:], to, w
		k.scaled(0, b.n)
	})
}

func (f *EdgeRows) affineFast() bool {
	w := f.H * f.Width
	return f.blocks(func(b *block) {
		for i := range b.n {
			u, e := int(f.Cols[int(f.Offsets[0])+b.e+i]), b.e+i
			to := f.Z[e*w : (e+1)*w]
			copy(to, f.V[b.r*w:])
			k := f.products(f.C[e*f.H:])
			k.X, k.Y = f.U[u*w:], to
			k.scaled(0, 1)
		}
	})
}

func (f *EdgeRows) affineGradFast() bool {
	w := f.H * f.Width
	return f.blocks(func(b *block) {
		to, d := f.Z[b.e*w:(b.e+b.n)*w], f.D[b.e*w:]
		if !f.Add {
			clear(to)
		}
		k := f.products(f.C[b.e*f.H:])
		k.X, k.XStride, k.Y, k.YStride = d, w, to, w
		k.scaled(0, b.n)
		for i := range b.n {
			u, dv := int(f.Cols[int(f.Offsets[0])+b.e+i]), place(f.DV, b.r*w)
			dot := f.products(f.G[(b.e+i)*f.H:])
			dot.X = f.U[u*w:]
			dot.rowDots(dot.W, d[i*w:], 0, 1, 0)
			four.Add(dv, dv, place(d, i*w), w)
		}
	})
}

// addFast is Add by rows of what a sign multiplies with, of which four bits say four.
func (b *CompactGrads) addFast(edges []int32) bool {
	w := b.H * b.Width
	var room struct {
		row, sum [blockRoom]Float
		pairs    [2][blockRoom / 8]Float
		leaky    [16][4]Float
	}
	if w > blockRoom {
		return false
	}
	for i := range room.leaky {
		for j := range room.leaky[i] {
			room.leaky[i][j] = b.Slope
			if i>>j&1 != 0 {
				room.leaky[i][j] = 1
			}
		}
	}
	row, sum, to := room.row[:w], room.sum[:w], place(room.sum[:], 0)
	for _, e := range edges {
		for h := range b.H {
			at := 2 * (int(e)*b.H + h)
			room.pairs[0][h], room.pairs[1][h] = b.Z[at], b.Z[at+1]
		}
		clear(sum)
		four.RowsScaled(to, place(b.A, 0), place(room.pairs[0][:], 0), 1, b.H, b.Width, 0, 0, 0)
		for i, bits := range b.Signs[int(e)*w/8 : (int(e)+1)*w/8] {
			*(*[4]Float)(row[8*i:]), *(*[4]Float)(row[8*i+4:]) = room.leaky[bits&15], room.leaky[bits>>4]
		}
		four.Mul(to, to, place(row, 0), w)
		four.RowsScaled(to, place(b.R, int(b.From[e])*w), place(room.pairs[1][:], 0), 1, b.H, b.Width, 0, 0, 0)
		du := place(b.DU, int(b.To[e])*w)
		four.Add(du, du, to, w)
	}
	return true
}
