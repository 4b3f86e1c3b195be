package lanes

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A record names the loops of a product by where they are run and for whom, and what it predicts for the
// threads that it was made with is about what it measured: never less than its longest chunk, never more than all of
// them and what is between.
func TestRecordOfAProduct(t *testing.T) {
	for _, threads := range []int{1, 3} {
		undo := par.SetThreads(threads)
		x, y := grad.Const(tensor.New(600, 300)), grad.Const(tensor.New(300, 200))
		r := Median(3, func() { grad.NewEval(); x.MatMul(y) })
		undo()
		if r.Threads < threads || len(r.Loops) == 0 || r.Took <= 0 {
			t.Fatalf("%d threads, %d loops in %v", r.Threads, len(r.Loops), r.Took)
		}
		last := r.Loops[len(r.Loops)-1]
		if !strings.HasPrefix(last.Name, "tensor.gemm.") || !strings.Contains(last.Name, " from grad.") {
			t.Errorf("the loop of a product is called %q", last.Name)
		}
		m := r.Measured()
		if m.Busy <= 0 || m.Busy > 1 || m.Took != r.Took || m.Threads != r.Threads {
			t.Errorf("measured: %d threads, %v, busy %g", m.Threads, m.Took, m.Busy)
		}
		one := r.On(1, Usual())
		if one.Took < r.Loops[0].work() || one.Busy != 1 {
			t.Errorf("on one thread: %v, busy %g", one.Took, one.Busy)
		}
		if many := r.On(64, Usual()); many.Took > one.Took+64*Usual().Wake*64 || many.Busy > 1 {
			t.Errorf("on 64 threads: %v, busy %g; on one: %v", many.Took, many.Busy, one.Took)
		}
	}
}

// Two loops that one function runs have two names.
func TestNamesTellLoopsApart(t *testing.T) {
	r := Of(func() {
		par.For(4, 1, func(int, int) {})
		par.For(4, 1, func(int, int) {})
	})
	if len(r.Loops) != 2 || r.Loops[0].Name == r.Loops[1].Name || !strings.HasPrefix(r.Loops[0].Name, "lanes.TestNamesTellLoopsApart:") {
		t.Errorf("the loops are %+v", r.Loops)
	}
}

func TestShort(t *testing.T) {
	for function, want := range map[string]string{
		"github.com/edgewise-ml/edgewise/tensor.(*gemm).rows":                         "tensor.gemm.rows",
		"github.com/edgewise-ml/edgewise/tensor.packAll[...].func1":                   "tensor.packAll",
		"github.com/edgewise-ml/edgewise/message/internal/rules.gatBack.Pull.func2.1": "rules.gatBack.Pull",
		"main.main":         "main.main",
		"main.main.func1.3": "main.main",
		"":                  "",
	} {
		if got := short(function); got != want {
			t.Errorf("%q is %q, want %q", function, got, want)
		}
	}
}

// There is one record at a time; without one there is no middle one.
func TestOneAtATime(t *testing.T) {
	stop := Start()
	inner := Of(func() { par.For(4, 1, func(int, int) {}) })
	if r := stop(); len(inner.Loops) != 0 || len(r.Loops) != 1 {
		t.Errorf("the second record has %d loops, the first %d", len(inner.Loops), len(r.Loops))
	}
	if Middle(nil) != nil {
		t.Error("of no record there is a middle one")
	}
	if r := Middle([]*Record{{Took: 9}, {Took: 1}, {Took: 4}}); r.Took != 4 {
		t.Errorf("the middle of 9, 1 and 4 is %d", r.Took)
	}
}

// What is measured can be used: no cost is negative, and one thread has the usual ones.
func TestMeasure(t *testing.T) {
	undo := par.SetThreads(1)
	if one := Measure(); one != Usual() {
		t.Errorf("on one thread: %+v", one)
	}
	undo()
	defer par.SetThreads(2)()
	if c := Measure(); c.See <= 0 || c.Take <= 0 || c.Ring < 0 || c.Wake < c.See || c.Awake <= 0 || c.Slow != 0 {
		t.Errorf("on two threads: %+v", c)
	}
	for chunks, want := range map[int]int{0: 0, 1: 1, 8: 6, 64: 13} {
		if got := taken(chunks); got != want {
			t.Errorf("%d chunks are taken in %d, want %d", chunks, got, want)
		}
	}
}
