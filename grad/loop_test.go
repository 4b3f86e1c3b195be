package grad_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rounds runs body on n rows of x at a time, in a loop or outside of one, and
// returns the rows it makes.
func rounds(x *grad.Var, n int, loop bool, body func(x *grad.Var) *grad.Var) *grad.Var {
	var ys []*grad.Var
	var l tape.Loop
	if loop {
		l = tape.BeginLoop(x.Dim(0), x)
	}
	for lo := 0; lo < x.Dim(0); lo += n {
		ys = append(ys, body(x.RowRange(lo, min(lo+n, x.Dim(0)))).Mean())
	}
	l.End()
	total := ys[0]
	for _, y := range ys[1:] {
		total = total.Add(y)
	}
	return total
}

// bodies are what a round may do with a weight from outside.
func bodies(w, b *grad.Var) map[string]func(x *grad.Var) *grad.Var {
	return map[string]func(x *grad.Var) *grad.Var{
		"MatMul":     func(x *grad.Var) *grad.Var { return x.MatMul(w).Tanh() },
		"twice":      func(x *grad.Var) *grad.Var { return x.MatMul(w).MatMul(w) },
		"of a value": func(x *grad.Var) *grad.Var { return x.Square().MatMul(w).Mul(x) },
		"Linear":     func(x *grad.Var) *grad.Var { return x.Linear(w, b, grad.ReLU) },
		"three axes": func(x *grad.Var) *grad.Var { return x.Reshape(x.Dim(0), 1, -1).MatMul(w).Square() },
		"inside": func(x *grad.Var) *grad.Var { // a weight that the round makes is its own
			return x.MatMul(w.Scale(2)).Tanh()
		},
		"sum":      func(x *grad.Var) *grad.Var { return x.MatMul(w).Add(x.Scale(2)).Tanh() },
		"of owned": func(x *grad.Var) *grad.Var { return x.Scale(2).MatMul(w).Add(x).Square() },
	}
}

func TestLoopGradients(t *testing.T) {
	x, w, b := param(1, 7, 3), param(2, 3, 3), param(3, 3)
	for name := range bodies(nil, nil) {
		for _, n := range []int{1, 3, 7} {
			t.Run(name, func(t *testing.T) {
				gradtest.Check(t, []*grad.Param{x, w, b}, func(tp *grad.Tape) *grad.Var {
					body := bodies(tp.Use(w), tp.Use(b))[name]
					return rounds(tp.Use(x), n, true, body).Add(tp.Use(b).Sum().Scale(0))
				})
			})
		}
	}
}

// A loop gives the value it would have outside, to the bit, and is one operation
// however many rounds it has.
func TestLoopIsOneOperation(t *testing.T) {
	x, w, b := param(1, 12, 3), param(2, 3, 3), param(3, 3)
	for name := range bodies(nil, nil) {
		ops := map[int]int{}
		for _, n := range []int{1, 4, 12} {
			var values [2]tensor.Float
			for i, loop := range []bool{false, true} {
				tp := grad.NewTape(1)
				body := bodies(tp.Use(w), tp.Use(b))[name]
				y := rounds(tp.Use(x), n, loop, body)
				values[i] = y.Value().Data[0]
				if loop {
					ops[n] = tp.Stats().Ops - (12/n - 1) // less the sums of the rounds' means
				}
			}
			if values[0] != values[1] {
				t.Errorf("%s, %d rows a round: %v in a loop, %v outside", name, n, values[1], values[0])
			}
		}
		if ops[1] != ops[4] || ops[1] != ops[12] {
			t.Errorf("%s: operations by rows of a round: %v", name, ops)
		}
	}
}

// The gradient of a weight is one product over all rounds: its bits are those of
// the product of all rows, which 4096 rows cut into parts.
func TestLoopWeightIsOneProduct(t *testing.T) {
	x, w := param(1, 5000, 3), param(2, 3, 4)
	gradient := func(f func(x, w *grad.Var) *grad.Var) *tensor.Dense {
		tp := grad.NewTape(1)
		wv := tp.Use(w)
		return tp.Backward(f(tp.Use(x), wv)).Of(wv)
	}
	want := gradient(func(x, w *grad.Var) *grad.Var { return x.MatMul(w).Sum() })
	for _, square := range []bool{false, true} { // rows that lie together, and rows that are gathered
		got := gradient(func(x, w *grad.Var) *grad.Var {
			total := grad.Const(tensor.New(1))
			l := tape.BeginLoop(5000, x)
			for lo := 0; lo < 5000; lo += 500 {
				r := x.RowRange(lo, lo+500)
				if square {
					r = r.Scale(1)
				}
				total = total.Add(r.MatMul(w).Sum())
			}
			l.End()
			return total
		})
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("gathered %v: %v, want %v", square, got.Data, want.Data)
		}
	}
}

