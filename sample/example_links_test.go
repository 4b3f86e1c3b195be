package sample_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// Autoencoder is a graph autoencoder.
type Autoencoder struct {
	First, Second layers.GCNConv
	Decoder       layers.InnerProduct
}

// The program of docs/use/links.md.
func Example_links() {
	d, err := cora.Load()
	if err != nil {
		panic(err)
	}
	links, err := sample.LinkSplit{Val: 0.05, Test: 0.1, Seed: 1}.Of(d.Graph)
	if err != nil {
		panic(err) // such as a split that leaves no edges
	}
	g, x := graph.WithSelfLoops(links.Graph), grad.Const(d.Features)

	net := &Autoencoder{
		First:  layers.GCNConv{In: x.Dim(1), Out: 32, Activation: grad.ReLU},
		Second: layers.GCNConv{In: 32, Out: 16},
	}
	rng := rand.New(rand.NewPCG(1, 0))
	net.First.Init(rng)
	net.Second.Init(rng)
	encode := func(t *grad.Tape) *grad.Var {
		return net.Second.Forward(t, g, net.First.Forward(t, g, x))
	}
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01}, Epochs: 60,
		Loss: func(t *grad.Tape) *grad.Var {
			negatives := graph.Must(links.Draw.Draw(links.Train.NumEdges(), t.Step()))
			return net.Decoder.Loss(t, links.Train, negatives, encode(t))
		},
	}
	if _, err := fit.Run(context.Background()); err != nil {
		panic(err)
	}

	z := encode(nil)
	var scores []float64
	var positive []bool
	for _, pairs := range []*graph.Graph{links.Test.Links, links.Test.Negatives} {
		for _, v := range net.Decoder.Forward(nil, pairs, z).Value().Data {
			scores, positive = append(scores, float64(v)), append(positive, pairs == links.Test.Links)
		}
	}
	fmt.Printf("AUC above 85 %%: %v\n", train.AUC(scores, positive) > 0.85)
	// Output: AUC above 85 %: true
}

// The program of docs/use/links.md is that of the example.
func TestLinksDoc(t *testing.T) {
	testDoc(t, "../docs/use/links.md", "example_links_test.go")
}
