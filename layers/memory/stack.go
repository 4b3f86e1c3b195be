package memory

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// StackMemory is a stack, or a queue, whose pushes and pops have strengths between nought and
// one. In a step first u is popped, then v pushed with the strength d, then one unit read:
//
//	s_i ← max(0, s_i − max(0, u − Σ_{j before i} s_j))     then v with s = d is the newest
//	r = Σ_i min(s_i, max(0, 1 − Σ_{j before i} s_j))·v_i
//
// of Grefenstette and others, "Learning to Transduce with Unbounded Memory", 2015. Before i
// comes what is newer on a stack, and what is older in a queue. With strengths of nought and
// one it is an ordinary stack, which reverses what it is told, or queue, which repeats it.
//
// A pop takes what there is: of an empty memory it takes nothing, and a read of one is zero.
// Where max(0, ·) is at its corner it passes no gradient back, as ReLU; where a read takes the
// whole of s_i and that is all it may, the gradient is s_i's.
//
// The memory keeps the last Slots values, the newest first. One that falls off the end is lost,
// whatever is left of it: an exact memory has as many slots as steps.
type StackMemory struct {
	Width int // of a value
	Slots int
	Queue bool `json:",omitempty"` // the oldest is read and popped first
}

// Start returns an empty memory, one row for all: values, rows×(Slots·Width), and strengths,
// rows×Slots.
func (m *StackMemory) Start(t *grad.Tape) message.State {
	m.check()
	return message.State{t.Input(tensor.New(1, m.Slots*m.Width)), t.Input(tensor.New(1, m.Slots))}
}

// Step pops, pushes and reads: value is rows×Width, push and pop rows×1, and the state before
// the step has so many rows or one for all. The result r is rows×Width.
func (m *StackMemory) Step(t *grad.Tape, s message.State, value, push, pop *grad.Var) (r *grad.Var, next message.State) {
	m.check()
	if len(s) != 2 {
		panic(&grad.TapeError{Op: "memory.StackMemory", Why: fmt.Sprintf("the state has %d Vars, want 2; begin with Start", len(s))})
	}
	n := value.Dim(0)
	values, strengths := s[0], s[1]
	if values.Dim(0) == 1 && n != 1 {
		values, strengths = values.Expand(n, values.Dim(1)), strengths.Expand(n, strengths.Dim(1))
	}
	for _, x := range []struct {
		v     *grad.Var
		width int
	}{{values, m.Slots * m.Width}, {strengths, m.Slots}, {value, m.Width}, {push, 1}, {pop, 1}} {
		if x.v.Dim(0) != n || x.v.Value().RowLen() != x.width {
			compose.BadShape("memory.StackMemory", x.v, fmt.Sprintf("want %d rows of %d", n, x.width))
		}
	}
	return m.step(values, strengths, value, push, pop)
}

// check panics unless there is room for a value.
func (m *StackMemory) check() {
	if m.Width <= 0 || m.Slots <= 0 {
		panic(&tensor.ShapeError{Op: "memory.StackMemory", Shapes: [][]int{{m.Slots, m.Width}}, Why: "want Slots and Width of 1 or more"})
	}
}

// step is Step as one operation of three results.
func (m *StackMemory) step(values, strengths, value, push, pop *grad.Var) (r *grad.Var, next message.State) {
	op := grad.Begin("memory.StackMemory", values, strengths, value, push, pop)
	n := value.Dim(0)
	next = message.State{op.Fresh(n, m.Slots*m.Width), op.Fresh(n, m.Slots)}
	r = op.Fresh(n, m.Width)
	k := tape.Note(op, stackStep{StackMemory: *m, op: op, rows: n, of: [...]*grad.Var{values, strengths, value, push, pop, next[0], next[1], r}})
	k.run()
	tape.RecordAllBy(op, []*grad.Var{next[0], next[1], r}, k)
	return r, next
}

// The operands and results of a step of a stack.
const (
	stackValues = iota
	stackStrengths
	stackValue
	stackPush
	stackPop
	stackNextValues
	stackNextStrengths
	stackRead
	numStack
)

// stackStep is one step of a stack, forwards or backwards.
type stackStep struct {
	StackMemory
	op    grad.Op
	rows  int
	of    [numStack]*grad.Var
	back  bool
	grads [numStack]*tensor.Dense
	rest  []tensor.Float // two rows of scratch for each chunk
}

func (k *stackStep) chunkRows() int { return max(1, 8192/(k.Slots*k.Width)) }
func (k *stackStep) chunks() int    { return (k.rows + k.chunkRows() - 1) / k.chunkRows() }

// Pull runs backwards.
func (k *stackStep) Pull(*tensor.Dense) {
	for i, x := range k.of {
		k.grads[i] = x.Grad()
	}
	k.back = true
	k.op.Scratch(2*k.chunks()*k.Slots, func(buf []tensor.Float) {
		k.rest = buf
		k.run()
	})
}

