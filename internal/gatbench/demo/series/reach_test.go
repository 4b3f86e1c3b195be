package series

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// seriesOf is a sequence of normal numbers.
func seriesOf(n, width int) text.Series {
	x := tensor.New(n, width)
	x.Normal(rand.New(rand.NewPCG(1, 2)), 0, 1)
	return text.Series{X: x, Offsets: []int{0, n}}
}

// The slopes of a step of a simple RNN are diag(h′)·Uᵀ, with 1 added where the state is added to;
// of two units the largest singular value is known.
func TestStepSlopes(t *testing.T) {
	for _, residual := range []bool{false, true} {
		l := &sequence.RNN{In: 3, Hidden: 2, Residual: residual}
		l.Init(rand.New(rand.NewPCG(3, 1)))
		x := seriesOf(2, 3).X
		a := l.Forward(grad.NewEval(), graph.Chains(2), grad.Const(x)).Value()
		j := stepSlopes(l, x.RowRange(1, 2), message.State{grad.Const(a.RowRange(0, 1).Clone())})
		sum, det := 0.0, 1.0
		for i := range 2 {
			f := float64(a.Row(1)[i])
			if residual {
				f -= float64(a.Row(0)[i])
			}
			for k := range 2 {
				want := (1 - f*f) * float64(l.U.Value.Row(k)[i])
				if residual && i == k {
					want++
				}
				if math.Abs(j[i][k]-want) > 1e-5 {
					t.Errorf("residual %v: ∂a_%d by ∂a_%d is %v, want %v", residual, i, k, j[i][k], want)
				}
				sum += want * want
			}
		}
		det = j[0][0]*j[1][1] - j[0][1]*j[1][0]
		want := math.Sqrt((sum + math.Sqrt(sum*sum-4*det*det)) / 2)
		if got := norm(j); math.Abs(got-want) > 1e-5 {
			t.Errorf("residual %v: γ is %v, want %v", residual, got, want)
		}
	}
}

// The gradient by an earlier state is that of the tape, and at most the product of the γ.
func TestReach(t *testing.T) {
	x := seriesOf(9, 3)
	for name, c := range map[string]sequence.Cell{
		"RNN": &sequence.RNN{In: 3, Hidden: 5}, "LSTM": &sequence.LSTM{In: 3, Hidden: 5, ForgetBias: 1}, "GRU": &sequence.GRU{In: 3, Hidden: 5},
		"full peephole": &sequence.LSTM{In: 3, Hidden: 5, Peephole: sequence.FullPeephole, PeepOld: true},
	} {
		c.Init(rand.New(rand.NewPCG(1, 1)))
		r := reachOf(c, x)
		if len(r.Gamma) != 8 || len(r.Bound) != 8 || len(r.Length) != 8 {
			t.Fatalf("%s: %d steps back, want 8", name, len(r.Gamma))
		}
		for i := range r.Bound {
			if r.Length[i] > r.Bound[i]*(1+1e-5) {
				t.Errorf("%s: %d steps back the gradient is %v as long, the product of the γ is %v", name, i+1, r.Length[i], r.Bound[i])
			}
		}
		g := graph.Chains(9)
		tape := grad.NewTape(1)
		first := c.ForwardFrom(grad.NewEval(), graph.Chains(1), grad.Const(x.X.RowRange(0, 1)), nil)
		for i := range first {
			first[i] = tape.Watch(first[i].Value().Clone())
		}
		last := c.ForwardFrom(tape, graph.Chains(8), grad.Const(x.X.RowRange(1, 9)), first)[0].Rows([]int32{7})
		grads := tape.Backward(last.Square().Sum())
		var all []float64
		for _, s := range first {
			for _, d := range grads.Of(s).Data {
				all = append(all, float64(d))
			}
		}
		var end []float64
		for _, v := range c.ForwardFrom(grad.NewEval(), g, grad.Const(x.X), nil)[0].Value().Row(8) {
			end = append(end, 2*float64(v))
		}
		if got, want := r.Length[7], length(all)/length(end); math.Abs(got-want) > 1e-4*want {
			t.Errorf("%s: at the first state the gradient is %v as long as at the last, by the tape %v", name, got, want)
		}
	}
}

// A residual state that gets as much as it can in every step, ±1, is as large as there were steps,
// and saturated; one that gets nothing stays nought.
func TestSaturation(t *testing.T) {
	l := &sequence.RNN{In: 1, Hidden: 2, Residual: true}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.U.Value.Fill(0)
	g := graph.Chains(7, 7)
	for _, c := range []struct{ w, size, saturated float64 }{{100, 7, 1}, {0, 0, 0}} {
		l.W.Value.Fill(tensor.Float(c.w))
		x := tensor.New(14, 1)
		x.Fill(1)
		size, saturated := saturation(g, l.Forward(grad.NewEval(), g, grad.Const(x)).Value())
		if math.Abs(size-c.size) > 1e-4 || saturated != c.saturated {
			t.Errorf("weights of %v: the size is %v, want %v; %v are saturated, want %v", c.w, size, c.size, saturated, c.saturated)
		}
	}
}
