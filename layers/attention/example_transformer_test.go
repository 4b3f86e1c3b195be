package attention_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Graph Transformer is a block on the data's graph. Features of the edges come in as a bias
// of the scores.
func ExampleEncoderBlock() {
	rng := rand.New(rand.NewPCG(1, 2))
	g := random.Citation(rng, 100, 400)
	x := grad.Const(tensor.New(100, 32))
	block := &attention.EncoderBlock{Block: attention.Block{Model: 32, Heads: 4, PreNorm: true, Activation: grad.GELU}}
	block.Init(rng)
	t := grad.NewTape(1)
	y := block.Forward(t, g, x)

	kinds := grad.Const(tensor.New(g.NumEdges(), 4, 1)) // a number for each edge and head
	z, weights := block.Apply(t, g, x, message.E(kinds))
	fmt.Println(y.Shape(), z.Shape(), message.ApplyEdges(g, weights).Shape()[0] == g.NumEdges())
	// Output: [100 32] [100 32] true
}

// The mask is the graph: one layer, four masks.
func ExampleMultiHead() {
	rng := rand.New(rand.NewPCG(1, 2))
	heads := &attention.MultiHead{Model: 8, Heads: 2}
	heads.Init(rng)
	x := tensor.New(6, 8)
	x.Normal(rng, 0, 1)
	for _, mask := range []struct {
		name string
		g    *graph.Graph
	}{
		{"all", graph.Complete(6)}, {"what came before", graph.Causal(6)}, {"two on either side", graph.Band(6, 2)},
		{"two sentences", graph.Batch(graph.Causal(4), graph.Causal(2))},
	} {
		_, weights := heads.Apply(nil, mask.g, attention.QKV{Query: grad.Const(x)})
		fmt.Printf("%-18s %d edges, a weight for each and head: %v\n", mask.name, mask.g.NumEdges(), message.ApplyEdges(mask.g, weights).Shape())
	}
	// Output:
	// all                36 edges, a weight for each and head: [36 2 1]
	// what came before   21 edges, a weight for each and head: [21 2 1]
	// two on either side 24 edges, a weight for each and head: [24 2 1]
	// two sentences      13 edges, a weight for each and head: [13 2 1]
}

// Goroutines that answer beside each other have a tape each. They share the model and one
// set of packed weights.
func ExampleEncoder() {
	encoder := &attention.Encoder{Block: attention.Block{Model: 16, Heads: 2}, Depth: 2}
	encoder.Init(rand.New(rand.NewPCG(1, 2)))
	sentence := tensor.New(5, 16)
	sentence.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	alone := encoder.Forward(nil, graph.Complete(5), grad.Const(sentence)).Value()

	var packed grad.Weights // one for all
	var all sync.WaitGroup
	same := make([]bool, 4)
	for i := range same {
		all.Go(func() {
			t := grad.NewEval() // one for each goroutine
			t.UseWeights(&packed)
			for range 3 { // what it is asked
				t.Reset()
				y := encoder.Forward(t, graph.Complete(5), t.Input(sentence)).Value()
				same[i] = slices.Equal(y.Data, alone.Data)
			}
		})
	}
	all.Wait()
	fmt.Println(same)
	// Output: [true true true true]
}

// A language model says what comes next, a token at a time, from a cache.
func ExampleLanguageModel() {
	model := &attention.LanguageModel{Block: attention.Block{Model: 16, Heads: 2, PreNorm: true}, Tokens: 10, Depth: 2}
	model.Init(rand.New(rand.NewPCG(1, 2)))

	var cache attention.Cache
	search := &decode.Search{
		Begin: []int32{0, 3}, End: decode.NoEnd, Longest: []int{20}, State: cache.State(),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			return model.Step(t, &cache, l.Last, l.State)
		},
	}
	found, err := decode.Greedy{}.Run(search)
	if err != nil {
		fmt.Println(err)
		return
	}

	said := append([]int32{3}, found[1].Tokens...) // as a whole
	logits := model.Forward(nil, graph.Causal(len(said)), said).LogSoftmax().Value()
	sum := 0.0
	for i, next := range said[1:] {
		sum += float64(logits.Row(i)[next])
	}
	fmt.Println(len(found), len(found[1].Tokens), math.Abs(sum-found[1].LogProb) < 1e-4)
	// Output: 2 20 true
}

// Two sentences of any lengths and what becomes of them: three graphs, and nothing padded.
func ExampleTransformer() {
	model := &attention.Transformer{Block: attention.Block{Model: 16, Heads: 2}, Source: 20, Target: 30, Encoders: 1, Decoders: 1}
	model.Init(rand.New(rand.NewPCG(1, 2)))
	source, fed, labels := []int32{3, 7, 4, 9, 11}, []int32{1, 5, 6, 1, 8}, []int32{5, 6, 2, 8, 2}

	t := grad.NewTape(1)
	masks := attention.Pairs([]int{3, 2}, []int{3, 2})
	loss := grad.CrossEntropy{Smoothing: 0.1}.Of(model.Forward(t, masks, source, fed), labels)
	grads := t.Backward(loss)

	var cache attention.Cache
	search := &decode.Search{
		Begin: []int32{1, 1}, End: 2, Longest: []int{10}, State: model.Start(grad.NewEval(), &cache, masks.Source, source),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			return model.Step(t, &cache, l.Last, l.State)
		},
	}
	found, err := decode.Beam{Width: 4, Norm: decode.GNMT, Alpha: 0.6}.Run(search)
	fmt.Println(len(grads) > 30, len(found), err)
	// Output: true 2 <nil>
}