// run does all rows on several threads, and none under Measure.
func (k *stackStep) run() {
	if !tape.Measuring(k.op) {
		par.Run(k.chunks(), k)
	}
}

// Chunk does some rows.
func (k *stackStep) Chunk(i int) {
	for r := i * k.chunkRows(); r < min((i+1)*k.chunkRows(), k.rows); r++ {
		if k.back {
			k.pull(r, k.rest[2*i*k.Slots:][:k.Slots], k.rest[(2*i+1)*k.Slots:][:k.Slots])
		} else {
			k.forward(r)
		}
	}
}

// row is row r of an operand or result.
func (k *stackStep) row(i, r int) []tensor.Float { return k.of[i].Value().Row(r) }

// order calls f with n slots, those that are popped and read first in front.
func (k *stackStep) order(n int, f func(i int)) {
	for i := range n {
		if k.Queue {
			i = n - 1 - i
		}
		f(i)
	}
}

func (k *stackStep) forward(r int) {
	old, s, next, read := k.row(stackStrengths, r), k.row(stackNextStrengths, r), k.row(stackNextValues, r), k.row(stackRead, r)
	budget := k.row(stackPop, r)[0]
	k.order(k.Slots, func(i int) {
		if i+1 < k.Slots { // the last slot's value falls off, but is popped like the others
			s[i+1] = max(0, old[i]-max(0, budget))
		}
		budget -= old[i]
	})
	s[0] = k.row(stackPush, r)[0]
	copy(next, k.row(stackValue, r))
	copy(next[k.Width:], k.row(stackValues, r))
	clear(read)
	budget = 1
	k.order(k.Slots, func(i int) {
		if w := min(s[i], max(0, budget)); w != 0 {
			for j, v := range next[i*k.Width : (i+1)*k.Width] {
				read[j] += w * v
			}
		}
		budget -= s[i]
	})
}

// gradient is that of row r of an operand or result, or nil.
func (k *stackStep) gradient(i, r int) []tensor.Float {
	if k.grads[i] == nil {
		return nil
	}
	return k.grads[i].Row(r)
}

// pull takes the gradients of row r back: from what was read and the values to the values, and
// from the weights of the read through the new strengths, ds, to the old ones, the push and the
// pop. left is what is left of a budget when its turn comes to each slot.
func (k *stackStep) pull(r int, ds, left []tensor.Float) {
	s := k.row(stackNextStrengths, r)
	copyOrClear(ds, k.gradient(stackNextStrengths, r))
	if d := k.gradient(stackNextValues, r); d != nil {
		for i := range k.Slots {
			k.addToValue(r, i, 1, d[i*k.Width:(i+1)*k.Width])
		}
	}
	if dread := k.gradient(stackRead, r); dread != nil {
		budget := tensor.Float(1)
		k.order(k.Slots, func(i int) {
			left[i] = budget
			budget -= s[i]
		})
		after := tensor.Float(0) // the gradient of the budgets of those that follow
		for n := range k.Slots {
			i := k.Slots - 1 - n
			if k.Queue {
				i = n
			}
			k.addToValue(r, i, min(s[i], max(0, left[i])), dread)
			dw := vec.Dot(dread, k.row(stackNextValues, r)[i*k.Width:(i+1)*k.Width])
			ds[i] -= after
			switch {
			case left[i] <= 0:
			case s[i] <= left[i]:
				ds[i] += dw
			default:
				after += dw
			}
		}
	}
	if d := k.gradient(stackPush, r); d != nil {
		d[0] += ds[0]
	}
	k.pullPop(r, ds, left)
}

// addToValue adds c·d to the gradient of what stands in a slot after the step: the value that
// was pushed, or an older one.
func (k *stackStep) addToValue(r, slot int, c tensor.Float, d []tensor.Float) {
	if slot == 0 {
		if to := k.gradient(stackValue, r); to != nil {
			vec.Axpy(to, c, d)
		}
	} else if to := k.gradient(stackValues, r); to != nil {
		vec.Axpy(to[(slot-1)*k.Width:slot*k.Width], c, d)
	}
}

// pullPop takes the gradient ds of the new strengths to the old ones and to the pop.
func (k *stackStep) pullPop(r int, ds, left []tensor.Float) {
	old, pop := k.row(stackStrengths, r), k.row(stackPop, r)[0]
	dold, dpop := k.gradient(stackStrengths, r), k.gradient(stackPop, r)
	budget := pop
	k.order(k.Slots, func(i int) {
		left[i] = budget
		budget -= old[i]
	})
	after := tensor.Float(0)
	for n := range k.Slots {
		i := k.Slots - 1 - n
		if k.Queue {
			i = n
		}
		if dold != nil {
			dold[i] -= after
		}
		if i+1 == k.Slots || old[i]-max(0, left[i]) <= 0 {
			continue
		}
		if dold != nil {
			dold[i] += ds[i+1]
		}
		if left[i] > 0 {
			after -= ds[i+1]
		}
	}
	if dpop != nil {
		dpop[0] += after
	}
}
