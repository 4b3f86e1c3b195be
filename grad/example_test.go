package grad_test

import (
	"fmt"

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
