package grad_test

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// step is one training step of a small network on n rows.
func step(tape *grad.Tape, x *grad.Var, labels []int32, w, b *grad.Param) {
	tape.Reset()
	h := tape.Dropout(x, 0.3).MatMul(tape.Use(w)).Add(tape.Use(b)).ELU()
	h = grad.Concat(h.Columns(0, 2), h.Columns(2, 4).Softmax()).Reshape(-1, 4)
	tape.Backward(h.CrossEntropy(labels))
}

// TestArenaSteady shows that after the first step a training step allocates
// nothing that grows with the data.
func TestArenaSteady(t *testing.T) {
	w, b := param(1, 5, 4), param(2, 4)
	var counts [2]float64
	for i, n := range []int{10, 10_000} {
		tape, x, labels := grad.NewTape(1), grad.Const(param(3, n, 5).Value), make([]int32, n)
		step(tape, x, labels, w, b)
		held := tape.Stats()
		if held.Held < n*4*4 || held.Peak < held.InUse || held.Ops == 0 {
			t.Errorf("%d rows: after a step %+v", n, held)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		counts[i] = testing.AllocsPerRun(5, func() { step(tape, x, labels, w, b) })
		runtime.ReadMemStats(&after)
		if got := tape.Stats(); got != held {
			t.Errorf("%d rows: %+v after the first step, then %+v", n, held, got)
		}
		if bytes := (after.TotalAlloc - before.TotalAlloc) / 6; bytes > 20_000 {
			t.Errorf("%d rows: a step allocates %d bytes", n, bytes)
		}
	}
	slack := 4.0
	if raced { // then pools forget at random
		slack = 30
	}
	if counts[1] > counts[0]+slack || counts[0] > 100 {
		t.Errorf("a step allocates %v times on 10 rows and %v on 10000", counts[0], counts[1])
	}
}

// operations are those whose cost is counted, on matrices of the same shape, which
// their results have too.
var operations = map[string]func(t *grad.Tape, x, y *grad.Var) *grad.Var{
	"Tanh":        func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Tanh() },
	"GELU":        func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.GELU() },
	"Scale":       func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Scale(0.5) },
	"Add":         func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return x.Add(y) },
	"Max":         func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return x.Max(y) },
	"MatMul":      func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return x.MatMul(y) },
	"MatMulT":     func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return x.MatMulT(y) },
	"Linear":      func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return x.Linear(y, nil, grad.Tanh) },
	"Softmax":     func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Softmax() },
	"LogSoftmax":  func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.LogSoftmax() },
	"Rows":        func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Rows(order[:x.Dim(0)]) },
	"ScatterAdd":  func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.ScatterAdd(order[:x.Dim(0)], x.Dim(0)) },
	"Columns":     func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Columns(0, x.Dim(1)) },
	"Reshape":     func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Reshape(x.Shape()...) },
	"RowRange":    func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.RowRange(0, x.Dim(0)) },
	"Transpose":   func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Transpose() },
	"ConcatAxis":  func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return grad.ConcatAxis(0, x) },
	"CumSum":      func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.CumSum() },
	"Clamp":       func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Clamp(-1, 1) },
	"Where":       func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return grad.Where(y, x, y) },
	"Pow":         func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Pow(1) },
	"L2Normalise": func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.L2Normalise() },
	"LayerNorm":   func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.LayerNorm(nil, nil, 1) },
	"Dropout":     func(t *grad.Tape, x, _ *grad.Var) *grad.Var { return t.Dropout(x, 0.1) },
	"CrossEntropy": func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		return x.CrossEntropy(order[:x.Dim(0)]).Expand(x.Shape()...)
	},
	"MSE": func(_ *grad.Tape, x, y *grad.Var) *grad.Var { return grad.Loss{Reduction: grad.EachLoss}.MSE(x, y) },
}

// order is rows, and labels; the first n of them are rows of a matrix of n.
var order = []int32{0, 1, 0}

// chain returns a step of n operations, one after the other.
func chain(f func(t *grad.Tape, x, y *grad.Var) *grad.Var, n, size int) func() {
	tape, p, q := grad.NewTape(1), param(1, size, size), param(2, size, size)
	return func() {
		tape.Reset()
		x, y := tape.Use(p), tape.Use(q)
		for range n {
			x = f(tape, x, y)
		}
		tape.Backward(x.Sum())
	}
}

// TestAllocationsPerOperation measures what one more operation costs, forwards
// and backwards: at most 4 allocations and 400 bytes.
func TestAllocationsPerOperation(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too")
	}
	for name, f := range operations {
		count := func(n int) (allocs, bytes float64) {
			run := chain(f, n, 3)
			run()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			allocs = testing.AllocsPerRun(5, run)
			runtime.ReadMemStats(&after)
			return allocs, float64(after.TotalAlloc-before.TotalAlloc) / 6
		}
		a1, b1 := count(100)
		a2, b2 := count(200)
		t.Logf("%-12s %.1f allocations, %.0f bytes", name, (a2-a1)/100, (b2-b1)/100)
		if name == "CrossEntropy" { // followed by Expand
			a2, b2 = a2/2+a1/2, b2/2+b1/2
		}
		if per := (a2 - a1) / 100; per > 4.5 { // a test runs beside others, which allocate too
			t.Errorf("%s allocates %.1f times", name, per)
		}
		if per := (b2 - b1) / 100; per > 450 {
			t.Errorf("%s allocates %.0f bytes", name, per)
		}
	}
}

// BenchmarkOperation is what an operation costs on one element, forwards and
// backwards.
func BenchmarkOperation(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		b.Run(name, func(b *testing.B) {
			const n = 100
			run := chain(operations[name], n, 1)
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/operation")
		})
	}
}

// TestArenaZeroed shows that recycled memory is clean.
func TestArenaZeroed(t *testing.T) {
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		op := grad.Begin("test", tape.Input(ones(1)))
		for n := range 40 {
			x, f, ints := op.New(n, 3), op.Floats(n), op.Ints(n)
			if len(x.Value().Data) != 3*n || len(f) != n || len(ints) != n {
				t.Fatal("wrong lengths")
			}
			op.Scratch(n, func(s []tensor.Float) {
				for i := range n {
					if x.Value().Data[i] != 0 || f[i] != 0 || ints[i] != 0 || s[i] != 0 {
						t.Fatal("memory is handed out dirty")
					}
					s[i] = 4
				}
			})
			x.Value().Fill(1)
			for i := range n {
				f[i], ints[i] = 2, 3
			}
		}
	}
}
