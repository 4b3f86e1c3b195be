package message_test

import (
	"fmt"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sumInto is h + x in a level's room, if there is one.
func sumInto(to, h, x *grad.Var) *grad.Var {
	op := grad.Begin("sumInto", h, x)
	if to == nil {
		to = op.Fresh(h.Shape()...)
	}
	copy(to.Value().Data, h.Value().Data)
	to.Value().Add(x.Value())
	return op.Record(to, func(dy *tensor.Dense) {
		for _, v := range []*grad.Var{h, x} {
			if g := v.Grad(); g != nil {
				g.Add(dy)
			}
		}
	})
}

// A step whose result lies in the level's room gives the states and gradients of one whose
// result is copied there, from states of a Param, of the tape and of no tape.
func TestLevelRoom(t *testing.T) {
	for name, g := range acyclic() {
		if g.NumNodes() == 0 {
			continue
		}
		for _, from := range []string{"param", "input", "constant"} {
			x, h0 := param(1, g.NumNodes(), 3), param(2, 1, 3)
			rooms := 0
			run := func(use bool) (values []*tensor.Dense) {
				tape := grad.NewTape(1)
				xv, init := tape.Use(x), grad.Const(h0.Value)
				switch from {
				case "param":
					init = tape.Use(h0)
				case "input":
					init = tape.Input(h0.Value)
				}
				s := message.Sweep(g, message.State{init, init}, func(l *message.Level, prev message.State) message.State {
					h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
					to := l.Room(0)
					if to != nil {
						rooms++
					}
					if !use {
						to = nil
					}
					return message.State{sumInto(to, h, l.Rows(xv).Mul(l.Rows(xv))), h.Tanh()}
				})
				grads := tape.Backward(weigh(s[0]).Add(weigh(s[1])))
				values = []*tensor.Dense{s[0].Value().Clone(), s[1].Value().Clone()}
				for _, d := range grads {
					values = append(values, d.Value.Clone())
				}
				return values
			}
			compare.Arrays(t, fmt.Sprint(name, " from ", from), run(true), run(false), compare.SameBits)
			if levels, err := g.Levels(); err != nil || rooms == 0 && (from != "constant" || levels.Len() > 1) {
				t.Errorf("%s from %s: no level has a room, %v", name, from, err)
			}
		}
	}
}
