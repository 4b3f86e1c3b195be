package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func newChain(deviation float64) *attention.ChainAttention {
	l := &attention.ChainAttention{}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for i, p := range []*grad.Param{l.CRF.Trans, l.CRF.Begin, l.CRF.End} {
		p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 5)), 0, deviation)
	}
	return l
}

// chosen are the marginals of one chain by enumeration of all 2ⁿ selections.
func chosen(l *attention.ChainAttention, theta *tensor.Dense) []float64 {
	n := theta.Rows()
	p, z := make([]float64, n), 0.0
	for code := range 1 << n {
		s, before := 0.0, 0
		for i := range n {
			now := code >> i & 1
			s += float64(theta.Row(i)[now])
			if i == 0 {
				s += of(l.CRF.Begin, now)
			} else {
				s += float64(l.CRF.Trans.Value.Row(before)[now])
			}
			before = now
		}
		w := math.Exp(s + of(l.CRF.End, before))
		z += w
		for i := range n {
			p[i] += w * float64(code>>i&1)
		}
	}
	return each(p, func(v float64) float64 { return v / z })
}

// Marginals and what they choose, by enumeration: of six nodes, one and none.
func TestChainAttentionByEnumeration(t *testing.T) {
	l := newChain(1)
	theta, v := param(3, 7, 2).Value, param(4, 7, 3).Value
	out := l.Forward(grad.NewEval(), graph.Chains(6, 0, 1), grad.Const(theta), grad.Const(v))
	p := message.ApplyEdges(graph.Membership(graph.Chains(6, 0, 1)), out.Attention).Value()
	want := append(chosen(l, grad.Const(theta).RowRange(0, 6).Value()), chosen(l, grad.Const(theta).RowRange(6, 7).Value())...)
	sum := make([]float64, 9)
	for i, w := range want {
		compare.Number(t, "p", p.Data[i], w, rounded)
		for j := range 3 {
			sum[i/6*6+j] += w * float64(v.Row(i)[j])
		}
	}
	for i, w := range sum {
		compare.Number(t, "sum", out.Y.Value().Data[i], w, rounded)
	}
}

// A number added to all θ of a node changes nothing, and without scores of transitions each
// node is chosen by itself.
func TestChainAttentionOfIndependentNodes(t *testing.T) {
	l, g := newChain(0), graph.Chains(4)
	theta := param(3, 4, 2).Value
	p := func() *tensor.Dense {
		return message.ApplyEdges(graph.Membership(g), l.Forward(grad.NewEval(), g, grad.Const(theta), grad.Const(theta)).Attention).Value()
	}
	before := p()
	for i, v := range before.Data {
		compare.Number(t, "σ", v, sigmoid(float64(theta.Row(i)[1]-theta.Row(i)[0])), rounded)
	}
	for i := range theta.Data {
		theta.Data[i] += 3
	}
	for i, v := range p().Data {
		compare.Number(t, "shifted", v, float64(before.Data[i]), rounded)
	}
}

func TestChainAttentionGradients(t *testing.T) {
	l, theta, v := newChain(1), param(3, 6, 2), param(4, 6, 2)
	model := struct {
		Theta, V *grad.Param
		L        *attention.ChainAttention
	}{theta, v, l}
	gradtest.Check(t, &model, func(tape *grad.Tape) *grad.Var {
		return l.Forward(tape, graph.Chains(4, 0, 1, 1), tape.Use(theta), tape.Use(v)).Y.Square().Sum()
	})
}

// A thousand nodes with θ of fifty stay finite, and so do their gradients.
func TestLongChainAttention(t *testing.T) {
	l, tape := newChain(1), grad.NewTape(1)
	theta := param(3, 1000, 2).Value
	for i, v := range theta.Data {
		theta.Data[i] = tensor.Float(math.Copysign(50, float64(v)))
	}
	x := tape.Watch(theta)
	y := l.Forward(tape, graph.Chains(1000), x, grad.Const(param(4, 1000, 1).Value)).Y
	d := tape.Backward(y.Sum()).Of(x)
	for _, v := range []float64{float64(y.Value().Data[0]), norm(floats(d.Data))} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%v", v)
		}
	}
}
