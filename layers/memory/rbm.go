package memory

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// RBM is a restricted Boltzmann machine: visible and hidden units, 0 or 1, of which only the one kind hears
// the other.
//
//	E(v, h) = −A·v − B·h − h·W·v          P(h_j = 1 | v) = σ(B_j + Σ_i W_ji·v_i)
//	F(v) = −A·v − Σ_j softplus(B_j + Σ_i W_ji·v_i)     P(v) = exp(−F(v))/Z
//
// of Smolensky, 1986, and Hinton, "Training Products of Experts by Minimizing Contrastive Divergence", 2002.
// It is the complete bipartite graph from visible to hidden units, with weights on its edges, and its
// reverse. Units of a side do not hear each other, so all of them are drawn at once. Visible states
// are rows of 0 and 1, or of probabilities.
type RBM struct {
	Visible, Hidden int

	W *grad.Param `json:"-"` // Hidden×Visible, as the edges of the graph stand
	A *grad.Param `json:"-"` // Visible
	B *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: W normal with a deviation of 0.01, A and B zero.
func (m *RBM) Init(rng *rand.Rand) {
	if m.Visible < 1 || m.Hidden < 1 {
		panic(&tensor.ShapeError{Op: "memory.RBM", Shapes: [][]int{{m.Visible, m.Hidden}}, Why: "want Visible and Hidden of 1 or more"})
	}
	m.W, m.A, m.B = grad.NewParam(m.Hidden, m.Visible), grad.NewParam(m.Visible), grad.NewParam(m.Hidden)
	m.W.Value.Normal(rng, 0, 0.01)
}

// up is what hidden units hear from rows of visible ones.
func (m *RBM) up(t *grad.Tape, v *grad.Var) *grad.Var {
	m.check()
	compose.WantRows("memory.RBM", v, m.Visible, "Visible")
	there := graph.CompleteBipartite(m.Visible, m.Hidden)
	w := t.Use(m.W).Reshape(m.Hidden*m.Visible, 1)
	return message.UpdateAll(there, message.UMulE(v.Transpose(), w), message.Sum).Transpose().Add(t.Use(m.B))
}

// down is what visible units hear from rows of hidden ones.
func (m *RBM) down(t *grad.Tape, h *grad.Var) *grad.Var {
	m.check()
	compose.WantRows("memory.RBM", h, m.Hidden, "Hidden")
	back := graph.CompleteBipartite(m.Hidden, m.Visible)
	w := t.Use(m.W).Transpose().Reshape(m.Hidden*m.Visible, 1)
	return message.UpdateAll(back, message.UMulE(h.Transpose(), w), message.Sum).Transpose().Add(t.Use(m.A))
}

// Forward returns how likely each hidden unit is to be 1 for each row of v: N×Hidden.
func (m *RBM) Forward(t *grad.Tape, v *grad.Var) *grad.Var { return m.up(t, v).Sigmoid() }

// Backward returns how likely each visible unit is to be 1 for each row of h: N×Visible.
func (m *RBM) Backward(t *grad.Tape, h *grad.Var) *grad.Var { return m.down(t, h).Sigmoid() }

// FreeEnergy returns F of each row of v: N×1.
func (m *RBM) FreeEnergy(t *grad.Tape, v *grad.Var) *grad.Var {
	hidden := m.up(t, v).Softplus().SumAxis(-1)
	return v.MatMul(t.Use(m.A).Reshape(m.Visible, 1)).Add(hidden.Reshape(v.Dim(0), 1)).Scale(-1)
}

// Loss returns the mean F of data less the mean F of model: its gradient is minus that of log P(data), with
// model drawn from the machine in the place of all its states. With chains that began at data it is contrastive
// divergence, with those of the last step persistent.
func (m *RBM) Loss(t *grad.Tape, data, model *tensor.Dense) *grad.Var {
	return m.FreeEnergy(t, t.Input(data)).Mean().Sub(m.FreeEnergy(t, t.Input(model)).Mean())
}

// Sample returns where chains that begin at the rows of v are after some sweeps, each of which draws all hidden
// units and then the visible ones, at β = 1 in the end.
func (m *RBM) Sample(v *tensor.Dense, g Gibbs) *tensor.Dense {
	if g.Clamp < 0 || g.Clamp > m.Visible {
		panic(&tensor.ShapeError{Op: "memory.RBM.Sample", Shapes: [][]int{{g.Clamp}, {m.Visible}}, Why: "Clamp says how many visible units stay"})
	}
	v = v.Clone()
	rngs := make([]*rand.Rand, v.Rows())
	for k := range rngs {
		rngs[k] = rand.New(rand.NewPCG(g.Seed, uint64(k)))
	}
	h := tensor.New(v.Rows(), m.Hidden)
	for _, beta := range g.betas(1) {
		draw(rngs, h, m.up(nil, grad.Const(v)).Value(), beta, 0)
		draw(rngs, v, m.down(nil, grad.Const(h)).Value(), beta, g.Clamp)
	}
	return v
}

// draw sets the units of each row, but the first so many, to 1 with the probability of what they hear.
func draw(rngs []*rand.Rand, to, heard *tensor.Dense, beta float64, clamp int) {
	par.For(to.Rows(), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			row := to.Row(k)
			for i, x := range heard.Row(k)[clamp:] {
				row[clamp+i] = 0
				if rngs[k].Float64() < logistic(beta*float64(x)) {
					row[clamp+i] = 1
				}
			}
		}
	})
}

// mostEnumerated is how many units of a side are few enough for all their states.
const mostEnumerated = 20

// LogZ returns log Z exactly, by all states of the smaller side, which has at most 20 units.
func (m *RBM) LogZ() (float64, error) {
	m.check()
	few, many, w, own, other := m.Hidden, m.Visible, m.W.Value, m.B.Value, m.A.Value
	if m.Visible < m.Hidden {
		few, many, w, own, other = m.Visible, m.Hidden, transposed(m.W.Value), m.A.Value, m.B.Value
	}
	if few > mostEnumerated {
		return 0, fmt.Errorf("memory.RBM.LogZ: the smaller side has %d units; all states of at most %d can be counted", few, mostEnumerated)
	}
	const block = 1 << 8
	sums := make([]float64, (1<<few+block-1)/block) // of each block, so that threads make no difference
	par.For(len(sums), 1, func(lo, hi int) {
		heard := make([]float64, many)
		for b := lo; b < hi; b++ {
			sums[b] = math.Inf(-1)
			for s := b * block; s < min((b+1)*block, 1<<few); s++ {
				e := 0.0
				for i, v := range other.Data {
					heard[i] = float64(v)
				}
				for j := range few {
					if s>>j&1 == 1 {
						e += float64(own.Data[j])
						for i, v := range w.Row(j) {
							heard[i] += float64(v)
						}
					}
				}
				for _, x := range heard {
					e += max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
				}
				sums[b] = logAdd(sums[b], e)
			}
		}
	})
	z := math.Inf(-1)
	for _, s := range sums {
		z = logAdd(z, s)
	}
	return z, nil
}

// logAdd is log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// check panics unless there are Params.
func (m *RBM) check() {
	if m.A == nil || m.B == nil {
		panic(&grad.TapeError{Op: "memory.RBM", Why: "it has no weights; was Init called?"})
	}
	compose.WantInit("memory.RBM", m.W, m.Visible)
}
