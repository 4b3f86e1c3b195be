package attention_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
)

// Two pairs of other lengths are taught in one sweep, and then searched by a beam.
func ExampleRNNsearch() {
	net := &attention.RNNsearch{Source: 6, Target: 6, Begin: 1, Embed: 4, Hidden: 5}
	net.Init(rand.New(rand.NewPCG(1, 2)))

	read, written := graph.Chains(4, 2), graph.Chains(3, 2) // two pairs
	t := grad.NewTape(1)
	logits, look := net.Apply(t, read, []int32{2, 3, 4, 5, 3, 5}, written, []int32{1, 4, 2, 1, 3})
	loss := logits.CrossEntropy([]int32{4, 2, 0, 3, 0})
	for i, w := range look.Matrices() {
		fmt.Println("pair", i, "has", w.Rows(), "steps, which look at", w.RowLen(), "tokens")
	}
	t.Backward(loss) // and so on with an optimiser

	e := net.Encode(grad.NewEval(), read, []int32{2, 3, 4, 5, 3, 5}).Keep()
	search := &decode.Search{
		Begin: []int32{1, 1}, End: 0, Longest: []int{4}, State: net.Start(grad.NewEval(), e).Keep(),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			return net.Step(t, e, attention.Live{Step: l.Step, Last: l.Last, Sentence: l.Sentence}, l.State)
		},
	}
	found, err := decode.Beam{Width: 2}.Run(search)
	fmt.Println(len(found), "sentences were found", err)
	// Output:
	// pair 0 has 3 steps, which look at 4 tokens
	// pair 1 has 2 steps, which look at 2 tokens
	// 2 sentences were found <nil>
}

// Attention that sees where the step before looked: before the first step all is on the
// first token, and a filter carries it on.
func ExampleLocationAttention() {
	follow := &attention.RNNsearch{
		Source: 6, Target: 6, Begin: 1, Embed: 4, Hidden: 5,
		Align: &attention.LocationAttention{Key: 10, Query: 5, Hidden: 5, Filters: 3, Width: 5},
	}
	follow.Init(rand.New(rand.NewPCG(1, 2)))
	_, look := follow.Apply(grad.NewEval(), graph.Chains(3), []int32{2, 3, 4}, graph.Chains(2), []int32{1, 5})
	fmt.Println(look.Carried.Shape()) // a weight for each edge, of each step
	// Output: [6 1]
}
