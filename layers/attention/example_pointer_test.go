package attention_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A network of tours: what a step may choose has an edge into it, and what was chosen before
// has none. So weights that have learnt nothing answer with a permutation.
func ExamplePointer() {
	net := &attention.Pointer{
		In: 2, Hidden: 8, NoRepeat: true,
		Encoder: &sequence.LSTM{In: 2, Hidden: 8},
		Decoder: &sequence.LSTM{In: 2, Hidden: 8},
		Score:   &attention.Additive{Key: 8, Query: 8, Hidden: 8},
	}
	net.Init(rand.New(rand.NewPCG(1, 2)))

	sets := graph.Chains(3, 2) // five points, of two sets
	x := grad.Const(tensor.Of([]tensor.Float{0, 0, 1, 0, 1, 1, 3, 2, 5, 5}, 5, 2))
	p, err := net.Pointing(sets, [][]int32{{0, 2, 1}, {1, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := p.Pairs.In()
	for step := range p.Pairs.NumDst() {
		fmt.Println("step", step, "may choose", in.Cols[in.Offsets[step]:in.Offsets[step+1]])
	}
	t := grad.NewTape(1)
	t.Backward(net.Loss(t, p, x)) // and so on with an optimiser

	answers, err := net.Decode(sets, x, 1)
	fmt.Println(len(answers[0]), len(answers[1]), err)
	// Output:
	// step 0 may choose [0 1 2]
	// step 1 may choose [1 2]
	// step 2 may choose [1]
	// step 3 may choose [3 4]
	// step 4 may choose [3]
	// 3 2 <nil>
}
