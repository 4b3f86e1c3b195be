package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func number(v float64) *grad.Var { return grad.Const(tensor.Of([]tensor.Float{tensor.Float(v)}, 1, 1)) }

// unit is a value of one, at a place.
func unit(i, width int) *tensor.Dense {
	x := tensor.New(1, width)
	x.Data[i] = 1
	return x
}

// The worked example of the paper: 0.8 is pushed, then 0.1 popped and 0.5 pushed, then 0.9
// popped and 0.9 pushed.
func TestStackExample(t *testing.T) {
	for _, c := range []struct {
		queue bool
		want  [][]float64
	}{
		{false, [][]float64{{0.8, 0, 0}, {0.5, 0.5, 0}, {0.1, 0, 0.9}}},
		{true, [][]float64{{0.8, 0, 0}, {0.7, 0.3, 0}, {0, 0.3, 0.7}}},
	} {
		m := &memory.StackMemory{Width: 3, Slots: 3, Queue: c.queue}
		s := m.Start(nil)
		var r *grad.Var
		for i, step := range [][2]float64{{0.8, 0}, {0.5, 0.1}, {0.9, 0.9}} {
			r, s = m.Step(nil, s, grad.Const(unit(i, 3)), number(step[0]), number(step[1]))
			want := c.want[i]
			compare.Near(t, fmt.Sprintf("queue %v: what step %d reads", c.queue, i), r.Value().Data, want, compare.Off(1e-6, 0))
		}
	}
}

// With strengths of nought and one a program does what it does with a real stack or queue.
func TestStackIsAStack(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		m := &memory.StackMemory{Width: 12, Slots: 12, Queue: seed%2 == 1}
		s := m.Start(nil)
		var real []int
		for step := range 12 {
			pop, push := rng.IntN(2), rng.IntN(2)
			if pop == 1 && len(real) > 0 {
				if m.Queue {
					real = real[1:]
				} else {
					real = real[:len(real)-1]
				}
			}
			if push == 1 {
				real = append(real, step)
			}
			var r *grad.Var
			r, s = m.Step(nil, s, grad.Const(unit(step, 12)), number(float64(push)), number(float64(pop)))
			want := make([]tensor.Float, 12)
			if len(real) > 0 {
				top := real[len(real)-1]
				if m.Queue {
					top = real[0]
				}
				want[top] = 1
			}
			if !slices.Equal(r.Value().Data, want) {
				t.Fatalf("seed %d, step %d, queue %v: it reads %v, and there are %v", seed, step, m.Queue, r.Value().Data, real)
			}
		}
	}
}

// The formulas of the comment as loops over all pairs, by many random strengths: also that none
// is negative and no more than one is read.
func TestStackIsItsFormula(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 6))
		m := &memory.StackMemory{Width: 10, Slots: 10, Queue: seed%2 == 1}
		state := m.Start(nil)
		var s []float64 // the oldest first
		for step := range 10 {
			push, pop := rng.Float64(), rng.Float64()
			before := func(i int) (sum float64) {
				for j, v := range s {
					if !m.Queue && j > i || m.Queue && j < i {
						sum += v
					}
				}
				return sum
			}
			var next []float64
			for i, v := range s {
				next = append(next, max(0, v-max(0, pop-before(i))))
			}
			s = append(next, push)
			var r *grad.Var
			r, state = m.Step(nil, state, grad.Const(unit(step, 10)), number(push), number(pop))
			sum := 0.0
			for i, v := range s {
				want := min(v, max(0, 1-before(i)))
				got := float64(r.Value().Data[i])
				if sum += got; math.Abs(got-want) > 1e-5 || float64(state[1].Value().Data[step-i]) < 0 {
					t.Fatalf("seed %d, step %d: value %d is read with %v, want %v", seed, step, i, got, want)
				}
			}
			if sum > 1+1e-6 {
				t.Errorf("seed %d, step %d: %v is read in all", seed, step, sum)
			}
		}
	}
}

// An empty memory is popped of nothing; what falls off the end is lost.
func TestStackEnds(t *testing.T) {
	m := &memory.StackMemory{Width: 2, Slots: 2}
	r, s := m.Step(nil, m.Start(nil), grad.Const(unit(0, 2)), number(0), number(1))
	if !slices.Equal(r.Value().Data, []tensor.Float{0, 0}) || !slices.Equal(s[1].Value().Data, []tensor.Float{0, 0}) {
		t.Errorf("an empty stack that is popped reads %v and keeps %v", r.Value().Data, s[1].Value().Data)
	}
	for i := range 3 {
		_, s = m.Step(nil, s, grad.Const(unit(min(i, 1), 2)), number(1), number(0))
	}
	if _, s = m.Step(nil, s, grad.Const(unit(0, 2)), number(0), number(1)); !slices.Equal(s[1].Value().Data, []tensor.Float{0, 0}) {
		t.Errorf("three pushes into two slots leave %v after a pop and an empty push", s[1].Value().Data)
	}
}

