package memory

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BAM is a bidirectional associative memory: pairs of patterns, each of which calls up the
// other.
//
//	W = Σ_n x_nᵀ·y_n     y ← sgn(x·W),  x ← sgn(y·Wᵀ)     E(x, y) = −x·W·yᵀ
//
// of Kosko, "Bidirectional Associative Memories", 1988. [Pair] makes it. [PairPseudoInverse] makes one of two
// matrices, each of which says what all of its patterns call up. It is the complete bipartite graph
// from the units of x to those of y, with weights on its edges, and its reverse. All units of
// a side change at once, and without Back the energy never rises; a unit that hears nought stays as it is.
type BAM struct {
	From, To int // units of either side

	W    *grad.Param `json:"-"` // To×From, as the edges of the graph stand
	Back *grad.Param `json:"-"` // From×To, or nil: the transpose of W
}

// Pair returns a memory of pairs, a row of x and one of y each.
func Pair(x, y *tensor.Dense) (*BAM, error) {
	if err := bipolar("memory.Pair", "pattern", x, 0); err != nil {
		return nil, err
	}
	if err := bipolar("memory.Pair", "answer", y, 0); err != nil {
		return nil, err
	}
	if x.Rows() != y.Rows() {
		panic(&tensor.ShapeError{Op: "memory.Pair", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(y.Shape())}, Why: fmt.Sprintf("%d patterns have %d answers; each wants one", x.Rows(), y.Rows())})
	}
	m := &BAM{From: x.RowLen(), To: y.RowLen(), W: grad.NewParam(y.RowLen(), x.RowLen())}
	tensor.MatMul(m.W.Value, y, x, tensor.TransA)
	return m, nil
}

// PairPseudoInverse is Pair for patterns that are alike, as letters are, which the sum mixes:
//
//	W = X⁺·Y    and back    Y⁺·X
//
// of Kohonen and Ruohonen, "Representation of Associated Data by Matrix Operators", 1973. Every pattern calls up
// its answer and every answer its pattern, unless one is a sum of others. No energy falls.
func PairPseudoInverse(x, y *tensor.Dense) (*BAM, error) {
	m, err := Pair(x, y)
	if err != nil {
		return nil, err
	}
	m.W, m.Back = grad.NewParam(m.To, m.From), grad.NewParam(m.From, m.To)
	if err := associate(m.W.Value, x, y); err != nil {
		return nil, err
	}
	return m, associate(m.Back.Value, y, x)
}

// mostRounds ends a recall with weights of somebody's own, whose sums are rounded.
const mostRounds = 1000

// Recall returns the pairs that cues, rows of x, come to rest in.
func (m *BAM) Recall(cues *tensor.Dense) (x, y *tensor.Dense, err error) {
	if err := m.check("Recall", cues, m.From, "cue"); err != nil {
		return nil, nil, err
	}
	there := graph.CompleteBipartite(m.From, m.To)
	back := graph.Reverse(there)
	w := grad.Const(tensor.Of(m.W.Value.Data, m.From*m.To, 1))
	turn := transposed(m.W.Value)
	if m.Back != nil {
		turn = m.Back.Value
	}
	turned := grad.Const(tensor.Of(turn.Data, m.From*m.To, 1))
	now, then := transposed(cues), tensor.New(m.To, cues.Rows())
	then.Fill(1)
	for range mostRounds {
		a := settle(then, message.UpdateAll(there, message.UMulE(grad.Const(now), w), message.Sum).Value())
		b := settle(now, message.UpdateAll(back, message.UMulE(grad.Const(then), turned), message.Sum).Value())
		if !a && !b {
			break
		}
	}
	return transposed(now), transposed(then), nil
}

// settle updates the units of s by what they hear, and reports whether one changed.
func settle(s, fields *tensor.Dense) (changed bool) {
	for i, f := range fields.Data {
		if f != 0 && sign(f) != s.Data[i] {
			s.Data[i], changed = sign(f), true
		}
	}
	return changed
}

// Energy returns E of each pair of rows.
func (m *BAM) Energy(x, y *tensor.Dense) ([]float64, error) {
	if err := m.check("Energy", x, m.From, "pattern"); err != nil {
		return nil, err
	}
	if err := m.check("Energy", y, m.To, "answer"); err != nil {
		return nil, err
	}
	if x.Rows() != y.Rows() {
		panic(&tensor.ShapeError{Op: "memory.BAM.Energy", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(y.Shape())}, Why: fmt.Sprintf("%d patterns have %d answers; each wants one", x.Rows(), y.Rows())})
	}
	fields := tensor.New(x.Rows(), m.To)
	tensor.MatMul(fields, x, m.W.Value, tensor.TransB)
	out := make([]float64, x.Rows())
	for k := range out {
		for j, v := range y.Row(k) {
			out[k] -= float64(v) * float64(fields.Row(k)[j])
		}
	}
	return out, nil
}

func (m *BAM) check(op string, x *tensor.Dense, units int, what string) error {
	if m.W == nil || m.W.Value == nil || m.W.Value.Rows() != m.To || m.W.Value.RowLen() != m.From {
		panic(&grad.TapeError{Op: "memory.BAM." + op, Why: fmt.Sprintf("there are no weights of %d to %d units; make it with Pair", m.From, m.To)})
	}
	return bipolar("memory.BAM."+op, what, x, units)
}
