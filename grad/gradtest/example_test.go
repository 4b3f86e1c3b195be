package gradtest_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/tensor"
)

// double is 2x, with a pullback that is wrong by a half.
func double(x *grad.Var) *grad.Var {
	op := grad.Begin("double", x)
	y := op.New(x.Shape()...)
	for i, v := range x.Value().Data {
		y.Value().Data[i] = 2 * v
	}
	return op.Record(y, func(dy *tensor.Dense) {
		for i, g := range dy.Data {
			x.Grad().Data[i] += 3 * g
		}
	})
}

// A model is anything that holds Params.
func ExampleDiff() {
	model := struct{ X *grad.Param }{grad.NewParam(1)}
	model.X.Value.Fill(1)
	err := gradtest.Diff(model, func(t *grad.Tape) *grad.Var { return double(t.Use(model.X)) })
	fmt.Println(err != nil)
	err = gradtest.Diff(model, func(t *grad.Tape) *grad.Var { return t.Use(model.X).Scale(2) })
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}
