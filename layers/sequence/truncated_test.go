package sequence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

const (
	long = 11 // nodes of the whole chain
	cut  = 6  // of the first segment
)

func truncated() (l *sequence.LSTM, x *tensor.Dense, zero message.State) {
	l = &sequence.LSTM{In: width, Hidden: 4, Peephole: sequence.DiagonalPeephole}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	return l, random(4, long, width).Value, message.State{grad.Const(tensor.New(1, 4)), grad.Const(tensor.New(1, 4))}
}

// Two segments with a carried state give the bits of the whole chain.
func TestTruncatedForward(t *testing.T) {
	l, x, zero := truncated()
	tp := grad.NewTape(1)
	whole := l.ForwardFrom(tp, graph.Chains(long), grad.Const(x), zero)[0].Keep()
	var data []tensor.Float
	carry := zero
	for _, seg := range [][2]int{{0, cut}, {cut, long}} {
		tp.Reset()
		g := graph.Chains(seg[1] - seg[0])
		s := l.ForwardFrom(tp, g, grad.Const(x).RowRange(seg[0], seg[1]), carry)
		data = append(data, s[0].Value().Data...)
		carry = s.Rows(g.Sinks()).Keep()
	}
	if !slices.Equal(data, whole.Value().Data) {
		t.Error("the segments differ from the whole chain")
	}
}

// The gradients of the segments add up to that of the whole chain with the carry
// detached, and not to that of the whole chain.
func TestTruncatedGradient(t *testing.T) {
	l, x, zero := truncated()
	run := func(tp *grad.Tape, carryOn func(message.State) message.State, parts ...int) (losses []*grad.Var) {
		carry := zero
		for _, k := range parts {
			g := graph.Chains([2]int{cut, long - cut}[k])
			s := l.ForwardFrom(tp, g, grad.Const(x).RowRange(k*cut, cut+k*(long-cut)), carry)
			losses = append(losses, weigh(s[:1]))
			carry = carryOn(s.Rows(g.Sinks()))
		}
		return losses
	}
	gradient := func(carryOn func(message.State) message.State) []*tensor.Dense {
		tp := grad.NewTape(1)
		ls := run(tp, carryOn, 0, 1)
		return clones(tp.Backward(ls[0].Add(ls[1])))
	}
	through := gradient(func(s message.State) message.State { return s })
	detached := gradient(func(s message.State) message.State {
		return message.State{s[0].Detach(), s[1].Detach()}
	})

	first, second := grad.NewTape(1), grad.NewTape(1)
	var kept message.State
	loss := run(first, func(s message.State) message.State { kept = s.Keep(); return kept }, 0)[0]
	g := graph.Chains(long - cut)
	s := l.ForwardFrom(second, g, grad.Const(x).RowRange(cut, long), kept)
	sum := clones(grad.SumGrads(first.Backward(loss), second.Backward(weigh(s[:1]))))

	differs := false
	for i := range sum {
		golden.Compare(t, "gradient", sum[i], detached[i], 0)
		for j, v := range sum[i].Data {
			d := v - through[i].Data[j]
			differs = differs || d > 1e-4 || d < -1e-4
		}
	}
	if !differs {
		t.Error("cutting the chain changed no gradient")
	}
}

func clones(gs grad.Grads) (out []*tensor.Dense) {
	for _, g := range gs {
		out = append(out, g.Value.Clone())
	}
	return out
}
