package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// CompactGrads are the gradients that edges give back to their sources, whose rows were
// scored and summed. Of an edge [EdgeRows.ScoreBrief] kept little: so few numbers that
// whoever adds them to the sources, maybe on another processor, makes its row anew.
// Rows are H heads of Width elements.
type CompactGrads struct {
	DU    []Float // rows of sources, which are added to
	R     []Float // rows of destinations: the gradients of the sums
	A     []Float // one row
	Z     []Float // of each edge and head the gradient of the score, and the number by which the source's row counts
	Signs []uint8 // a bit for each element of each edge

	To, From []int32 // the source and the destination of each edge

	Width, H int
	Slope    Float

	edges       *int32 // that are to do
	n           int
	ahead, near int // the first near edges ask for the row of the one so many places later
	bytes       int // of a row
}

// Add adds what some edges give back, one after another:
//
//	DU[To[e],h,:] += Z[e,h,1]·R[From[e],h,:] + Z[e,h,0]·A[h,:]·(1 or, where the sign is not set, Slope)
//
// The caller has checked that the arrays have the rows. Width is a multiple of 8.
func (b *CompactGrads) Add(edges []int32) {
	w := b.H * b.Width
	if w == 0 {
		return
	}
	_ = b.A[:w]
	if cpu.Fast && w <= cpu.MostElements/8 && b.addFast(edges) {
		return
	}
	for _, e := range edges {
		du, r := b.DU[int(b.To[e])*w:][:w], b.R[int(b.From[e])*w:][:w]
		signs := b.Signs[int(e)*w/8:]
		for at := range w {
			pair := b.Z[2*(int(e)*b.H+at/b.Width):]
			d := pair[0] * b.A[at]
			if signs[at/8]>>(at%8)&1 == 0 {
				d *= b.Slope
			}
			du[at] += d + pair[1]*r[at]
		}
	}
}
