package memory

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Boltzmann is a [Hopfield] network at a temperature: a state has a probability, and units are drawn
// in place of being set.
//
//	P(s) ∝ exp(−β·E(s))     P(s_i = +1 | the others) = σ(2β·(Σ_j W_ij·s_j + B_i))
//
// of Ackley, Hinton and Sejnowski, "A Learning Algorithm for Boltzmann Machines", 1985. As β grows the
// drawing becomes Hopfield's rule. Weights are learnt by two phases, until pairs of units agree as often in
// states that the machine draws as in the data:
//
//	∂ log P/∂W_ij = β·(⟨s_i·s_j⟩ of the data − ⟨s_i·s_j⟩ of the machine)
//
// Chains that begin at the data and take a few sweeps give contrastive divergence; chains that go on from one
// step of the training to the next are persistent. The graph is that of Net. [RBM] is the restricted machine.
type Boltzmann struct {
	Net  *Hopfield // a Param B, if there is one, is learnt, too
	Beta float64   `json:",omitempty"` // 0: 1
}

// Gibbs says how states are drawn.
type Gibbs struct {
	Sweeps int     // each draws every unit once, one after the other; 0: 1
	From   float64 // annealing: β of the first sweep, as a part of the machine's, to which it grows by a factor each; 0: 1
	Clamp  int     // the first so many units stay as they are
	Seed   uint64  // each state draws from this and its number
}

// betas are those of the sweeps, of which the last is beta.
func (g Gibbs) betas(beta float64) []float64 {
	out := make([]float64, max(1, g.Sweeps))
	for k := range out {
		out[k] = beta
		if len(out) > 1 {
			out[k] *= math.Pow(grad.Preset(g.From, 1), 1-float64(k)/float64(len(out)-1))
		}
	}
	return out
}

// Sample returns where chains that begin at the states, rows of +1 and −1, are after some sweeps. All units at
// once would draw from another distribution, so it is one at a time: the message of one destination. What
// all units hear at the beginning is one message on the complete graph, and a unit that turns over changes it.
func (m *Boltzmann) Sample(states *tensor.Dense, g Gibbs) (*tensor.Dense, error) {
	beta := grad.Preset(m.Beta, 1)
	if err := m.check("Sample", states); err != nil {
		return nil, err
	}
	switch {
	case !(beta >= 0) || !(g.From >= 0):
		return nil, fmt.Errorf("memory.Boltzmann.Sample: β is %v and begins at %v of it; neither may be negative", beta, g.From)
	case g.Clamp < 0 || g.Clamp > m.Net.Units:
		panic(&tensor.ShapeError{Op: "memory.Boltzmann.Sample", Shapes: [][]int{{g.Clamp}, {m.Net.Units}}, Why: "Clamp says how many units stay"})
	}
	out, heard := states.Clone(), transposed(m.Net.sums(nil, transposed(states)))
	par.For(out.Rows(), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			s, h, rng := out.Row(k), heard.Row(k), rand.New(rand.NewPCG(g.Seed, uint64(k)))
			for _, b := range g.betas(beta) {
				for i := g.Clamp; i < len(s); i++ {
					to := tensor.Float(-1)
					if rng.Float64() < logistic(2*b*float64(h[i])) {
						to = 1
					}
					if to != s[i] {
						s[i] = to
						vec.Axpy(h, 2*to, m.Net.W.Value.Row(i)) // W is symmetric
					}
				}
			}
		}
	})
	return out, nil
}

// check returns an error unless states are rows of +1 and −1. It panics unless there are weights, and a unit
// for each column.
func (m *Boltzmann) check(op string, states *tensor.Dense) error {
	op = "memory.Boltzmann." + op
	m.Net.weighed(op)
	return bipolar(op, "state", states, m.Net.Units)
}

// logistic is 1/(1 + exp(−x)).
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Loss returns β·(mean energy of data − mean energy of model), rows of +1 and −1 each: its gradient is
// minus that of log P(data), with model drawn from the machine in the place of all its states. The diagonal
// of W has no gradient.
func (m *Boltzmann) Loss(t *grad.Tape, data, model *tensor.Dense) (*grad.Var, error) {
	for _, states := range []*tensor.Dense{data, model} {
		if err := m.check("Loss", states); err != nil {
			return nil, err
		}
	}
	n := m.Net.Units
	s, share := phases(data, model, grad.Preset(m.Beta, 1))
	off := tensor.New(n, n)
	off.Fill(1)
	for i := range n {
		off.Row(i)[i] = 0
	}
	w := t.Use(m.Net.W).Mul(t.Input(off)).Reshape(n*n, 1)
	heard := message.UpdateAll(graph.Complete(n), message.UMulE(t.Input(s), w), message.Sum)
	loss := heard.Mul(t.Input(s)).Mul(t.Input(share)).Sum().Scale(-0.5)
	if m.Net.B != nil {
		loss = loss.Sub(t.Use(m.Net.B).Reshape(n, 1).Mul(t.Input(s)).Mul(t.Input(share)).Sum())
	}
	return loss, nil
}

// phases returns states of both phases as columns, and of each by how much it counts: c in all of the
// data's, −c in all of the model's.
func phases(data, model *tensor.Dense, c float64) (s, share *tensor.Dense) {
	a, b, units := data.Rows(), model.Rows(), data.RowLen()
	rows := tensor.New(a+b, units)
	copy(rows.Data, data.Data)
	copy(rows.Data[a*units:], model.Data)
	share = tensor.New(1, a+b)
	for k := range share.Data {
		share.Data[k] = tensor.Float(c / float64(a))
		if k >= a {
			share.Data[k] = tensor.Float(-c / float64(b))
		}
	}
	return transposed(rows), share
}
