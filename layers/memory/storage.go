package memory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Rule is how patterns become weights.
type Rule uint8

const (
	// Hebb adds up the patterns, of Hebb, 1949, and Hopfield, 1982. It needs no more than
	// the pattern that comes, and holds some 0.14 patterns a unit:
	//
	//	W_ij = 1/Units · Σ_n x_i·x_j     for i ≠ j
	Hebb Rule = iota
	// PseudoInverse makes each pattern its own image, of Personnaz, Guyon and Dreyfus, 1985.
	// It needs all patterns at once, and holds about half a pattern a unit:
	//
	//	W = X⁺·X, and then W_ii = 0
	PseudoInverse
	// Storkey takes off what the network says already, of Storkey, 1997. It takes pattern by
	// pattern, and holds more than Hebb:
	//
	//	W_ij += 1/Units · (x_i·x_j − x_i·h_ji − h_ij·x_j),     h_ij = Σ_k≠i,j W_ik·x_k
	Storkey
	// HebbMean is Hebb's sum as a mean over the patterns, with 1/patterns in the place of 1/Units. Without
	// thresholds the signs cannot tell the two apart; a threshold weighs Units/patterns times less.
	HebbMean
)

// String returns the rule's name.
func (r Rule) String() string {
	if names := []string{"Hebb", "pseudo-inverse", "Storkey", "Hebb's mean"}; int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("Rule(%d)", uint8(r))
}

// Store returns a network that holds patterns, a row of +1 and −1 each. The error names a unit that
// is neither.
func Store(r Rule, patterns *tensor.Dense) (*Hopfield, error) {
	if err := bipolar("memory.Store", "pattern", patterns, 0); err != nil {
		return nil, err
	}
	h := NewHopfield(patterns.RowLen())
	switch r {
	case Hebb, HebbMean:
		by := h.Units
		if r == HebbMean {
			by = patterns.Rows()
		}
		tensor.MatMul(h.W.Value, patterns, patterns, tensor.TransA)
		for i := range h.W.Value.Data {
			h.W.Value.Data[i] /= tensor.Float(by)
		}
	case PseudoInverse:
		if err := projection(h.W.Value, patterns); err != nil {
			return nil, err
		}
	case Storkey:
		for n := range patterns.Rows() {
			h.storkey(patterns.Row(n))
		}
	default:
		panic(&grad.TapeError{Op: "memory.Store", Why: fmt.Sprintf("there is no rule %v; choose Hebb, PseudoInverse or Storkey", r)})
	}
	for i := range h.Units {
		h.W.Value.Row(i)[i] = 0
	}
	return h, nil
}

// storkey adds one pattern. The diagonal stays zero, so h_ij is h_i − W_ij·x_j.
func (h *Hopfield) storkey(x []tensor.Float) {
	fields := make([]tensor.Float, h.Units)
	for i := range fields {
		fields[i] = vec.Dot(h.W.Value.Row(i), x)
	}
	for i := range h.Units {
		row := h.W.Value.Row(i)
		for j := range row {
			if j != i {
				w := row[j] // still W_ji as well: the change is symmetric
				row[j] += (x[i]*x[j] - x[i]*(fields[j]-w*x[i]) - (fields[i]-w*x[j])*x[j]) / tensor.Float(h.Units)
			}
		}
	}
}

// negligible is the eigenvalue, as a part of the largest, below which patterns are as good
// as sums of others.
const negligible = 1e-9

// axes are orthogonal directions that span some patterns, each of a length of one, and what they are sums of: rows of
// basis and of of, times the patterns.
type axes struct{ basis, of *tensor.Dense }

// axesOf returns those of the rows of x, in float64 until they are there.
func axesOf(x *tensor.Dense) (axes, error) {
	n := x.Rows()
	gram, wide := mat.NewSymDense(n, nil), mat.NewDense(n, x.RowLen(), nil)
	for i := range n {
		for j, v := range x.Row(i) {
			wide.Set(i, j, float64(v))
		}
	}
	gram.SymOuterK(1, wide)
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return axes{}, fmt.Errorf("memory: the eigenvalues of %d patterns did not converge", n)
	}
	var vectors, along mat.Dense
	eigen.VectorsTo(&vectors)
	along.Mul(vectors.T(), wide) // its rows are orthogonal, of length √λ
	values := eigen.Values(nil)
	a := axes{tensor.New(n, x.RowLen()), tensor.New(n, n)}
	for i, l := range values {
		if l > negligible*values[n-1] {
			for j := range a.basis.Row(i) {
				a.basis.Row(i)[j] = tensor.Float(along.At(i, j) / math.Sqrt(l))
			}
			for j := range n {
				a.of.Row(i)[j] = tensor.Float(vectors.At(j, i) / math.Sqrt(l))
			}
		}
	}
	return a, nil
}

// projection sets w to the projection onto the span of the rows of x.
func projection(w, x *tensor.Dense) error {
	a, err := axesOf(x)
	if err == nil {
		tensor.MatMul(w, a.basis, a.basis, tensor.TransA)
	}
	return err
}

// associate sets w to the transpose of X⁺·Y, so that row x of X times it is row y of Y.
func associate(w, x, y *tensor.Dense) error {
	a, err := axesOf(x)
	if err != nil {
		return err
	}
	said := tensor.New(x.Rows(), y.RowLen())
	tensor.MatMul(said, a.of, y, 0)
	tensor.MatMul(w, said, a.basis, tensor.TransA)
	return nil
}
