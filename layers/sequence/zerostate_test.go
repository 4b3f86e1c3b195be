package sequence_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What U makes of a state of zeros is not computed: where chains end after a node, no element
// of U is in the result or in a gradient.
func TestZeroStateIsNotMultiplied(t *testing.T) {
	g := graph.Chains(1, 1, 1)
	for name, c := range cells(4, 5) {
		var u *grad.Param
		switch c := c.(type) {
		case *sequence.GRU:
			u = c.U
		case *sequence.LSTM:
			u = c.U
		case *sequence.RNN:
			u = c.U
		}
		if u == nil || name == "gru old" || name == "admits old" || name == "minimal old" || name == "rnn learnt" {
			continue // trees sum their children, and a state reset before U is no longer the zeros that came
		}
		u.Value.Fill(tensor.Float(math.Inf(1)))
		tp := grad.NewTape(1)
		s := c.ForwardFrom(tp, g, tp.Watch(random(1, 3, 4).Value), nil)
		grads := tp.Backward(weigh(s[:1]))
		finite := func(what string, x []tensor.Float) {
			for _, v := range x {
				if v-v != 0 {
					t.Errorf("%s: %s has a %v", name, what, v)
					return
				}
			}
		}
		finite("the result", s[0].Value().Data)
		for _, d := range grads {
			finite("a gradient", d.Value.Data)
		}
	}
}

// A state of zeros has the bits of one whose gradient is wanted, which is multiplied: also
// where a weight's gradient is so long a sum that it is cut into parts.
func TestZeroStateKeepsBits(t *testing.T) {
	short, long := graph.Chains(3, 1, 2), graph.Chains(slices.Repeat([]int{3}, 700)...)
	all := cells(3, 2)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		for _, g := range []*graph.Graph{short, long} {
			x := random(2, g.NumNodes(), 3).Value
			run := func(watched bool) (out [][]tensor.Float) {
				tp := grad.NewTape(1)
				in := tp.Watch(x)
				var init message.State
				if watched {
					for range c.Step(nil, grad.Const(tensor.New(1, 3)), nil) {
						init = append(init, tp.Watch(tensor.New(1, 2)))
					}
				}
				s := c.ForwardFrom(tp, g, in, init)
				for _, y := range s {
					out = append(out, slices.Clone(y.Value().Data))
				}
				tp.Backward(weigh(s))
				for p := range params(c) {
					out = append(out, slices.Clone(tp.Use(p).Grad().Data))
				}
				return append(out, slices.Clone(in.Grad().Data))
			}
			if !slices.EqualFunc(run(false), run(true), slices.Equal) {
				t.Errorf("%s: %d nodes from a state of zeros have other bits", name, g.NumNodes())
			}
		}
	}
}
