package grad_test

import (
	"fmt"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Gradient descent on (w−3)².
func ExampleTape() {
	w := grad.NewParam(1)
	three := grad.Const(tensor.Of([]tensor.Float{3}, 1))
	t := grad.NewTape(1)
	for range 50 {
		t.Reset()
		loss := t.Use(w).Sub(three).Square().Sum()
		for _, g := range t.Backward(loss) {
			for i, d := range g.Value.Data {
				g.Param.Value.Data[i] -= 0.2 * d
			}
		}
	}
	fmt.Printf("%.4f\n", w.Value.Data[0])
	// Output: 3.0000
}

func ExampleParams() {
	type linear struct{ W, B *grad.Param }
	type net struct {
		Layers []linear
		Out    linear
	}
	model := net{
		Layers: []linear{{W: grad.NewParam(4, 3), B: grad.NewParam(3)}},
		Out:    linear{W: grad.NewParam(3, 2)}, // without a bias
	}
	for path, p := range grad.Params(model) {
		fmt.Println(path, p.Value.Shape())
	}
	// Output:
	// Layers.0.W [4 3]
	// Layers.0.B [3]
	// Out.W [3 2]
}

// What a step of a network on a million rows would need, without the step.
func ExampleMeasure() {
	const rows, width, classes = 1 << 20, 64, 8
	w := grad.NewParam(width, classes)
	s := grad.Measure(func(t *grad.Tape) *grad.Var {
		x := t.Use(grad.NewParam(1, width)).Expand(rows, width)
		return x.MatMul(t.Use(w)).CrossEntropy(make([]int32, rows))
	})
	var f tensor.Float
	per := s.Peak / int(unsafe.Sizeof(f)) / rows
	fmt.Println(per, "numbers a row")
	// Output: 152 numbers a row
}

// A checkpointed block keeps its result and works out the rest twice.
func ExampleTape_Checkpoint() {
	w := grad.NewParam(3)
	w.Value.Fill(0.5)
	t := grad.NewTape(1)
	x := t.Use(w)
	for range 3 {
		x = t.Checkpoint(func(xs ...*grad.Var) *grad.Var { return xs[0].Tanh().Scale(2) }, x)
	}
	grads := t.Backward(x.Sum())
	fmt.Printf("%d operations, gradient %.4f\n", t.Stats().Ops, grads.Param(w).Data[0])
	// Output: 4 operations, gradient 0.5789
}

func ExampleTape_FirstNonFinite() {
	t := grad.NewTape(1)
	x := t.Watch(tensor.Of([]tensor.Float{1, 0, 4}, 3))
	func() {
		defer t.Label("Encoder")()
		x = x.Log().Softmax()
	}()
	t.Backward(x.Sum())
	fmt.Println(t.FirstNonFinite())
	// Output: Encoder/Log: element 1 of [3] is -Inf true
}

// double returns 2x: an operation as another package writes it.
func double(x *grad.Var) *grad.Var {
	op := grad.Begin("Double", x)
	y := op.New(x.Shape()...)
	for i, v := range x.Value().Data {
		y.Value().Data[i] = 2 * v
	}
	return op.Record(y, func(dy *tensor.Dense) {
		for i, g := range dy.Data {
			x.Grad().Data[i] += 2 * g
		}
	})
}

func ExampleOp() {
	t := grad.NewTape(1)
	x := t.Watch(tensor.Of([]tensor.Float{1, 2, 3}, 3))
	y := double(x)
	fmt.Println(y.Value().Data, t.Backward(y.Sum()).Of(x).Data)
	// Output: [2 4 6] [2 2 2]
}
