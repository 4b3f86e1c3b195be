package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Linear is a model of one product.
type Linear struct {
	In, Out int
	W, B    *grad.Param `json:"-"`
}

// Init makes the Params.
func (l *Linear) Init(rng *rand.Rand) {
	l.W, l.B = grad.NewParam(l.In, l.Out), grad.NewParam(l.Out)
	l.W.Value.GlorotUniform(rng, l.In, l.Out, 1)
}

// Forward returns xW + b.
func (l *Linear) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	return x.MatMul(t.Use(l.W)).Add(t.Use(l.B))
}

// Logistic regression learns which of two numbers is larger.
func ExampleFit() {
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 5, 3, 0, 4, 2, 1, 3, 7, 9, 8}, 6, 2))
	labels := []int32{1, 0, 1, 0, 1, 0}
	rows := []int32{0, 1, 2, 3, 4, 5}

	model := &Linear{In: 2, Out: 2}
	model.Init(rand.New(rand.NewPCG(1, 2)))
	fit := &train.Fit{
		Model:     model,
		Optimiser: &train.Adam{LR: 0.1},
		Epochs:    100,
		Loss:      func(t *grad.Tape) *grad.Var { return model.Forward(t, x).CrossEntropy(labels) },
		Eval: func(t *grad.Tape) train.Scores {
			return train.Scores{Val: train.Measure(model.Forward(t, x).Value(), labels, rows)}
		},
	}
	history, err := fit.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	best, _ := history.Best()
	fmt.Printf("%d epochs, best accuracy %.2f\n", len(history.Epochs), best.Val.Accuracy)
	// Output: 100 epochs, best accuracy 1.00
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	model := &Linear{In: 2, Out: 3}
	model.Init(rand.New(rand.NewPCG(1, 2)))
	if err := train.Save(path, model); err != nil {
		fmt.Println(err)
		return
	}

	var again Linear // without sizes: they are in the file
	if err := train.LoadConfig(path, &again); err != nil {
		fmt.Println(err)
		return
	}
	again.Init(rand.New(rand.NewPCG(0, 0)))
	if err := train.Load(path, &again); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.In, again.Out, again.W.Value.Data[0] == model.W.Value.Data[0])
	// Output: 2 3 true
}
