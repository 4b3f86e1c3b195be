package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// remembered is a pullback that knows a number.
type remembered struct {
	x *grad.Var
	c tensor.Float
}

func (r *remembered) Pull(dy *tensor.Dense) {
	dx := r.x.Grad()
	for i, g := range dy.Data {
		dx.Data[i] += r.c * g
	}
}

// An operation's notes are zero at first, are its own until Reset, and are used
// again then.
func TestNotes(t *testing.T) {
	p := param(1, 2, 3)
	tp := grad.NewTape(1)
	seen := map[*remembered]bool{}
	for step := range 3 {
		tp.Reset()
		x := tp.Use(p)
		sum := x.Sum()
		for k := range 40 {
			op := grad.Begin("test", x)
			n := tape.Notes[remembered](op)
			if n.x != nil || n.c != 0 {
				t.Fatalf("step %d: notes of operation %d hold %v", step, k, *n)
			}
			if step > 0 && !seen[n] {
				t.Errorf("step %d: notes of operation %d are new", step, k)
			}
			seen[n] = true
			*n = remembered{x, tensor.Float(k)}
			sum = sum.Add(tape.RecordBy(op, op.New(2, 3), n).Sum())
		}
		got := tp.Backward(sum).Param(p).Data
		if want := tensor.Float(1 + 39*40/2); slices.Max(got) != want || slices.Min(got) != want {
			t.Errorf("step %d: gradient %v, want %v", step, got, want)
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d notes, want 40", len(seen))
	}
	op := grad.Begin("test", grad.Const(p.Value))
	if a, b := tape.Notes[remembered](op), tape.Notes[remembered](op); a == b {
		t.Error("two operations on no tape share their notes")
	}
}

// A Var of a loop that is used after Reset is noticed.
func TestStaleVarOfLoop(t *testing.T) {
	p := param(1, 2, 3)
	tp := grad.NewTape(1)
	l := tape.BeginLoop(2, tp.Use(p))
	y := tp.Use(p).Tanh()
	l.End()
	tp.Reset()
	misuse(t, "last Reset", func() { y.Tanh() })
}

// Permute is Rows by a permutation, forwards and backwards, whether its gradient
// is the first one or not.
func TestPermute(t *testing.T) {
	order, rank := []int32{2, 0, 3, 1}, []int32{1, 3, 0, 2}
	p := param(1, 4, 3)
	gradtest.Check(t, []*grad.Param{p}, func(tp *grad.Tape) *grad.Var {
		x := tp.Use(p)
		return weigh(x.Permute(order, rank)).Add(weigh(x.Permute(rank, order).Square()))
	})
	x := grad.Const(p.Value)
	if a, b := x.Permute(order, rank), x.Rows(order); !slices.Equal(a.Value().Data, b.Value().Data) {
		t.Errorf("got %v, want %v", a.Value().Data, b.Value().Data)
	}
	for name, lists := range map[string][2][]int32{
		"short":       {order[:3], rank[:3]},
		"no way back": {order, order},
		"outside":     {{2, 0, 4, 1}, rank},
	} {
		if err := tensor.Try(func() { x.Permute(lists[0], lists[1]) }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
