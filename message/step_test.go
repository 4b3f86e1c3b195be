package message_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stepper is a cell whose step is a function of rows and states alone.
type stepper struct{ W, U, B, X, H0 *grad.Param }

func newStepper(g *graph.Graph, in, width int) *stepper {
	return &stepper{W: param(1, in, 2*width), U: param(2, width, 2*width), B: param(3, 2*width), X: param(4, g.NumNodes(), in), H0: param(5, 1, width)}
}

// step is h = f·h + (1−f)·tanh(g), with [f, g] = x·W + b + h·U. projected is x·W + b.
func (c *stepper) step(t *grad.Tape, projected, h *grad.Var) *grad.Var {
	n := h.Dim(-1)
	z := h.MatMul(t.Use(c.U)).Add(projected)
	f := z.Columns(0, n).Sigmoid()
	return f.Mul(h).Add(f.OneMinus().Mul(z.Columns(n, 2*n).Tanh()))
}

// project is what step wants of rows of x.
func (c *stepper) project(t *grad.Tape, x *grad.Var) *grad.Var {
	return x.MatMul(t.Use(c.W)).AddBias(t.Use(c.B), grad.Identity)
}

// TestStepInOwnSweep calls the step of a cell in a sweep of its own, in one that makes
// the input of each step, as a decoder does, in one beside another cell, and step by step
// without a sweep: the states have the same bits, and the Params the same gradients.
func TestStepInOwnSweep(t *testing.T) {
	g := graph.Chains(4, 1, 7, 3)
	levels, err := g.Levels()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{3, 5}, {24, 32}} {
		c := newStepper(g, size[0], size[1])
		arrived := func(l *message.Level, h *grad.Var) *grad.Var {
			return message.UpdateAll(l.In, message.U(h), message.Sum)
		}
		ways := map[string]func(tp *grad.Tape) *grad.Var{
			"projected before": func(tp *grad.Tape) *grad.Var {
				xs := c.project(tp, tp.Use(c.X).Rows(levels.Order))
				return message.Sweep(g, message.State{tp.Use(c.H0)}, func(l *message.Level, prev message.State) message.State {
					return message.State{c.step(tp, l.Take(xs), arrived(l, prev[0]))}
				})[0]
			},
			"projected in the step": func(tp *grad.Tape) *grad.Var {
				x := tp.Use(c.X)
				return message.Sweep(g, message.State{tp.Use(c.H0)}, func(l *message.Level, prev message.State) message.State {
					return message.State{c.step(tp, c.project(tp, l.Rows(x)).TakeRows(0, len(l.Nodes())), arrived(l, prev[0]))}
				})[0]
			},
			"beside another": func(tp *grad.Tape) *grad.Var {
				x := tp.Use(c.X)
				return message.Sweep(g, message.State{tp.Use(c.H0), tp.Use(c.H0)}, func(l *message.Level, prev message.State) message.State {
					x, n := c.project(tp, l.Rows(x)), len(l.Nodes())
					return message.State{c.step(tp, x.TakeRows(0, n), arrived(l, prev[0])), c.step(tp, x.TakeRows(0, n), arrived(l, prev[1])).Neg()}
				})[0]
			},
			"a sweep in the step": func(tp *grad.Tape) *grad.Var {
				x := tp.Use(c.X)
				return message.Sweep(g, message.State{tp.Use(c.H0)}, func(l *message.Level, prev message.State) message.State {
					xs := l.Rows(x)
					one := graph.Chains(slices.Repeat([]int{1}, len(l.Nodes()))...)
					return message.Sweep(one, message.State{arrived(l, prev[0])}, func(_ *message.Level, prev message.State) message.State {
						return message.State{c.step(tp, c.project(tp, xs).TakeRows(0, len(l.Nodes())), prev[0])}
					})
				})[0]
			},
			"one sweep a step": func(tp *grad.Tape) *grad.Var {
				x := tp.Use(c.X)
				var all []*grad.Var
				for v := range g.NumNodes() {
					h := tp.Use(c.H0)
					if g.InDegree(v) > 0 {
						h = all[v-1]
					}
					xs := x.RowRange(v, v+1)
					all = append(all, message.Sweep(graph.Chains(1), message.State{h}, func(_ *message.Level, prev message.State) message.State {
						return message.State{c.step(tp, c.project(tp, xs).TakeRows(0, 1), prev[0])}
					})[0])
				}
				return grad.ConcatAxis(0, all...)
			},
		}
		run := func(way func(tp *grad.Tape) *grad.Var) (h *tensor.Dense, grads []*tensor.Dense) {
			tp := grad.NewTape(1)
			y := way(tp)
			got := tp.Backward(weigh(y))
			for _, p := range []*grad.Param{c.W, c.U, c.B, c.X, c.H0} {
				grads = append(grads, got.Param(p))
			}
			return y.Value(), grads
		}
		h, grads := run(ways["projected before"])
		for name, way := range ways {
			got, gs := run(way)
			what := fmt.Sprint(name, ", ", size)
			compare.Arrays(t, what, []*tensor.Dense{got}, []*tensor.Dense{h}, compare.SameBits)
			compare.Arrays(t, what, gs, grads, rounded)
		}
	}
}