// Which way the gradient goes where two are equal: a pop that takes all, or a budget of nought,
// passes none on; a read of the whole of a strength is the strength's.
func TestStackTies(t *testing.T) {
	tape := grad.NewTape(1)
	m := &memory.StackMemory{Width: 1, Slots: 2}
	model := struct{ D1, U2, D2 *grad.Param }{grad.NewParam(1, 1), grad.NewParam(1, 1), grad.NewParam(1, 1)}
	model.D1.Value.Data[0], model.U2.Value.Data[0], model.D2.Value.Data[0] = 0.5, 0.5, 1
	_, s := m.Step(tape, m.Start(tape), number(1), tape.Use(model.D1), number(0))
	r, s := m.Step(tape, s, number(1), tape.Use(model.D2), tape.Use(model.U2))
	grads := tape.Backward(r.Sum().Add(s[1].Columns(1, 2).Sum()))
	for name, want := range map[*grad.Param]tensor.Float{model.D1: 0, model.U2: 0, model.D2: 1} {
		if d := grads.Param(name); d == nil || d.Data[0] != want {
			t.Errorf("a gradient at a tie is %v, want %v", d, want)
		}
	}
}

func TestStackGradient(t *testing.T) {
	for _, queue := range []bool{false, true} {
		m := &memory.StackMemory{Width: 2, Slots: 3, Queue: queue}
		model := &struct{ V, D, U *grad.Param }{grad.NewParam(8, 2), grad.NewParam(8, 1), grad.NewParam(8, 1)}
		for i, p := range []*grad.Param{model.V, model.D, model.U} {
			copy(p.Value.Data, normal(uint64(30+i), 1, len(p.Value.Data)).Data)
		}
		gradtest.Check(t, model, func(tape *grad.Tape) *grad.Var {
			v, d, u := tape.Use(model.V), tape.Use(model.D).Sigmoid(), tape.Use(model.U).Sigmoid()
			loss, s := tape.Input(tensor.New(1, 1)).Sum(), m.Start(tape)
			for step := range 4 {
				var r *grad.Var
				lo, hi := 2*step, 2*step+2
				r, s = m.Step(tape, s, v.RowRange(lo, hi), d.RowRange(lo, hi), u.RowRange(lo, hi))
				loss = loss.Add(r.Sin().Sum())
			}
			return loss.Add(s[0].Cos().Sum()).Add(s[1].Square().Sum())
		})
	}
}

// A machine with a stack: its gradient, and a batch of any lengths beside each sentence alone
// and step by step, to the bit.
func TestStackMachine(t *testing.T) {
	n := &memory.StackMachine{In: 2, Out: 2, Hidden: 3, Stack: memory.StackMemory{Width: 2, Slots: 4}}
	n.Init(rand.New(rand.NewPCG(3, 3)))
	lengths, x := []int{2, 0, 3, 1}, normal(31, 6, 2)
	gradtest.Check(t, n, func(tape *grad.Tape) *grad.Var {
		y, s := n.ForwardFrom(tape, graph.Chains(lengths...), tape.Input(x), nil)
		return y.Tanh().Sum().Add(s[1].Square().Sum())
	})
	all := n.Forward(nil, graph.Chains(lengths...), grad.Const(x)).Value()
	at := 0
	for i, length := range lengths {
		own := n.Forward(nil, graph.Chains(length), grad.Const(x.RowRange(at, at+length))).Value()
		if !slices.Equal(own.Data, all.RowRange(at, at+length).Data) {
			t.Errorf("sentence %d alone is another", i)
		}
		s := n.Start(nil)
		for k := range length {
			var y *grad.Var
			if y, s = n.Step(nil, grad.Const(x.RowRange(at+k, at+k+1)), s); !slices.Equal(y.Value().Data, all.Row(at+k)) {
				t.Errorf("step %d of sentence %d is another", k, i)
			}
		}
		at += length
	}
}

func TestStackRefuses(t *testing.T) {
	m := &memory.StackMemory{Width: 2, Slots: 3}
	v := grad.Const(unit(0, 2))
	for want, f := range map[string]func(){
		"want Slots and Width of 1 or more": func() { (&memory.StackMemory{Width: 2}).Start(nil) },
		"the state has 1 Vars, want 2":      func() { m.Step(nil, m.Start(nil)[:1], v, number(1), number(0)) },
		"want 1 rows of 2":                  func() { m.Step(nil, m.Start(nil), number(1), number(1), number(0)) },
		"want 1 rows of 1":                  func() { m.Step(nil, m.Start(nil), v, v, number(0)) },
		"was Init called?": func() {
			(&memory.StackMachine{In: 1, Out: 1, Hidden: 2, Stack: *m}).Step(nil, number(1), message.State{})
		},
	} {
		if err := refusal(f); !strings.Contains(err, want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
}
