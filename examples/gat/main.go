// Gat trains the graph attention network of Veličković and others (2018) on Cora, a network
// of 2,708 papers that cite each other. It shows a model of two layers, training that stops
// early, a file of the trained model, and predictions by the model that is read back from it.
//
//	go run ./examples/gat
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// GAT is the model: a struct whose exported fields are layers. Package train finds the
// trained numbers in them, and saves the settings beside the numbers.
type GAT struct{ Hidden, Output layers.GATConv }

// Init draws the first values of what is trained.
func (m *GAT) Init(rng *rand.Rand) {
	m.Hidden.Init(rng)
	m.Output.Init(rng)
}

// Forward returns a row for each paper with a number for each class: the greater, the likelier.
func (m *GAT) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return m.Output.Forward(t, g, m.Hidden.Forward(t, g, x))
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	data, err := cora.Load()
	if err != nil {
		return err
	}
	words, err := data.Normalised() // the words of a paper add up to one
	if err != nil {
		return err
	}
	g := graph.WithSelfLoops(data.Graph) // so that a paper attends to itself as well
	x := grad.Const(words)
	labels, split := data.Labels, data.Split

	// As published: eight heads of eight numbers each, then one head with a number for each class.
	net := &GAT{
		Hidden: layers.GATConv{In: words.Shape()[1], Out: 8, Heads: 8, FeatDrop: 0.6, AttnDrop: 0.6, Activation: grad.ELU},
		Output: layers.GATConv{In: 8 * 8, Out: data.Classes, FeatDrop: 0.6, AttnDrop: 0.6},
	}
	net.Init(rand.New(rand.NewPCG(1, 0)))
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.005, WeightDecay: 5e-4}, Seed: 1, // of dropout
		Epochs: 1000, Patience: 100, // stop after 100 epochs without a better score of the validation papers
		By: train.ByEither,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, g, x).Rows(split.Train).CrossEntropy(labels.Of(split.Train))
		},
		Eval: func(t *grad.Tape) train.Scores { // this tape drops nothing
			logits := net.Forward(t, g, x).Rows(split.Val).Value()
			return train.Scores{Val: train.Measure(logits, labels.Of(split.Val))}
		},
	}
	history, err := fit.Run(context.Background())
	if err != nil {
		return err
	}
	best, _ := history.Best()
	fmt.Printf("stopped after epoch %d, kept epoch %d\n", len(history.Epochs), best.N)

	dir, err := os.MkdirTemp("", "gat")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cora.safetensors")
	if err := train.Save(path, net); err != nil {
		return err
	}

	// Another program would begin here. It needs the type GAT; the settings are in the file.
	loaded := &GAT{}
	if err := train.LoadConfig(path, loaded); err != nil {
		return err
	}
	loaded.Init(rand.New(rand.NewPCG(0, 0))) // makes the arrays that Load fills
	if err := train.Load(path, loaded); err != nil {
		return err
	}
	logits := loaded.Forward(grad.NewEval(), g, x).Rows(split.Test)
	fmt.Printf("test accuracy %.3f\n", train.Accuracy(logits.Value(), labels.Of(split.Test)))
	probability, class := logits.RowRange(0, 5).Softmax().TopK(1)
	for i, paper := range split.Test[:5] {
		fmt.Printf("paper %d: %s (%.2f), labelled %s\n", paper,
			data.ClassNames[class[i]], probability.Value().Data[i], data.ClassNames[labels[paper]])
	}
	return nil
}

// Output:
// stopped after epoch 692, kept epoch 154
// test accuracy 0.835
// paper 1708: Neural_Networks (0.23), labelled Neural_Networks
// paper 1709: Genetic_Algorithms (0.74), labelled Genetic_Algorithms
// paper 1710: Genetic_Algorithms (0.49), labelled Genetic_Algorithms
// paper 1711: Genetic_Algorithms (0.87), labelled Genetic_Algorithms
// paper 1712: Genetic_Algorithms (0.78), labelled Genetic_Algorithms
