package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

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

	model := &Linear{In: 2, Out: 2}
	model.Init(rand.New(rand.NewPCG(1, 2)))
	fit := &train.Fit{
		Model:     model,
		Optimiser: &train.Adam{LR: 0.1},
		Epochs:    100,
		Loss:      func(t *grad.Tape) *grad.Var { return model.Forward(t, x).CrossEntropy(labels) },
		Eval: func(t *grad.Tape) train.Scores {
			return train.Scores{Val: train.Measure(model.Forward(t, x).Value(), labels)}
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

// Training stops when the validation loss has not improved for ten epochs, and
// the model is the one of the epoch where it was lowest.
func ExampleFit_earlyStopping() {
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 5, 3, 0, 4, 2, 1, 3, 7, 9, 8}, 6, 2))
	labels := []int32{1, 0, 1, 0, 1, 1} // the last is wrong, and only the validation knows
	fitted, held := []int32{0, 1, 2, 3}, []int32{4, 5}

	model := &Linear{In: 2, Out: 2}
	model.Init(rand.New(rand.NewPCG(1, 2)))
	fit := &train.Fit{
		Model:     model,
		Optimiser: &train.AdamW{LR: 0.1, WeightDecay: 0.01, Groups: []train.Group{{Match: "B"}}}, // no decay of the bias
		Epochs:    1000,
		Patience:  10,
		By:        train.ByLoss,
		ClipNorm:  1,
		Loss: func(t *grad.Tape) *grad.Var {
			return model.Forward(t, x).Rows(fitted).CrossEntropy(labels[:4])
		},
		Eval: func(t *grad.Tape) train.Scores {
			return train.Scores{Val: train.Measure(model.Forward(t, x).Rows(held).Value(), labels[4:])}
		},
	}
	history, err := fit.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	best, _ := history.Best()
	fmt.Println("stopped", len(history.Epochs)-best.N, "epochs after the best")
	fmt.Println("stopped early:", len(history.Epochs) < 1000)
	// Output:
	// stopped 10 epochs after the best
	// stopped early: true
}

// A run of forty epochs is stopped after fifteen. Another process, with a new
// model, goes on from the file.
func ExampleFit_resume() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 5, 3, 0, 4, 2, 1}, 4, 2))
	newFit := func() (*train.Fit, *Linear) {
		model := &Linear{In: 2, Out: 2}
		model.Init(rand.New(rand.NewPCG(1, 2)))
		return &train.Fit{
			Model: model, Optimiser: &train.Adam{LR: 0.1, Schedule: train.Cosine{Steps: 40}}, Seed: 1, Epochs: 40,
			Loss: func(t *grad.Tape) *grad.Var {
				return model.Forward(t, t.Dropout(x, 0.5)).CrossEntropy([]int32{1, 0, 1, 0})
			},
		}, model
	}

	first, _ := newFit()
	ctx, cancel := context.WithCancel(context.Background())
	first.Checkpoint = path // with Every, also while it runs
	first.OnEpoch = func(e train.Epoch) {
		if e.N == 15 {
			cancel()
		}
	}
	history, err := first.Run(ctx)
	fmt.Println(len(history.Epochs), err)

	second, resumed := newFit()
	second.Resume = path
	history, err = second.Run(context.Background())
	fmt.Println(len(history.Epochs), err)

	atOnce, whole := newFit()
	_, err = atOnce.Run(context.Background())
	fmt.Println(slices.Equal(resumed.W.Value.Data, whole.W.Value.Data), err)
	// Output:
	// 15 context canceled
	// 40 <nil>
	// true <nil>
}

// A loop of its own saves what it is made of, the source of its batches too.
func ExampleCheckpoint() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	x := tensor.Of([]tensor.Float{1, 2, 5, 3, 0, 4, 2, 1}, 4, 2)
	labels := []int32{1, 0, 1, 0}
	begin := func() (*train.Checkpoint, func()) {
		model, source := &Linear{In: 2, Out: 2}, rand.NewPCG(5, 6)
		model.Init(rand.New(rand.NewPCG(1, 2)))
		c := &train.Checkpoint{Model: model, Optimiser: &train.SGD{LR: 0.1, Momentum: 0.9}, Tape: grad.NewTape(1), RNG: source}
		return c, func() {
			i := rand.New(source).Int32N(4) // a batch of one
			c.Tape.Reset()
			loss := model.Forward(c.Tape, grad.Const(x)).Rows([]int32{i}).CrossEntropy(labels[i : i+1])
			c.Optimiser.Step(c.Tape.Backward(loss))
		}
	}

	c, step := begin()
	for range 20 {
		step()
	}
	if err := c.Save(path); err != nil {
		fmt.Println(err)
		return
	}
	again, _ := begin()
	if err := again.Load(path); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("goes on after step", again.Tape.Step())
	// Output: goes on after step 20
}

// Biases have no decay, and one layer is trained at a tenth of the rate. A
// pattern that matches nothing is a mistake that Bind reports.
func ExampleGroup() {
	opt := &train.Adam{LR: 0.01, WeightDecay: 5e-4, Groups: []train.Group{
		{Match: "*B", WeightDecay: 0},
		{Match: "Encoder.*", LR: 0.001, WeightDecay: 5e-4},
	}}
	err := opt.Bind(&Linear{W: grad.NewParam(2, 2), B: grad.NewParam(2)})
	fmt.Println(err)
	// Output: train: group 1: no Param of the model has a path that matches "Encoder.*"
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

// Of three chunks one was found, one has another end, and one another label.
func ExampleCountChunks() {
	want := [][]string{{"B-NP", "I-NP", "O", "B-VP"}, {"B-NP"}}
	got := [][]string{{"B-NP", "O", "O", "B-VP"}, {"B-PP"}}
	c, err := train.CountChunks(want, got)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("F1 %.3f, of verbs %.0f\n", c.All.F1(), c.Labels["VP"].F1())
	// Output: F1 0.333, of verbs 1
}

// A decoder that is fed its own words more and more often.
func ExampleTeacherForcing() {
	forcing := train.TeacherForcing{Schedule: train.InverseSigmoid{K: 100}, Seed: 1}
	for _, step := range []int{0, 460, 1000} {
		fed := 0
		for token := range 1000 {
			if forcing.Truth(step, token) {
				fed++
			}
		}
		fmt.Printf("step %d: probability %.3f, %d of 1000 tokens are true\n", step, forcing.Probability(step), fed)
	}
	// Output:
	// step 0: probability 0.990, 984 of 1000 tokens are true
	// step 460: probability 0.501, 500 of 1000 tokens are true
	// step 1000: probability 0.005, 3 of 1000 tokens are true
}
