// Tables goes from two CSV files to predictions: one lists the customers of a telephone company,
// the other who calls whom. The column churned says who has left and who has stayed. Where it is
// empty, the program says what the customer will probably do.
//
//	go run ./examples/tables                                      # in the clone
//	go run ./examples/tables 'mine_edges.csv#column,undirected'   # your tables, and what to learn
//
// Your customers, machines or papers are in mine_nodes.csv beside the edges, whose columns
// source and target name them. docs/use/tables.md has the rest.
package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// Network is two layers of graph attention, which reads what the edges say, too.
type Network struct{ First, Second layers.GATConv }

// Forward returns a row for each node with a number for each class.
func (n *Network) Forward(t *grad.Tape, g *graph.Graph, in layers.In) *grad.Var {
	in.Src = n.First.Apply(t, g, in).Y
	return n.Second.Apply(t, g, in).Y
}

func main() {
	path := "examples/tables/customers_edges.csv#churned,undirected"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	data, err := datasets.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	if len(data.Labels) == 0 {
		log.Fatalf("%s: after a #, name the column of the nodes whose classes are to be learnt", path)
	}
	features, err := data.Standardised() // months and complaints are of different sizes
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	split := data.Split        // what a column called split says
	if len(split.Train) == 0 { // there is none: 50 of each class train, 50 nodes validate, 50 test
		if split, err = data.RandomSplit(rng, 50, 50, 50); err != nil {
			log.Fatalf("%v; a column called split may say train, val or test instead", err)
		}
	}

	in, edgeWidth := layers.In{Src: grad.Const(features)}, 0
	if data.EdgeFeatures != nil {
		in.Edge, edgeWidth = grad.Const(data.EdgeFeatures), data.EdgeFeatures.Dim(1)
	}
	net := &Network{
		First: layers.GATConv{In: features.Shape()[1], EdgeIn: edgeWidth, Out: 8, Heads: 4,
			Residual: layers.ResidualLinear, FeatDrop: 0.3, Activation: grad.ELU},
		Second: layers.GATConv{In: 8 * 4, EdgeIn: edgeWidth, Out: data.Classes, Heads: 4, Average: true,
			Residual: layers.ResidualLinear, FeatDrop: 0.3},
	}
	net.First.Init(rng)
	net.Second.Init(rng)
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 5e-4}, Seed: 1, Epochs: 200, By: train.ByLoss,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, data.Graph, in).Rows(split.Train).CrossEntropy(data.Labels.Of(split.Train))
		},
		Eval: func(t *grad.Tape) train.Scores {
			logits := net.Forward(t, data.Graph, in)
			return train.Scores{
				Val:  train.Measure(logits.Rows(split.Val).Value(), data.Labels.Of(split.Val)),
				Test: train.Measure(logits.Rows(split.Test).Value(), data.Labels.Of(split.Test)),
			}
		},
	}
	history, err := fit.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	best, _ := history.Best()
	fmt.Printf("%d nodes, %d edges, %d features; test accuracy %.2f\n",
		data.Graph.NumNodes(), data.Graph.NumEdges(), features.Shape()[1], best.Test.Accuracy)

	probability, class := net.Forward(grad.NewEval(), data.Graph, in).Softmax().TopK(1)
	out := csv.NewWriter(os.Stdout)
	out.Write([]string{"id", "class", "probability"})
	written := 0
	for v, label := range data.Labels {
		if label == grad.NoLabel && written < 5 {
			name := fmt.Sprint(class[v]) // classes that are numbers have no other names
			if len(data.ClassNames) > 0 {
				name = data.ClassNames[class[v]]
			}
			out.Write([]string{data.NodeNames[v], name, fmt.Sprintf("%.2f", probability.Value().Data[v])})
			written++
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		log.Fatal(err)
	}
}

// Output:
// 240 nodes, 1526 edges, 8 features; test accuracy 0.84
// id,class,probability
// c84606,no,0.81
// c51061,no,0.53
// c74203,no,0.96
// c39119,yes,0.79
// c32547,yes,0.61
