package memory

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Hopfield is a network of units that are +1 or −1 and hear each other:
//
//	s_i ← +1 if Σ_j W_ij·s_j + B_i ≥ 0, else −1     W_ij = W_ji,  W_ii = 0
//	E(s) = −½·Σ_ij s_i·W_ij·s_j − Σ_i B_i·s_i
//
// of Hopfield, "Neural Networks and Physical Systems with Emergent Collective Computational
// Abilities", 1982. Unit by unit the energy never rises, so the network comes to rest: in a
// pattern that was stored, in its negative, or in a mixture of some. [Store] makes one.
//
// A sum of nought is common and makes a unit +1. It is found exactly, and so is every sign, where
// the weights of a unit are whole numbers, or whole numbers divided by Units or by the patterns as Hebb's
// are; other weights are summed in float32.
//
// It is the complete graph with a weight on each edge: a unit's sum is
// UpdateAll(graph.Complete(Units), UMulE(s, W), Sum), with a column of s for each state.
type Hopfield struct {
	Units int

	W *grad.Param `json:"-"` // Units×Units
	B *grad.Param `json:"-"` // Units, or nil: zeros
}

// mostUnits is how many units have weights that can be counted.
const mostUnits = 46340

// NewHopfield returns a network in which nothing is stored: all weights are zero.
func NewHopfield(units int) *Hopfield {
	if units < 1 || units > mostUnits {
		panic(&grad.TapeError{Op: "memory.NewHopfield", Why: fmt.Sprintf("%d units; there must be 1 to %d", units, mostUnits)})
	}
	return &Hopfield{Units: units, W: grad.NewParam(units, units)}
}

// Fields returns W·s + B of each state, a row each.
func (h *Hopfield) Fields(states *tensor.Dense) (*tensor.Dense, error) {
	if err := h.check("Fields", states); err != nil {
		return nil, err
	}
	return transposed(h.fields(nil, transposed(states), h.newWholes())), nil
}

// fields is Fields of states that are columns, in memory of t, which may be nil.
func (h *Hopfield) fields(t *grad.Tape, s *tensor.Dense, exact *wholes) *tensor.Dense {
	y := h.sums(t, s)
	exact.settle(y, s)
	return y
}

// sums is W·s + B of any states that are columns, as float32 adds them up.
func (h *Hopfield) sums(t *grad.Tape, s *tensor.Dense) *tensor.Dense {
	n := h.Units * h.Units
	w := tensor.Of(h.W.Value.Data, n, 1)
	y := message.UpdateAll(graph.Complete(h.Units), message.UMulE(t.Input(s), t.Input(w)), message.Sum).Value()
	if h.B != nil {
		for i, b := range h.B.Value.Data {
			for j := range y.Row(i) {
				y.Row(i)[j] += b
			}
		}
	}
	return y
}

// heard is what unit i hears in one state.
func (h *Hopfield) heard(i int, s []tensor.Float, exact *wholes) tensor.Float {
	x := vec.Dot(h.W.Value.Row(i), s)
	if h.B != nil {
		x += h.B.Value.Data[i]
	}
	if near := exact.doubted(i); x <= near && x >= -near {
		x = exact.field(i, x, s, 1)
	}
	return x
}

// Energy returns E of each state.
func (h *Hopfield) Energy(states *tensor.Dense) ([]float64, error) {
	f, err := h.Fields(states)
	if err != nil {
		return nil, err
	}
	out := make([]float64, states.Rows())
	for k := range out {
		for i, s := range states.Row(k) {
			out[k] -= float64(s) * (float64(f.Row(k)[i]) + h.bias(i)) / 2
		}
	}
	return out, nil
}

// check returns an error unless states are of +1 and −1. It panics unless h has weights, and a state
// has as many units.
func (h *Hopfield) check(op string, states *tensor.Dense) error {
	op = "memory.Hopfield." + op
	h.weighed(op)
	return bipolar(op, "state", states, h.Units)
}

// weighed panics unless there are weights.
func (h *Hopfield) weighed(op string) {
	switch {
	case h == nil:
		panic(&grad.TapeError{Op: op, Why: "there is no network; make it with NewHopfield or Store"})
	case h.W == nil || h.W.Value == nil || h.W.Value.Rows() != h.Units || h.W.Value.RowLen() != h.Units:
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("there are no weights of %d×%d units; make it with NewHopfield or Store", h.Units, h.Units)})
	}
}

// bipolar returns an error unless x is rows of +1 and −1. It panics unless they have a length; 0 is any.
func bipolar(op, what string, x *tensor.Dense, units int) error {
	if err := rows(op, what, x, units); err != nil {
		return err
	}
	for i, v := range x.Data {
		if v != 1 && v != -1 {
			return fmt.Errorf("%s: unit %d of %s %d is %v; it must be +1 or −1", op, i%x.RowLen(), what, i/x.RowLen(), v)
		}
	}
	return nil
}

// rows returns an error if x is empty. It panics unless it has rows of a length; 0 is any.
func rows(op, what string, x *tensor.Dense, units int) error {
	switch {
	case x == nil:
		panic(&grad.TapeError{Op: op, Why: "the array of each " + what + " is nil"})
	case units > 0 && x.RowLen() != units:
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("a %s has %d units, and the network has %d", what, x.RowLen(), units)})
	case x.Rows() == 0 || x.RowLen() == 0:
		return fmt.Errorf("%s: there is no %s", op, what)
	}
	return nil
}

// sign is +1 from nought on, and −1 below.
func sign(x tensor.Float) tensor.Float {
	if x >= 0 {
		return 1
	}
	return -1
}

// transposed returns the columns of x as rows. Its memory is new, which costs more than
// the writing, so threads share it.
func transposed(x *tensor.Dense) *tensor.Dense {
	const block = 64 // rows of x at a time, which stay in the first cache
	rows, columns := x.Rows(), x.RowLen()
	y := tensor.New(columns, rows)
	par.For(columns, 1+1<<15/(rows+1), func(lo, hi int) {
		for first := 0; first < rows; first += block {
			last := min(first+block, rows)
			for j := lo; j < hi; j++ {
				to := y.Row(j)
				for i := first; i < last; i++ {
					to[i] = x.Data[i*columns+j]
				}
			}
		}
	})
	return y
}

// Wrong returns which share of the units of each state differ from the pattern in its place:
// what a recall has got wrong.
func Wrong(states, patterns *tensor.Dense) []float64 {
	if states.Rows() != patterns.Rows() || states.RowLen() != patterns.RowLen() {
		panic(tensor.Mismatch("memory.Wrong", states, patterns))
	}
	out := make([]float64, states.Rows())
	for k := range out {
		for i, v := range states.Row(k) {
			out[k] += math.Abs(float64(v-patterns.Row(k)[i])) / 2
		}
		out[k] /= float64(states.RowLen())
	}
	return out
}
