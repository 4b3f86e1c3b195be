// Gonum begins and ends with gonum. A simple.WeightedDirectedGraph says who hears whom and how
// often, a mat.Dense which words they use. From the interests of some people graph attention
// learns those of the others. Then its attention weighs the edges for gonum's shortest paths.
//
// The answers are known: people hear one of their own interest, the one before them in a ring of
// 100, and three bots, which hear everybody, send more messages than people, and are about
// anything. So the path of the fewest edges leads through a bot, which nobody believes.
//
//	go run ./examples/gonum
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

const people, ring, bots = 300, 100, 12
const firstPerson, firstBot = 1000, 9000 // node IDs, which leave gaps

var interests = []string{"cooking", "football", "music"}

// draw returns the graph and, in the order of the IDs, words and interests.
func draw(rng *rand.Rand) (*simple.WeightedDirectedGraph, *mat.Dense, []int32) {
	heard := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	hear := func(listener, speaker int, messages float64) { // messages a day
		heard.SetWeightedEdge(heard.NewWeightedEdge(simple.Node(speaker), simple.Node(listener), messages))
	}
	words, interest := mat.NewDense(people+bots, 6, nil), make([]int32, people+bots)
	for i := range people + bots {
		about := i / ring
		if i < people {
			hear(firstPerson+i, firstPerson+about*ring+(i+ring-1)%ring, 0.5+0.5*rng.Float64())
			for _, bot := range rng.Perm(bots)[:3] {
				hear(firstPerson+i, firstBot+bot, 2+0.5*rng.Float64())
			}
			interest[i] = int32(about)
		} else {
			for person := range people {
				hear(firstBot+i-people, firstPerson+person, 1)
			}
			about, interest[i] = rng.IntN(len(interests)), grad.NoLabel
		}
		for word := range 6 {
			words.Set(i, word, rng.NormFloat64())
		}
		words.Set(i, about, words.At(i, about)+2.5)
	}
	return heard, words, interest
}

func main() {
	rng := rand.New(rand.NewPCG(2, 0))
	heard, words, interest := draw(rng)
	// Node v of g is the node ids[v] of heard, and edge e of g weighs messages[e].
	g, ids, messages, err := gonumgraph.From(heard)
	if err != nil {
		log.Fatal(err)
	}
	in := layers.In{Src: grad.Const(tensor.FromMat(words)), Edge: grad.Const(tensor.Of(messages, len(messages), 1))}
	known, asked := slices.Clone(interest), slices.Clone(interest)
	for v := 0; v+1 < len(ids); v += 2 { // every second interest is known, the others are asked for
		asked[v], known[v+1] = grad.NoLabel, grad.NoLabel
	}
	conv := &layers.GATConv{In: 6, EdgeIn: 1, Out: len(interests)}
	conv.Init(rng)
	opt, t := &train.Adam{LR: 0.02, WeightDecay: 1e-3}, grad.NewTape(1)
	for range 400 {
		t.Reset()
		opt.Step(t.Backward(conv.Apply(t, g, in).Y.CrossEntropy(known)))
	}
	out := conv.Apply(grad.NewEval(), g, in)
	fmt.Printf("accuracy where the interest was not known: %.2f\n", train.Accuracy(out.Y.Value(), asked))
	share, class := out.Y.Softmax().TopK(1)
	for _, v := range []int{1, 101, 201} {
		fmt.Printf("person %d: %s (%.2f)\n", ids[v], interests[class[v]], share.Value().Data[v])
	}

	// Attention is a share of what a listener hears. Where Σ −log attention along a path is least,
	// the product of the shares is greatest. A node of a view has the number that it has in g.
	attention := message.ApplyEdges(g, out.Attention).Value().Data
	cost := make([]float64, len(attention))
	for e, share := range attention {
		cost[e] = max(0, -math.Log(float64(share)))
	}
	believed, err := gonumgraph.Weighted(g, cost)
	if err != nil {
		log.Fatal(err)
	}
	from, to := believed.Node(0), int64(6)
	for _, tree := range []path.Shortest{path.DijkstraFrom(from, gonumgraph.Of(g)), path.DijkstraFrom(from, believed)} {
		nodes, length := tree.To(to)
		fmt.Printf("path of length %.2f:", length)
		for _, node := range nodes {
			fmt.Print(" ", ids[node.ID()])
		}
		fmt.Println()
	}
}

// Output:
// accuracy where the interest was not known: 0.99
// person 1001: cooking (1.00)
// person 1101: football (0.94)
// person 1201: music (1.00)
// path of length 2.00: 1000 9008 1006
// path of length 1.16: 1000 1001 1002 1003 1004 1005 1006
