package bench

import (
	"context"
	"math/rand/v2"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Benchmark is one thing that can be timed. Its name is a path.
type Benchmark struct {
	Name, Op string
	Params   map[string]any
	Flops    float64 // of a call
	Bytes    float64 // that a call cannot but read or write
	Gathered float64 // that a call's edges ask for, of a kernel on a graph
	Steps    float64 // that a call's walks take
	Lanes    int     // threads that a call has work for
	At       Place   // where a kernel on a graph is timed
	Swept    int     // its place in the sweep, from 1; 0: it is not in it
	Unlisted bool    // the sweep or its own name selects it, and nothing else
	Prepare  func() Work
	Open     func() (Work, error)                                    // instead, of what is in files
	Train    func(ctx context.Context, to *Recorder) (*Times, error) // instead, of epochs of a training
}

// Work is a benchmark with its operands.
type Work struct {
	Call func()
	// of a kernel on a graph: what reads the rows that the call gathers; of a
	// call that computes gradients too: its forward pass alone
	Walk, Forward func()
	Failed        func() error // why a call could not do its work; nil: none can fail
	Way           string       // how a product runs; empty: it is none that chooses
	Plain         Reference    // a loop in Go, without assembly, on one thread
	Rival         Reference
	Out           *tensor.Dense // what call, plain and rival of some write; nil: they do not share it
}

// Failing is a call that may fail.
func Failing(call func() error) Work {
	var failed error
	return Work{
		Call: func() {
			if err := call(); err != nil {
				failed = err
			}
		},
		Failed: func() error { return failed },
	}
}

// BothWays is a forward pass of what in puts on the tape, with the gradients of that from a seed as large
// as the result; and the forward pass alone.
func BothWays(forward func(t *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var, seed func(shape ...int) *tensor.Dense) Work {
	t, eval, from := grad.NewTape(1), grad.NewEval(), (*tensor.Dense)(nil)
	return Work{
		Call: func() {
			t.Reset()
			y := forward(t, t.Watch)
			if from == nil {
				from = seed(y.Shape()...)
			}
			t.BackwardFrom(y, from)
		},
		Forward: func() {
			eval.Reset()
			forward(eval, eval.Input)
		},
	}
}

// Reference is other code for the same work, or for a share of it where the
// whole would take minutes. Without a call there is none.
type Reference struct {
	Name  string
	Share float64
	Call  func()
	Equal bool // timed for as long as the benchmark itself
}

// Gonum is what a reference is called that is gonum's.
const Gonum = "gonum"

// FloatSize and IndexBytes are what a number and an edge's source take.
const (
	FloatSize  = int(unsafe.Sizeof(tensor.Float(0)))
	IndexBytes = 4
)

// Choice says what to time benchmarks on.
type Choice struct {
	Threads int    // of which there are names, and which calls have work for
	Graph   *Graph // kernels and layers on a graph: on this one; nil: each on its own
	Heads   int    // their heads; 0: each its own
	Dims    []int  // the columns of a head, each of which is timed; nil: each its own
	Data    string // folder of the datasets' files, for those that read them
}

// Operand returns random values of a fixed seed.
func Operand(shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	d.Uniform(rand.New(rand.NewPCG(1, 2)), -1, 1)
	return d
}
