package simd

// Segments are rows of N numbers for each nonzero of some rows of a CSR matrix:
// a segment for each row of it. Where N is 8 the assembly takes many segments in
// a call.
type Segments struct {
	Offsets []int64 // of the segments and the end, in rows
	X, Y, D []Float // from the row 0 on
	Sum     []Float // to work in: 2·N numbers
	N       int
}

// Softmax sets Y to the softmax of X over each segment, each column on its own.
// Y may be X.
//
//	Y[k,j] = Weigh(X[k,j], top) / Σ_k Weigh(X[k,j], top)    top = max_k X[k,j]
func (s *Segments) Softmax() {
	if s.empty() {
		return
	}
	end := int(s.Offsets[len(s.Offsets)-1]) * s.N
	_, _ = s.X[:end], s.Y[:end]
	if fast && s.N == 8 && !s.long() {
		s.softmaxFast()
		return
	}
	top, sum := s.Sum[:s.N], s.Sum[s.N:2*s.N]
	for r := range len(s.Offsets) - 1 {
		lo, hi := int(s.Offsets[r])*s.N, int(s.Offsets[r+1])*s.N
		if lo == hi {
			continue
		}
		NoTop(top)
		TopRows(top, s.X[lo:hi])
		clear(sum)
		WeighRows(s.Y[lo:hi], s.X[lo:hi], top, sum)
		DivideRows(s.Y[lo:hi], sum)
	}
}

// SoftmaxGrad adds the gradient of a softmax to D, from its result Y and the
// gradient X of that:
//
//	D[k,j] += Y[k,j]·(X[k,j] − Σ_k Y[k,j]·X[k,j])
func (s *Segments) SoftmaxGrad() {
	if s.empty() {
		return
	}
	end := int(s.Offsets[len(s.Offsets)-1]) * s.N
	_, _, _ = s.X[:end], s.Y[:end], s.D[:end]
	if fast && s.N == 8 && !s.long() {
		s.gradFast()
		return
	}
	n, c := s.N, s.Sum[:s.N]
	for r := range len(s.Offsets) - 1 {
		clear(c)
		lo, hi := int(s.Offsets[r])*n, int(s.Offsets[r+1])*n
		for k := lo; k < hi; k += n {
			y, dy := s.Y[k:k+n], s.X[k:k+n]
			for j := range c {
				c[j] += y[j] * dy[j]
			}
		}
		for k := lo; k < hi; k += n {
			y, dy, d := s.Y[k:k+n], s.X[k:k+n], s.D[k:k+n]
			for j := range c {
				d[j] += y[j] * (dy[j] - c[j])
			}
		}
	}
}

func (s *Segments) empty() bool {
	n := len(s.Offsets)
	return n < 2 || s.Offsets[0] == s.Offsets[n-1] || s.N == 0
}

// long reports whether there is too much for one call, which cannot be
// preempted.
func (s *Segments) long() bool {
	return s.Offsets[len(s.Offsets)-1]-s.Offsets[0] > longSegment
}

// longSegment is the rows of eight that take some tens of microseconds.
const longSegment = 1 << 12
