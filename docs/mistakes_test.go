package docs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Each mistake of the page panics with what the page says.
func TestMistakesThatPanic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	ring := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}))
	of := func(shape ...int) *grad.Var {
		x := tensor.New(shape...)
		x.Uniform(rng, 0, 1)
		return grad.Const(x)
	}
	made := map[string]func(){
		"shapes that do not fit": func() { of(3, 5).MatMul(of(4, 2)) },
		"an input of the wrong width for a layer": func() {
			l := &layers.GATConv{In: 500, Out: 2}
			l.Init(rng)
			l.Forward(nil, ring, of(3, 1433))
		},
		"a label outside the classes":               func() { of(2, 3).CrossEntropy([]int32{0, 3}) },
		"a row that does not exist":                 func() { of(5, 2).Rows([]int32{9}) },
		"an edge kind without a row in the message": func() { message.ApplyEdges(ring, message.U(of(3, 2, 4)).Pick([]int32{0, 1, 2})) },
		"a value of an earlier step": func() {
			tape := grad.NewTape(1)
			y := tape.Use(grad.NewParam(3, 2)).Scale(2)
			tape.Reset()
			y.Scale(2)
		},
		"a tape that does not record": func() {
			tape := grad.NewEval()
			tape.Backward(tape.Use(grad.NewParam(1, 1)).Sum())
		},
		"an impossible option":           func() { grad.CrossEntropy{Smoothing: 1.5}.Of(of(2, 3), []int32{0, 1}) },
		"a cycle where none is allowed":  func() { message.Sweep(ring, message.State{of(3, 2)}, nil) },
		"edges that `graph.New` refuses": func() { graph.Must(graph.New(3, []int32{0}, []int32{7})) },
		"an optimiser that cannot learn": func() {
			tape, w := grad.NewTape(1), grad.NewParam(1, 1)
			new(train.Adam).Step(tape.Backward(tape.Use(w).Sum()))
		},
		"an index out of range":                        func() { tensor.New(5, 2).Row(9) },
		"labels that are not those of a metric's rows": func() { train.Accuracy(tensor.New(2, 3), []int32{0, 1, 2}) },
		"lists of a metric that are not as long":       func() { train.ExactMatch([][]int{{1}, {2}}, [][]int{{1}}) },
		"a loss that is no number": func() {
			p := grad.NewParam(1, 2)
			f := &train.Fit{Model: &struct{ W *grad.Param }{p}, Optimiser: &train.SGD{LR: 1}, Epochs: 1, Loss: func(t *grad.Tape) *grad.Var { return t.Use(p) }}
			f.Run(t.Context())
		},
		"a `train.Fit` without its parts": func() { new(train.Fit).Run(t.Context()) },
		"a struct that cannot be filled": func() {
			path := filepath.Join(t.TempDir(), "model")
			if err := train.Save(path, &struct {
				W *grad.Param `json:"-"`
			}{grad.NewParam(1, 1)}); err != nil {
				t.Error(err)
			}
			train.LoadConfig(path, struct{}{})
		},
	}
	rows := tableAfter(t, "library/primitives.md", "## Which mistakes panic")
	if len(rows) != len(made) {
		t.Errorf("the page has %d mistakes, and %d are made here", len(rows), len(made))
	}
	for _, row := range rows {
		mistake := made[row[0]]
		if mistake == nil {
			t.Errorf("nothing makes the mistake %q", row[0])
			continue
		}
		got := panicked(mistake)
		kind := map[bool]string{true: "runtime.Error", false: "error"}[errors.As(got, new(runtime.Error))]
		if is := fmt.Sprintf("%T", got); strings.HasSuffix(is, "Error") && strings.HasPrefix(is, "*") && strings.Contains("*tensor.ShapeError *grad.TapeError *graph.CycleError", is) {
			kind = is
		}
		if got == nil || "`"+kind+"`" != row[1] {
			t.Errorf("%s: panicked with %T, %v; the page says %s", row[0], got, got, row[1])
		}
		if tried := tryFor(mistake); (tried != nil) != (kind == "*tensor.ShapeError") {
			t.Errorf("%s: tensor.Try returns %v", row[0], tried)
		}
	}
}

// panicked returns the error that f panics with.
func panicked(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// tryFor is what tensor.Try returns of f, nil if it lets a panic through.
func tryFor(f func()) (err error) {
	defer func() { _ = recover() }()
	return tensor.Try(f)
}
