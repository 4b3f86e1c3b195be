package trainings

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// fillFeatures takes the features as a dense array, zeros and all.
func (e *gatEpoch) fillFeatures() {
	same := e.step.X == e.whole.X
	e.whole.X = filled(e.whole.X)
	if same {
		e.step.X = e.whole.X
	} else {
		e.step.X = filled(e.step.X)
	}
}

// filled returns x as a dense array.
func filled(x *grad.Var) *grad.Var {
	if a := x.Sparse(); a != nil {
		return grad.Const(a.Dense())
	}
	return x
}

// drawMasks drops features by a random number an element, drawn one after the
// other from math/rand/v2, in place of the kernel that hashes eight at a time. Of
// sparse features the zeros still cost nothing. Attention keeps the kernel's.
func (e *gatEpoch) drawMasks() {
	m := &drawnMasks{rng: rand.New(rand.NewPCG(e.Seed, 0x3a5c))}
	e.drop = m.drop
}

// drawnMasks draws masks and keeps their memory.
type drawnMasks struct {
	rng    *rand.Rand
	sparse []tensor.Float           // of stored elements
	dense  map[[2]int]*tensor.Dense // by shape: in a step each layer has its own
}

// drop is what Tape.Dropout does.
func (m *drawnMasks) drop(t *grad.Tape, x *grad.Var, p float64) *grad.Var {
	if !t.Recording() || p == 0 {
		return x
	}
	if a := x.Sparse(); a != nil {
		if len(m.sparse) != a.NNZ() {
			m.sparse = make([]tensor.Float, a.NNZ())
		}
		m.draw(m.sparse, p)
		for i, v := range a.Values {
			m.sparse[i] *= v
		}
		return grad.Const(a.WithValues(m.sparse))
	}
	mask := m.of(x.Dim(0), x.Dim(1))
	m.draw(mask.Data, p)
	return x.Mul(t.Input(mask))
}

// of returns a mask of that shape.
func (m *drawnMasks) of(rows, cols int) *tensor.Dense {
	if m.dense == nil {
		m.dense = map[[2]int]*tensor.Dense{}
	}
	at := [2]int{rows, cols}
	if m.dense[at] == nil {
		m.dense[at] = tensor.New(rows, cols)
	}
	return m.dense[at]
}

// draw sets each element to 0 with probability p, else to what keeps the mean.
func (m *drawnMasks) draw(mask []tensor.Float, p float64) {
	keep := tensor.Float(1 / (1 - p))
	for i := range mask {
		mask[i] = keep
		if m.rng.Float64() < p {
			mask[i] = 0
		}
	}
}
