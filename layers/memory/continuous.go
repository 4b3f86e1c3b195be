package memory

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Continuous is a [Hopfield] network whose units lie between −1 and +1 and change all the time:
//
//	τ·dh/dt = −h + W·s + B     s = tanh(β·h)
//	E(s) = −½·Σ_ij s_i·W_ij·s_j − Σ_i B_i·s_i + 1/β·Σ_i (s_i·artanh s_i + ½·log(1 − s_i²))
//
// of Hopfield, "Neurons with Graded Response Have Collective Computational Properties like Those of Two-State
// Neurons", 1984. The energy never rises, since dE/dt = −τ·Σ_i β·(1 − s_i²)·(dh_i/dt)². Without B the origin
// is at rest, and holds as long as β times the largest eigenvalue of W is below one. As β grows the
// units come to their bounds, and the network becomes the one of two states.
type Continuous struct {
	Net  *Hopfield
	Beta float64 // 0: 1

	RungeKutta bool    // steps of the fourth order, of four messages each; else Euler's, of one
	Step       float64 // of time, as a part of τ; 0: 0.1
	Most       int     // steps at most; 0: 1,000
	Trace      bool    // keep the energies on the way
}

// Flowed is what cues came to, each in its place.
type Flowed struct {
	States *tensor.Dense
	Rests  []bool // no unit is driven by more than 1e-5 any more
	Steps  int

	Energy [][]float64 // with Continuous.Trace: that of the cue and then after each step
}

// atRest is how fast a field may still change, in τ, in a state that rests.
const atRest = 1e-5

// Recall lets each cue, a row of numbers between −1 and +1 without these, flow until all rest.
func (c *Continuous) Recall(cues *tensor.Dense) (*Flowed, error) {
	if err := c.check("Recall", cues); err != nil {
		return nil, err
	}
	beta, step, most := c.beta(), grad.Preset(c.Step, 0.1), c.Most
	if most == 0 {
		most = 1000
	}
	n := cues.Rows()
	out := &Flowed{Rests: make([]bool, n)}
	if c.Trace {
		out.Energy = make([][]float64, n)
	}
	h := transposed(cues) // a column a state
	for i, s := range h.Data {
		h.Data[i] = tensor.Float(math.Atanh(float64(s)) / beta)
	}
	drive := tensor.New(h.Rows(), n)
	for {
		s := c.squashed(h)
		heard := c.Net.sums(nil, s)
		if c.Trace {
			for k, e := range c.energies(s, heard) {
				out.Energy[k] = append(out.Energy[k], e)
			}
		}
		if c.driven(drive, h, heard, out.Rests) || out.Steps == most {
			out.States = transposed(s)
			return out, nil
		}
		c.move(h, drive, tensor.Float(step))
		out.Steps++
	}
}

// driven sets drive to dh/dt in τ, says which states rest, and whether all do.
func (c *Continuous) driven(drive, h, heard *tensor.Dense, rests []bool) (all bool) {
	for k := range rests {
		rests[k] = true
	}
	for i, x := range heard.Data {
		d := x - h.Data[i]
		drive.Data[i] = d
		if !(math.Abs(float64(d)) <= atRest) {
			rests[i%len(rests)] = false
		}
	}
	for _, r := range rests {
		if !r {
			return false
		}
	}
	return true
}

// move takes h a step further along drive, which is that of h.
func (c *Continuous) move(h, drive *tensor.Dense, step tensor.Float) {
	if !c.RungeKutta {
		for i, d := range drive.Data {
			h.Data[i] += step * d
		}
		return
	}
	last, sum := drive, drive.Clone()
	at := tensor.New(h.Shape()...)
	for _, part := range []struct{ ahead, weight tensor.Float }{{0.5, 2}, {0.5, 2}, {1, 1}} {
		for i, d := range last.Data {
			at.Data[i] = h.Data[i] + part.ahead*step*d
		}
		last = c.Net.sums(nil, c.squashed(at))
		for i := range last.Data {
			last.Data[i] -= at.Data[i]
			sum.Data[i] += part.weight * last.Data[i]
		}
	}
	for i, d := range sum.Data {
		h.Data[i] += step / 6 * d
	}
}

// squashed is tanh(β·h).
func (c *Continuous) squashed(h *tensor.Dense) *tensor.Dense {
	s := tensor.New(h.Shape()...)
	for i, x := range h.Data {
		s.Data[i] = tensor.Float(math.Tanh(c.beta() * float64(x)))
	}
	return s
}

// Energy returns E of each state, a row of numbers from −1 to +1.
func (c *Continuous) Energy(states *tensor.Dense) ([]float64, error) {
	if err := c.check("Energy", states); err != nil {
		return nil, err
	}
	s := transposed(states)
	return c.energies(s, c.Net.sums(nil, s)), nil
}

// energies are those of columns that hear so much.
func (c *Continuous) energies(s, heard *tensor.Dense) []float64 {
	out := make([]float64, s.RowLen())
	for i := range s.Rows() {
		b := c.Net.bias(i)
		for k, v := range s.Row(i) {
			x := float64(v)
			out[k] += -x*(float64(heard.Row(i)[k])+b)/2 + entropy(x)/c.beta()
		}
	}
	return out
}

// entropy is s·artanh s + ½·log(1 − s²), which is log 2 at both bounds.
func entropy(s float64) float64 {
	a, b := (1+s)/2, (1-s)/2
	return xlogx(a) + xlogx(b) + math.Ln2
}

func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}

func (c *Continuous) beta() float64 { return grad.Preset(c.Beta, 1) }

// check returns an error unless states are of numbers between −1 and +1. It panics unless there are weights,
// and a unit for each column.
func (c *Continuous) check(op string, states *tensor.Dense) error {
	op = "memory.Continuous." + op
	c.Net.weighed(op)
	if err := rows(op, "state", states, c.Net.Units); err != nil {
		return err
	}
	if !(c.beta() > 0) || !(grad.Preset(c.Step, 0.1) > 0) || c.Most < 0 {
		return fmt.Errorf("%s: Beta is %v, Step %v and Most %d; none may be negative, and β not nought", op, c.Beta, c.Step, c.Most)
	}
	for i, v := range states.Data {
		if !(v > -1 && v < 1) && !(op == "memory.Continuous.Energy" && (v == 1 || v == -1)) {
			return fmt.Errorf("%s: unit %d of state %d is %v; it must lie between −1 and +1", op, i%states.RowLen(), i/states.RowLen(), v)
		}
	}
	return nil
}
