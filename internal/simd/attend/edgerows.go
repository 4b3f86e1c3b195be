package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// EdgeRows is some consecutive destinations and the edges into them, with the rows of
// arrays that the edges read where they stand. A row is H heads of Width
// elements. Destination i has the edges Offsets[i] to Offsets[i+1], whose
// sources Cols tells; what belongs to an edge is counted from the first of them.
// Where the assembly is used, Width is a multiple of 8.
type EdgeRows struct {
	Offsets []int64
	Cols    []int32 // of all edges; the caller has checked that U has the rows

	U []Float // the rows of sources
	V []Float // the row of each destination
	A []Float // one row
	C []Float // H numbers for each edge
	Z []Float // a row for each edge; of ScoreBrief two numbers a head
	D []Float // a row for each edge
	G []Float // H numbers for each edge

	DV, DA []Float // as V and A
	R      []Float // another row of each destination
	Signs  []uint8 // a bit for each element of each edge, where Places says
	Places []int32 // of each edge, among those that are kept

	Width, H int
	Slope    Float
	Add      bool // results for edges are added to Z, which is else set
	Ahead    int  // rows of sources are asked for so many edges before they are read; 0: a few

	ahead, last int // what Ahead comes to, or 0 where sources are near; the last edge
	bytes       int // of a row
	left        int // destinations that are still to do
}

// each calls visit with every edge, its destination and its place.
func (f *EdgeRows) each(visit func(r, e, u int)) {
	for r := range len(f.Offsets) - 1 {
		for k := f.Offsets[r]; k < f.Offsets[r+1]; k++ {
			visit(r, int(k-f.Offsets[0]), int(f.Cols[k]))
		}
	}
}

// heads calls visit with every element of every edge: those of its number and of
// the row, of the destination, of the edge and of the source.
func (f *EdgeRows) heads(visit func(c, at, r, e, u int)) {
	w := f.H * f.Width
	f.each(func(r, e, u int) {
		for at := range w {
			visit(e*f.H+at/f.Width, at, r*w+at, e*w+at, u*w+at)
		}
	})
}

// ready reports whether there is anything to do, and whether assembly can do it.
// It panics where a slice is too short.
func (f *EdgeRows) ready(edges, rows [][]Float) (any, quick bool) {
	n, w := len(f.Offsets)-1, f.H*f.Width
	if n < 1 || w == 0 || f.Offsets[0] == f.Offsets[n] {
		return false, false
	}
	count := int(f.Offsets[n] - f.Offsets[0])
	_ = f.Cols[:f.Offsets[n]]
	for _, x := range edges {
		_ = x[:count*w]
	}
	for _, x := range rows {
		_ = x[:n*w]
	}
	return true, cpu.Fast && f.Width%8 == 0 && w <= cpu.MostElements/8
}

// numbers panics if x has not H numbers for each edge.
func (f *EdgeRows) numbers(x []Float) {
	_ = x[:int(f.Offsets[len(f.Offsets)-1]-f.Offsets[0])*f.H]
}

// Score is the inner product of a row with the sum of an edge's ends, of which
// what is negative counts Slope times:
//
//	C[e,h] = Σ_j A[h,j]·leaky(U[e,h,j] + V[r,h,j])
func (f *EdgeRows) Score() {
	any, quick := f.ready(nil, [][]Float{f.V})
	if !any {
		return
	}
	f.numbers(f.C)
	_ = f.A[:f.H*f.Width]
	if quick && f.scoreFast() {
		return
	}
	clear(f.C[:int(f.Offsets[len(f.Offsets)-1]-f.Offsets[0])*f.H])
	f.heads(func(c, at, r, _, u int) {
		z := f.U[u] + f.V[r]
		if !(z > 0) {
			z *= f.Slope
		}
		f.C[c] += f.A[at] * z
	})
}

// ScoreGrad is the gradient of Score. C has that of its results; what comes to
// the sources goes to Z, the rest is added to DV and DA.
func (f *EdgeRows) ScoreGrad() {
	any, quick := f.ready([][]Float{f.Z}, [][]Float{f.V, f.DV})
	if !any {
		return
	}
	f.numbers(f.C)
	_, _ = f.A[:f.H*f.Width], f.DA[:f.H*f.Width]
	if quick && f.scoreGradFast() {
		return
	}
	f.heads(func(c, at, r, e, u int) {
		z, d := f.U[u]+f.V[r], f.C[c]*f.A[at]
		l := z
		if !(z > 0) {
			l, d = f.Slope*z, f.Slope*d
		}
		f.put(e, d)
		f.DV[r] += d
		f.DA[at] += f.C[c] * l
	})
}

// ScoreDots is Score, and the inner products of the same rows of sources with
// those of R, which are Dots of R:
//
//	G[e,h] = Σ_j U[e,h,j]·R[r,h,j]
func (f *EdgeRows) ScoreDots() {
	any, quick := f.ready(nil, [][]Float{f.V, f.R})
	if !any {
		return
	}
	f.numbers(f.C)
	f.numbers(f.G)
	_ = f.A[:f.H*f.Width]
	if quick && f.scoreDotsFast() {
		return
	}
	f.Score()
	dots := *f
	dots.V = f.R
	dots.Dots()
}

