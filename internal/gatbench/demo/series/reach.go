package series

import (
	"math"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// reach is what becomes of a gradient on its way back from the last state, by distance: the first
// element is that of one step.
type reach struct {
	Gamma  []float64 // ‖∂s_k+1/∂s_k‖ of the step at that distance
	Bound  []float64 // the product of the γ so far
	Length []float64 // of the gradient there, to that at the end
}

// mean is the geometric mean of the γ.
func (r reach) mean() float64 {
	return math.Pow(r.Bound[len(r.Bound)-1], 1/float64(len(r.Bound)))
}

// reachOf follows the gradient of ‖h‖² of the last state of one sequence back through its states. Of
// a simple RNN γ is ‖diag(h′)·Uᵀ‖; s of an LSTM is h beside c.
func reachOf(c sequence.Cell, x text.Series) reach {
	one := x.Rows([]int32{0})
	g := graph.Chains(one.Lengths()...)
	states := c.ForwardFrom(grad.NewEval(), g, grad.Const(one.X), nil)
	n := g.NumNodes()
	var v []float64
	for i, s := range states { // the gradient at the end
		for _, a := range s.Value().Row(n - 1) {
			if i > 0 {
				a = 0
			}
			v = append(v, 2*float64(a))
		}
	}
	end, bound := length(v), 1.0
	var r reach
	for k := n - 2; k >= 0; k-- {
		j := stepSlopes(c, one.X.RowRange(k+1, k+2), states.Rows([]int32{int32(k)}))
		v = times(v, j)
		gamma := norm(j)
		bound *= gamma
		r.Gamma, r.Bound, r.Length = append(r.Gamma, gamma), append(r.Bound, bound), append(r.Length, length(v)/end)
	}
	return r
}

// stepSlopes is the matrix of ∂s_i/∂s_j over one step of c, from a state on: a row for each i.
func stepSlopes(c sequence.Cell, x *tensor.Dense, from message.State) [][]float64 {
	width := 0
	for _, s := range from {
		width += s.Dim(1)
	}
	t, zeros := grad.NewTape(1), make([]int32, width) // a copy of the row for each i
	before := make(message.State, len(from))
	for k, s := range from {
		before[k] = t.Watch(s.Rows(zeros).Value().Clone())
	}
	after := c.Step(t, grad.Const(x).Rows(zeros), before)
	one := tensor.New(width, width)
	for i := range width {
		one.Row(i)[i] = 1
	}
	grads := t.Backward(grad.Concat(after...).Mul(grad.Const(one)).Sum())
	out := make([][]float64, width)
	for i := range out {
		for _, s := range before {
			for _, d := range grads.Of(s).Row(i) {
				out[i] = append(out[i], float64(d))
			}
		}
	}
	return out
}

// times is the row v·a.
func times(v []float64, a [][]float64) []float64 {
	out := make([]float64, len(a[0]))
	for i, row := range a {
		for j, w := range row {
			out[j] += v[i] * w
		}
	}
	return out
}

// norm is the largest singular value of a matrix: how much longer its product makes a vector at
// most. A vector is multiplied by aᵀa until it has turned to where that is.
func norm(a [][]float64) float64 {
	v := make([]float64, len(a[0]))
	for j := range v {
		v[j] = 1 + float64(j%7)/7 // in no direction of its own
	}
	before := 0.0
	for range 300 {
		u := make([]float64, len(a))
		by := length(v)
		for i, row := range a {
			for j, w := range row {
				u[i] += w * v[j] / by
			}
		}
		now := length(u)
		if now == 0 || math.Abs(now-before) <= 1e-9*now {
			return now
		}
		before, v = now, times(u, a)
	}
	return before
}

func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
