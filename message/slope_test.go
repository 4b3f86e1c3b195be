package message_test

import (
	"fmt"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rectified are attentions by a LeakyReLU of slope 0 that have a rule or a walk
// of their own, and by the ReLU that it is, which goes in tiles step by step.
var rectified = map[string]func(t *grad.Tape, m *broad, rectify func(message.Msg) message.Msg) message.Msg{
	"gat": func(t *grad.Tape, m *broad, rectify func(message.Msg) message.Msg) message.Msg {
		el, er := t.Use(m.U).SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)
		return message.U(t.Use(m.X)).Mul(rectify(message.UAddV(el, er)).Softmax())
	},
	"gat with edges and dropout": func(t *grad.Tape, m *broad, rectify func(message.Msg) message.Msg) message.Msg {
		el, er := t.Use(m.U).SumAxis(-1).InsertAxis(-1), t.Use(m.V).SumAxis(-1).InsertAxis(-1)
		score := message.UAddV(el, er).Add(message.E(t.Use(m.E)))
		return message.U(t.Use(m.X)).Mul(rectify(score).Softmax().Dropout(t, 0.3))
	},
	"gatv2": func(t *grad.Tape, m *broad, rectify func(message.Msg) message.Msg) message.Msg {
		u := t.Use(m.U)
		a := rectify(message.UAddV(u, t.Use(m.V))).Dot(message.W(t.Use(m.W))).Softmax()
		return message.U(u).Mul(a)
	},
}

// TestSlopeOfZero: in every path of attention, forward and backward, a slope of 0
// is a ReLU.
func TestSlopeOfZero(t *testing.T) {
	slope := func(m message.Msg) message.Msg { return m.LeakyReLU(0) }
	relu := func(m message.Msg) message.Msg { return m.ReLU() }
	for name, of := range rectified {
		for _, shape := range [][2]int{{8, 8}, {8, 3}, {16, 8}, {1, 7}, {3, 5}} { // exponentials of nodes, or not; GATv2's walk, or tiles
			for _, scale := range []tensor.Float{1, 9} { // logits within ±24 and beyond
				for at, g := range map[string]*graph.Graph{"odd": odd(), "hub": hub(700)} {
					m := newBroad(g, shape[0], shape[1])
					for _, p := range []*grad.Param{m.U, m.V} {
						for i := range p.Value.Data {
							p.Value.Data[i] *= scale
						}
					}
					truth := sum(g, of(grad.NewTape(3), m, relu))
					truth.made = headSums(m.U, m.V)
					tape := grad.NewTape(3)
					want := truth.results(operandsOf(tape.Backward(weigh(message.UpdateAll(g, of(tape, m, relu), message.Sum))))...)
					run := func(rectify func(message.Msg) message.Msg) []*tensor.Dense {
						tape := grad.NewTape(3)
						y := message.UpdateAll(g, of(tape, m, rectify), message.Sum)
						out := []*tensor.Dense{y.Value()}
						for _, d := range tape.Backward(weigh(y)) {
							out = append(out, d.Value)
						}
						return out
					}
					what := fmt.Sprintf("%s of %v, scaled by %v, on %s", name, shape, scale, at)
					reference.Near(t, what, run(slope), want)
					reference.Near(t, what+", by ReLU", run(relu), want)
				}
			}
		}
	}
}