// A second Backward of one computation gives the same gradient.
func TestLoopBackwardTwice(t *testing.T) {
	x, w := param(1, 6, 3), param(2, 3, 3)
	tp := grad.NewTape(1)
	wv := tp.Use(w)
	loss := rounds(tp.Use(x), 2, true, func(x *grad.Var) *grad.Var { return x.Scale(3).MatMul(wv).Add(x.Scale(2)).Tanh().MatMul(wv) })
	first := tp.Backward(loss).Of(wv).Clone()
	if second := tp.Backward(loss).Of(wv); !slices.Equal(first.Data, second.Data) {
		t.Errorf("first %v, second %v", first.Data, second.Data)
	}
}

// Loops in checkpointed functions, and checkpointed functions in loops, change
// no bit of a value.
func TestLoopWithCheckpoint(t *testing.T) {
	x, w := param(1, 6, 3), param(2, 3, 3)
	body := func(w *grad.Var) func(x *grad.Var) *grad.Var {
		return func(x *grad.Var) *grad.Var { return x.MatMul(w).Tanh().MatMul(w) }
	}
	plain := func(tp *grad.Tape) *grad.Var { return rounds(tp.Use(x), 2, true, body(tp.Use(w))) }
	for name, f := range map[string]func(tp *grad.Tape) *grad.Var{
		"loop in checkpoint": func(tp *grad.Tape) *grad.Var {
			wv := tp.Use(w)
			return tp.Checkpoint(func(xs ...*grad.Var) *grad.Var { return rounds(xs[0], 2, true, body(wv)) }, tp.Use(x))
		},
		"checkpoint in loop": func(tp *grad.Tape) *grad.Var {
			wv := tp.Use(w)
			return rounds(tp.Use(x), 2, true, func(x *grad.Var) *grad.Var {
				return tp.Checkpoint(func(xs ...*grad.Var) *grad.Var { return body(wv)(xs[0]) }, x)
			})
		},
	} {
		a, b := grad.NewTape(1), grad.NewTape(1)
		if got, want := f(a).Value().Data[0], plain(b).Value().Data[0]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		gradtest.Check(t, []*grad.Param{x, w}, f)
	}
}

// A loop that a panic ended does not take in what follows.
func TestLoopEndsWithReset(t *testing.T) {
	w := param(2, 3, 3)
	tp := grad.NewTape(1)
	tape.BeginLoop(3, tp.Use(w))
	tp.Reset()
	tp.Backward(tp.Use(w).Square().Sum())
	if n := tp.Stats().Ops; n != 2 {
		t.Errorf("%d operations on the tape, want 2", n)
	}
}

func TestLoopNonFinite(t *testing.T) {
	tp := grad.NewTape(1)
	x := tp.Use(param(1, 2, 3))
	rounds(x, 1, true, func(x *grad.Var) *grad.Var { return x.Sub(x).Log() })
	if op, found := tp.FirstNonFinite(); !found || !strings.HasPrefix(op, "Log:") {
		t.Errorf("found %v: %q", found, op)
	}
}

// Measure knows what a loop takes.
func TestLoopMeasure(t *testing.T) {
	x, w := param(1, 64, 16), param(2, 16, 16)
	f := func(tp *grad.Tape) *grad.Var {
		wv := tp.Use(w)
		return rounds(tp.Use(x), 8, true, func(x *grad.Var) *grad.Var { return x.Scale(1).MatMul(wv).Tanh() })
	}
	tp := grad.NewTape(1)
	tp.Backward(f(tp))
	if got, want := grad.Measure(f), tp.Stats(); got != want {
		t.Errorf("predicted %+v, want %+v", got, want)
	}
}

// A Var that a sealed loop made is noticed outside of it: its header is used again, so later it
// would be another value. Inside, around and below it all is as it was.
func TestVarOfLoopOutside(t *testing.T) {
	tp := grad.NewTape(1)
	refused := func(x *grad.Var) (why string) {
		defer func() {
			if e, ok := recover().(*grad.TapeError); ok {
				why = e.Error()
			}
		}()
		x.Value()
		return ""
	}
	var kept, inner *grad.Var
	for range 2 {
		tp.Reset()
		x := tp.Watch(tensor.Of([]tensor.Float{1, 2}, 1, 2))
		outer := tape.BeginLoop(2, x)
		outer.Seal()
		frame := tape.NewFrame(grad.Begin("Test", x), 1, 2)
		y := x.Scale(3)
		within := tape.BeginLoop(2, y)
		within.Seal()
		inner = y.Scale(2) // what is around a loop may be read in it
		if why := refused(y); why != "" {
			t.Errorf("inside: %s", why)
		}
		within.End()
		if why := refused(inner); !strings.Contains(why, "Sweep's step") {
			t.Errorf("the inner loop's Var in the outer one: %q", why)
		}
		frame.Write(0, y)
		outer.End()
		loss := frame.Sorted(0, []int32{0}, []int32{0}).Sum()
		if gs := tp.Backward(loss); gs.Of(x).Data[0] != 3 {
			t.Errorf("the gradient is %v, want 3", gs.Of(x).Data)
		}
		if why := refused(y); !strings.Contains(why, "Sweep's step") {
			t.Errorf("outside: %q", why)
		}
		if kept != nil && refused(kept) == "" {
			t.Error("after a Reset the Var of the last step is another, and nobody says so")
		}
		kept = y
	}
}
