package grad_test

import (
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// operands are what operations whose cost is counted work on, x being the result
// of the one before.
type operands struct {
	t       *grad.Tape
	x, y    *grad.Var // n×n
	v       *grad.Var // n
	csr     *grad.Var // n×n, sparse
	n       int
	rows    []int32 // n labels, or rows in order
	offsets []int   // of one graph of n rows
	weights []float64
	target  *grad.Var
}

// operation is one, by the name of its method or function.
type operation struct {
	name string
	f    func(o *operands) *grad.Var
}

// pointwise are the operations of x alone, or of x and y.
var pointwise = []operation{
	{"Add", func(o *operands) *grad.Var { return o.x.Add(o.y) }},
	{"Sub", func(o *operands) *grad.Var { return o.x.Sub(o.y) }},
	{"Mul", func(o *operands) *grad.Var { return o.x.Mul(o.y) }},
	{"Div", func(o *operands) *grad.Var { return o.x.Div(o.y) }},
	{"Min", func(o *operands) *grad.Var { return o.x.Min(o.y) }},
	{"Max", func(o *operands) *grad.Var { return o.x.Max(o.y) }},
	{"Add, stretched", func(o *operands) *grad.Var { return o.x.Add(o.v) }},
	{"Where", func(o *operands) *grad.Var { return grad.Where(o.y, o.x, o.y) }},
	{"Scale", func(o *operands) *grad.Var { return o.x.Scale(0.5) }},
	{"Shift", func(o *operands) *grad.Var { return o.x.Shift(0.5) }},
	{"Neg", func(o *operands) *grad.Var { return o.x.Neg() }},
	{"OneMinus", func(o *operands) *grad.Var { return o.x.OneMinus() }},
	{"ReLU", func(o *operands) *grad.Var { return o.x.ReLU() }},
	{"LeakyReLU", func(o *operands) *grad.Var { return o.x.LeakyReLU(0.5) }},
	{"ELU", func(o *operands) *grad.Var { return o.x.ELU() }},
	{"ELUAlpha", func(o *operands) *grad.Var { return o.x.ELUAlpha(0.5) }},
	{"Sigmoid", func(o *operands) *grad.Var { return o.x.Sigmoid() }},
	{"LogSigmoid", func(o *operands) *grad.Var { return o.x.LogSigmoid() }},
	{"Tanh", func(o *operands) *grad.Var { return o.x.Tanh() }},
	{"Softplus", func(o *operands) *grad.Var { return o.x.Softplus() }},
	{"SiLU", func(o *operands) *grad.Var { return o.x.SiLU() }},
	{"GELU", func(o *operands) *grad.Var { return o.x.GELU() }},
	{"GELUTanh", func(o *operands) *grad.Var { return o.x.GELUTanh() }},
	{"SELU", func(o *operands) *grad.Var { return o.x.SELU() }},
	{"Mish", func(o *operands) *grad.Var { return o.x.Mish() }},
	{"Activate", func(o *operands) *grad.Var { return o.x.Activate(grad.Tanh) }},
	{"Maxout", func(o *operands) *grad.Var { return o.x.Maxout(1) }},
	{"Exp", func(o *operands) *grad.Var { return o.x.Exp() }},
	{"Log", func(o *operands) *grad.Var { return o.x.Log() }},
	{"Sqrt", func(o *operands) *grad.Var { return o.x.Sqrt() }},
	{"Abs", func(o *operands) *grad.Var { return o.x.Abs() }},
	{"Square", func(o *operands) *grad.Var { return o.x.Square() }},
	{"Reciprocal", func(o *operands) *grad.Var { return o.x.Reciprocal() }},
	{"Sin", func(o *operands) *grad.Var { return o.x.Sin() }},
	{"Cos", func(o *operands) *grad.Var { return o.x.Cos() }},
	{"Pow", func(o *operands) *grad.Var { return o.x.Pow(1) }},
	{"Clamp", func(o *operands) *grad.Var { return o.x.Clamp(-1, 1) }},
	{"Dropout", func(o *operands) *grad.Var { return o.t.Dropout(o.x, 0.1) }},
}

// products are those that multiply and add up.
var products = []operation{
	{"MatMul", func(o *operands) *grad.Var { return o.x.MatMul(o.y) }},
	{"Project", func(o *operands) *grad.Var { return o.x.Project(o.y, 1).Reshape(o.n, o.n) }},
	{"MatMul, sparse", func(o *operands) *grad.Var { return o.csr.MatMul(o.x) }},
	{"MatMulGroups", func(o *operands) *grad.Var { return o.x.MatMulGroups(o.y.Reshape(1, o.n, o.n), o.offsets[1:]) }},
	{"AddProduct", func(o *operands) *grad.Var { return o.x.AddProduct(o.y, o.y) }},
	{"MatMulT", func(o *operands) *grad.Var { return o.x.MatMulT(o.y) }},
	{"Linear", func(o *operands) *grad.Var { return o.x.Linear(o.y, o.v, grad.Tanh) }},
	{"Linear, plain", func(o *operands) *grad.Var { return o.x.Linear(o.y, nil, grad.Identity) }},
	{"AddBias, Dropout", func(o *operands) *grad.Var { return o.t.Dropout(o.x.AddBias(o.v, grad.ELU), 0.1) }},
	{"AddBias", func(o *operands) *grad.Var { return o.x.AddBias(o.v, grad.ELU) }},
	{"Dot", func(o *operands) *grad.Var { return o.x.Dot(o.y) }},
	{"Dot, per head", func(o *operands) *grad.Var { return o.x.Dot(o.v) }},
	{"Dot, twice", func(o *operands) *grad.Var { y, _ := dots(o.x, o.v, o.v); return y }},
	{"Outer", func(o *operands) *grad.Var { return o.x.Outer(o.v) }},
	{"CircularConv", func(o *operands) *grad.Var { return o.x.CircularConv(o.v) }},
	{"Sum", func(o *operands) *grad.Var { return o.x.Sum() }},
	{"Mean", func(o *operands) *grad.Var { return o.x.Mean() }},
	{"SumAxis", func(o *operands) *grad.Var { return o.x.SumAxis(0) }},
	{"SumAxis, last", func(o *operands) *grad.Var { return o.x.SumAxis(-1) }},
	{"MeanAxis", func(o *operands) *grad.Var { return o.x.MeanAxis(0) }},
	{"MaxAxis", func(o *operands) *grad.Var { return o.x.MaxAxis(0) }},
	{"MinAxis", func(o *operands) *grad.Var { return o.x.MinAxis(0) }},
	{"SumAxes", func(o *operands) *grad.Var { return o.x.SumAxes(0, 1) }},
	{"MeanAxes", func(o *operands) *grad.Var { return o.x.MeanAxes(0, 1) }},
	{"CumSum", func(o *operands) *grad.Var { return o.x.CumSum() }},
	{"CumProd", func(o *operands) *grad.Var { return o.x.CumProd() }},
}

// movements are those that move elements.
var movements = []operation{
	{"Reshape", func(o *operands) *grad.Var { return o.x.Reshape(o.n, o.n) }},
	{"TakeRows", func(o *operands) *grad.Var { return o.x.TakeRows(0, o.n) }},
	{"RowRange", func(o *operands) *grad.Var { return o.x.RowRange(0, o.n) }},
	{"InsertAxis", func(o *operands) *grad.Var { return o.x.InsertAxis(0) }},
	{"Detach", func(o *operands) *grad.Var { return o.x.Add(o.x.Detach()) }},
	{"Keep", func(o *operands) *grad.Var { return o.x.Add(o.x.Keep()) }},
	{"Transpose", func(o *operands) *grad.Var { return o.x.Transpose() }},
	{"Expand", func(o *operands) *grad.Var { return o.x.Expand(o.n, o.n) }},
	{"Rows", func(o *operands) *grad.Var { return o.x.Rows(o.rows) }},
	{"Permute", func(o *operands) *grad.Var { return o.x.Permute(o.rows, o.rows) }},
	{"ScatterAdd", func(o *operands) *grad.Var { return o.x.ScatterAdd(o.rows, o.n) }},
	{"Embedding", func(o *operands) *grad.Var { return o.x.Embedding(o.rows, -1) }},
	{"Concat", func(o *operands) *grad.Var { return grad.Concat(o.x, o.y).Columns(0, o.n) }},
	{"ConcatScaled", func(o *operands) *grad.Var {
		return grad.ConcatScaled([]*grad.Var{o.x, o.y}, []*grad.Var{nil, o.x.Columns(0, 1).Detach()}).Columns(0, o.n)
	}},
	{"ConcatAxis", func(o *operands) *grad.Var { return grad.ConcatAxis(0, o.x) }},
	{"Stack", func(o *operands) *grad.Var { return grad.Stack(o.x) }},
	{"Split", func(o *operands) *grad.Var { return o.x.Split(o.n)[0] }},
	{"SplitAxis", func(o *operands) *grad.Var { return o.x.SplitAxis(0, o.n)[0] }},
	{"Columns", func(o *operands) *grad.Var { return o.x.Columns(0, o.n) }},
	{"Slice", func(o *operands) *grad.Var { return o.x.Slice(0, 0, o.n) }},
	{"Roll", func(o *operands) *grad.Var { return o.x.Roll(1) }},
	{"TopK", func(o *operands) *grad.Var { y, _ := o.x.TopK(o.n); return y }},
	{"Frame", func(o *operands) *grad.Var {
		f := tape.NewFrame(grad.Begin("test", o.x), o.n, o.n)
		f.Write(0, o.x)
		return f.View(0, o.n)
	}},
	{"Loop", func(o *operands) *grad.Var {
		defer tape.BeginLoop(o.n, o.x).End()
		return o.x.Scale(0.5)
	}},
	{"Checkpoint", func(o *operands) *grad.Var { return o.t.Checkpoint(halve, o.x) }},
}

func halve(xs ...*grad.Var) *grad.Var { return xs[0].Scale(0.5) }

// norms are the normalisations and losses.
var norms = []operation{
	{"Softmax", func(o *operands) *grad.Var { return o.x.Softmax() }},
	{"LogSumExp", func(o *operands) *grad.Var { return o.x.LogSumExp() }},
	{"LogSumExpAxis", func(o *operands) *grad.Var { return o.x.LogSumExpAxis(-1) }},
	{"LogSoftmax", func(o *operands) *grad.Var { return o.x.LogSoftmax() }},
	{"L2Normalise", func(o *operands) *grad.Var { return o.x.L2Normalise() }},
	{"LayerNorm", func(o *operands) *grad.Var { return o.x.LayerNorm(o.v, o.v, 1) }},
	{"LayerNorm, plain", func(o *operands) *grad.Var { return o.x.LayerNorm(nil, nil, 1) }},
	{"BatchNorm", func(o *operands) *grad.Var { return o.t.BatchNorm(o.x, grad.Affine{Gain: o.v, Bias: o.v}, nil, 1) }},
	{"GraphNorm", func(o *operands) *grad.Var {
		return o.x.GraphNorm(o.offsets, grad.Affine{Gain: o.v, Bias: o.v, Shift: o.v}, 1)
	}},
	{"PairNorm", func(o *operands) *grad.Var { return grad.PairNorm{}.Of(o.x, o.offsets) }},
	{"CrossEntropy", func(o *operands) *grad.Var { return o.x.CrossEntropy(o.rows) }},
	{"NLL", func(o *operands) *grad.Var { return o.x.NLL(o.rows) }},
	{"Hinge", func(o *operands) *grad.Var { return grad.Hinge{}.Of(o.x, o.rows) }},
	{"BCE", func(o *operands) *grad.Var { return o.x.BCE(o.target) }},
	{"MSE", func(o *operands) *grad.Var { return o.x.MSE(o.y) }},
	{"MSE, each", func(o *operands) *grad.Var { return grad.Loss{Reduction: grad.EachLoss}.MSE(o.x, o.y) }},
	{"L1", func(o *operands) *grad.Var { return o.x.L1(o.y) }},
	{"Huber", func(o *operands) *grad.Var { return grad.Loss{}.Huber(o.x, o.y, 1) }},
	{"SmoothL1", func(o *operands) *grad.Var { return grad.Loss{}.SmoothL1(o.x, o.y, 1) }},
	{"KL", func(o *operands) *grad.Var { return grad.Loss{}.KL(o.x, o.y) }},
	{"Ranking", func(o *operands) *grad.Var { return grad.Loss{}.Ranking(o.x, o.y, 1) }},
	{"Reinforce", func(o *operands) *grad.Var { return o.x.Reinforce(o.weights) }},
}

// operations are all whose cost is counted.
var operations = slices.Concat(pointwise, products, movements, norms)

// TestOperationsComplete shows that no method that makes a Var is left out of
// operations.
func TestOperationsComplete(t *testing.T) {
	named := func(name string) bool {
		return slices.ContainsFunc(operations, func(o operation) bool { return o.name == name })
	}
	made := reflect.TypeFor[*grad.Var]()
	for _, of := range []reflect.Type{made, reflect.TypeFor[*grad.Tape](), reflect.TypeFor[grad.Loss]()} {
		for m := range of.Methods() {
			leaf := strings.Contains("Use Input Watch", m.Name)
			if m.Type.NumOut() > 0 && m.Type.Out(0) == made && !leaf && !named(m.Name) {
				t.Errorf("%v.%s is not among the operations whose cost is counted", of, m.Name)
			}
		}
	}
}

// chain returns a step of k operations, one after the other, on matrices of n×n,
// forwards and backwards. A result of another shape is reshaped or stretched.
func chain(f func(o *operands) *grad.Var, k, n int) (step func(), tp *grad.Tape) {
	tp = grad.NewTape(1)
	p, q, v := param(1, n, n), param(2, n, n), param(3, n)
	o := &operands{
		t: tp, n: n, rows: make([]int32, n), offsets: []int{0, n}, weights: make([]float64, n*n),
		csr: grad.Const(sparse.FromDense(p.Value)), target: grad.Const(tensor.New(n, n)),
	}
	for i := range o.rows {
		o.rows[i] = int32(i)
	}
	return func() {
		tp.Reset()
		o.x, o.y, o.v = tp.Use(p), tp.Use(q), tp.Use(v)
		for range k {
			x := f(o)
			switch {
			case slices.Equal(x.Shape(), o.x.Shape()):
			case len(x.Value().Data) == n*n:
				x = x.Reshape(n, n)
			case len(x.Value().Data) > n*n:
				x = x.RowRange(0, 1).Reshape(n, n)
			default:
				if x.Dim(0) == n && n > 1 && len(x.Shape()) == 1 {
					x = x.Reshape(1, n)
				}
				x = x.Expand(n, n)
			}
			o.x = x
		}
		tp.Backward(o.x.Sum())
	}, tp
}

// TestAllocationsPerOperation measures what one more recorded operation costs,
// forwards and backwards: at most 4 allocations and 400 bytes.
func TestAllocationsPerOperation(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates too")
	}
	for _, o := range operations {
		count := func(k int) (allocs, bytes, recorded float64) {
			run, tp := chain(o.f, k, 3)
			run()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			allocs = testing.AllocsPerRun(2, run)
			runtime.ReadMemStats(&after)
			return allocs, float64(after.TotalAlloc-before.TotalAlloc) / 3, float64(tp.Stats().Ops)
		}
		const more = 40
		a1, b1, n1 := count(more)
		a2, b2, n2 := count(2 * more)
		n := math.Max(more, n2-n1)
		t.Logf("%-16s %.1f recorded, %.1f allocations, %.0f bytes", o.name, (n2-n1)/more, (a2-a1)/more, (b2-b1)/more)
		if per := (a2 - a1) / n; per > 4 {
			t.Errorf("%s allocates %.1f times", o.name, per)
		}
		if per := (b2 - b1) / n; per > 400 {
			t.Errorf("%s allocates %.0f bytes", o.name, per)
		}
	}
}

// TestAllocationsSteady shows that what an operation allocates does not grow with
// its operands, up to a product of a sparse matrix that threads share.
func TestAllocationsSteady(t *testing.T) {
	const many = 60
	if sparing.Raced {
		t.Skip("the race detector allocates too")
	}
	for _, o := range operations {
		var allocs [2]float64
		for i, n := range []int{3, many} {
			run, _ := chain(o.f, 5, n)
			run()
			allocs[i] = testing.AllocsPerRun(1, run) / 5
		}
		if allocs[1] > allocs[0]+5 { // where threads share it
			t.Errorf("%s allocates %.1f times on %d rows, %.1f on 3", o.name, allocs[1], many, allocs[0])
		}
	}
}

// BenchmarkOperation is what an operation costs on one element, forwards and
// backwards: a step of a hundred in a row, from Reset to the end of Backward,
// divided by their number. Of results that have another shape a Reshape is part
// of it.
func BenchmarkOperation(b *testing.B) {
	for _, o := range operations {
		b.Run(o.name, func(b *testing.B) {
			const n = 100
			run, _ := chain(o.f, n, 1)
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/operation")
		})
	}
}
