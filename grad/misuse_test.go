package grad_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// elsewhere runs f on another goroutine and returns what it panics with.
func elsewhere(f func()) (met any) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

// What another goroutine does in the middle of an operation or of Backward is a
// TapeError that says so, there or when the operation ends.
func TestSecondGoroutine(t *testing.T) {
	const want = "two goroutines"
	tp := grad.NewTape(1)
	x, p := tp.Watch(ones(2)), param(1, 2)
	pull := func(f func()) *grad.Var {
		op := grad.Begin("test.Pull", x)
		return op.Record(op.New(1), func(*tensor.Dense) { f() })
	}
	for what, f := range map[string]func(){
		"Backward":  func() { tp.Backward(x.Sum()) },
		"Reset":     func() { tp.Reset() },
		"ResetEval": func() { tp.ResetEval() },
		"Use":       func() { tp.Use(p) },
		"operation": func() { x.Exp() },
	} {
		var met any
		tp.Reset()
		x = tp.Watch(ones(2))
		tp.Backward(pull(func() { met = elsewhere(f) }))
		misuse(t, want, func() { panic(met) })
		if tp.Use(p); met == nil {
			t.Errorf("%s during Backward: nothing", what)
		}
	}
	tp.Reset()
	x = tp.Watch(ones(2))
	op := grad.Begin("test.Op", x)
	y := op.New(2)
	if met := elsewhere(tp.Reset); met != nil { // nothing moves, as after an operation that has panicked
		t.Errorf("Reset while an operation rests: %v", met)
	}
	misuse(t, want, func() { tape.RecordBy(op, y, nil) })
	misuse(t, "another goroutine's", func() { x.Exp() })
}

// A Reset in the middle of operations of another goroutine is noticed while these
// go on, and a tape whose operation has panicked is as good as new.
func TestResetAmongOperations(t *testing.T) {
	tp := grad.NewTape(1)
	for range 3 {
		if err := tensor.Try(func() { tp.Watch(ones(2)).Add(tp.Watch(ones(3))) }); err == nil {
			t.Fatal("two shapes were added")
		}
		tp.Reset()
		x := tp.Watch(ones(2))
		if g := tp.Backward(x.Sum()).Of(x); g.Data[1] != 1 {
			t.Errorf("gradient %v", g)
		}
	}
}

// together runs f on two goroutines until one of them panics, or both are through
// all rounds, and returns what they panicked with.
func together(rounds int, f func(goroutine int)) (met []any) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var over atomic.Bool
	for i := range 2 {
		wg.Go(func() {
			defer func() {
				over.Store(true)
				if r := recover(); r != nil {
					mu.Lock()
					met = append(met, r)
					mu.Unlock()
				}
			}()
			for n := 0; n < rounds && !over.Load(); n++ {
				f(i)
			}
		})
	}
	wg.Wait()
	return met
}

// Two goroutines that share a tape without any order are told so. Of several
// attempts one has to do, since a few meetings in a hundred have other ends.
func TestTwoGoroutines(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector finds this by itself")
	}
	p, x := param(1, 4, 4), grad.Const(ones(3, 4))
	step := func(tp *grad.Tape) *grad.Var {
		y := x
		for range 8 {
			y = y.MatMul(tp.Use(p)).Tanh()
		}
		return y.Sum()
	}
	for what, f := range map[string]func(tp *grad.Tape, goroutine int){
		"a step each": func(tp *grad.Tape, _ int) { tp.Reset(); tp.Backward(step(tp)) },
		"evaluations": func(tp *grad.Tape, _ int) { tp.ResetEval(); step(tp) },
		"one trains, one scores": func(tp *grad.Tape, goroutine int) {
			if goroutine == 0 {
				tp.Reset()
				tp.Backward(step(tp))
			} else {
				step(tp)
			}
		},
	} {
		clear := false
		for try := 0; try < 10 && !clear; try++ {
			tp := grad.NewTape(1)
			met := together(20_000, func(i int) { f(tp, i) })
			clear = len(met) > 0
			for _, r := range met {
				_, ok := r.(*grad.TapeError)
				clear = clear && ok
			}
		}
		if !clear {
			t.Errorf("%s: no attempt ended as it should", what)
		}
	}
}

// A Reset that was forgotten is noticed; several losses of one computation, or
// gradients row by row, are not.
func TestForgottenReset(t *testing.T) {
	p, tp := param(1, 3, 3), grad.NewTape(1)
	step := func() { tp.Backward(tp.Use(p).Tanh().MatMul(tp.Use(p)).Sum()) }
	for range 100 { // the first and 99 more
		step()
	}
	misuse(t, "without a Reset", step)
	tp.Reset()
	for range 300 {
		step()
		tp.Reset()
	}
	y := tp.Use(p).Tanh().MatMul(tp.Use(p)).Reshape(9)
	for i := range 300 { // a Jacobian matrix
		g := tp.Backward(y.Columns(i%9, i%9+1).Sum()).Param(p)
		if g.Data[i%9] == 0 {
			t.Fatal("no gradient")
		}
		tp.BackwardFrom(y, ones(9))
	}
}