// ScoreBrief is ScoreGrad of sources whose rows were summed, too, by the numbers of
// G, but for what comes to the sources. Of that it keeps two numbers a head and a
// bit an element, at the edge's place: from these [CompactGrads] makes it. Width is a
// multiple of 8.
//
//	Z[Places[e],h,:] = C[e,h], G[e,h]    Signs[Places[e],h,j] = U[e,h,j] + V[r,h,j] > 0
func (f *EdgeRows) ScoreBrief() {
	any, quick := f.ready(nil, [][]Float{f.V, f.DV})
	if !any {
		return
	}
	f.numbers(f.C)
	f.numbers(f.G)
	w := f.H * f.Width
	_, _ = f.A[:w], f.DA[:w]
	for _, p := range f.Places[:f.Offsets[len(f.Offsets)-1]-f.Offsets[0]] {
		_, _ = f.Z[int(p)*2*f.H:int(p+1)*2*f.H], f.Signs[int(p)*w/8:int(p+1)*w/8]
	}
	if quick && f.scoreBriefFast() {
		return
	}
	f.each(func(r, e, u int) {
		p := int(f.Places[e])
		bits := f.Signs[p*w/8 : (p+1)*w/8]
		clear(bits)
		for at := range w {
			h := at / f.Width
			c := f.C[e*f.H+h]
			f.Z[(p*f.H+h)*2], f.Z[(p*f.H+h)*2+1] = c, f.G[e*f.H+h]
			z, d := f.U[u*w+at]+f.V[r*w+at], c*f.A[at]
			l := z
			if z > 0 {
				bits[at/8] |= 1 << (at % 8)
			} else {
				l, d = f.Slope*z, f.Slope*d
			}
			f.DV[r*w+at] += d
			f.DA[at] += c * l
		}
	})
}

func (f *EdgeRows) put(e int, d Float) {
	if f.Add {
		d += f.Z[e]
	}
	f.Z[e] = d
}

// Sum adds what the edges carry to the destinations, one edge after another:
//
//	DV[r,h,:] += C[e,h]·U[e,h,:]
func (f *EdgeRows) Sum() {
	any, quick := f.ready(nil, [][]Float{f.DV})
	if !any {
		return
	}
	f.numbers(f.C)
	if quick && f.sumFast() {
		return
	}
	f.heads(func(c, _, r, _, u int) { f.DV[r] += f.C[c] * f.U[u] })
}

// Spread is the gradient of Sum for the sources:
//
//	Z[e,h,:] = C[e,h]·V[r,h,:]
func (f *EdgeRows) Spread() {
	any, quick := f.ready([][]Float{f.Z}, [][]Float{f.V})
	if !any {
		return
	}
	f.numbers(f.C)
	if quick && f.spreadFast() {
		return
	}
	f.heads(func(c, _, r, e, _ int) { f.put(e, f.C[c]*f.V[r]) })
}

// Dots are the inner products of the ends, the gradient of Sum for the numbers:
//
//	G[e,h] = Σ_j U[e,h,j]·V[r,h,j]
func (f *EdgeRows) Dots() {
	any, quick := f.ready(nil, [][]Float{f.V})
	if !any {
		return
	}
	f.numbers(f.G)
	if quick && f.dotsFast() {
		return
	}
	clear(f.G[:int(f.Offsets[len(f.Offsets)-1]-f.Offsets[0])*f.H])
	f.heads(func(c, _, r, _, u int) { f.G[c] += f.U[u] * f.V[r] })
}

// Affine is a multiple of the source's row, and the destination's:
//
//	Z[e,h,:] = C[e,h]·U[e,h,:] + V[r,h,:]
func (f *EdgeRows) Affine() {
	any, quick := f.ready([][]Float{f.Z}, [][]Float{f.V})
	if !any {
		return
	}
	f.numbers(f.C)
	if quick && f.affineFast() {
		return
	}
	f.heads(func(c, _, r, e, u int) { f.Z[e] = f.C[c]*f.U[u] + f.V[r] })
}

// AffineGrad is the gradient of Affine, from that of its results, D:
//
//	Z[e,h,:] = C[e,h]·D[e,h,:]    G[e,h] = Σ_j U[e,h,j]·D[e,h,j]    DV[r,h,:] += D[e,h,:]
func (f *EdgeRows) AffineGrad() {
	any, quick := f.ready([][]Float{f.Z, f.D}, [][]Float{f.DV})
	if !any {
		return
	}
	f.numbers(f.C)
	f.numbers(f.G)
	if quick && f.affineGradFast() {
		return
	}
	clear(f.G[:int(f.Offsets[len(f.Offsets)-1]-f.Offsets[0])*f.H])
	f.heads(func(c, _, r, e, u int) {
		f.put(e, f.C[c]*f.D[e])
		f.G[c] += f.U[u] * f.D[e]
		f.DV[r] += f.D[e]
	})
}
