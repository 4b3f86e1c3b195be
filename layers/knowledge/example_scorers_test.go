package knowledge_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/tensor"
)

// fact says that entity 0 and entity 1 have relation 0.
func fact() *graph.Graph {
	return graph.Must(graph.WithKinds(graph.Must(graph.New(2, []int32{0}, []int32{1})), []int32{0}))
}

// ends are the rows of the head and the tail of a fact.
func ends(head, tail []tensor.Float) *grad.Var {
	return grad.Const(tensor.Of(append(head, tail...), 2, len(head)))
}

func ExampleTransE() {
	s := &knowledge.TransE{Relations: 1, Width: 2, Margin: 4}
	s.Init(rand.New(rand.NewPCG(1, 2)))
	copy(s.R.Value.Data, []tensor.Float{1, 3})
	y := s.Forward(grad.NewEval(), fact(), ends([]tensor.Float{1, 0}, []tensor.Float{2, 2}))
	fmt.Println(y.Value().Data) // 4 − (|1+1−2| + |0+3−2|)
	// Output: [3]
}

func ExampleDistMult() {
	s := &knowledge.DistMult{Relations: 1, Width: 2}
	s.Init(rand.New(rand.NewPCG(1, 2)))
	copy(s.R.Value.Data, []tensor.Float{1, 3})
	y := s.Forward(grad.NewEval(), fact(), ends([]tensor.Float{1, 2}, []tensor.Float{2, 2}))
	fmt.Println(y.Value().Data) // 1·1·2 + 2·3·2
	// Output: [14]
}

func ExampleComplEx() {
	s := &knowledge.ComplEx{Relations: 1, Width: 2}
	s.Init(rand.New(rand.NewPCG(1, 2)))
	copy(s.R.Value.Data, []tensor.Float{0, 1}) // i
	y := s.Forward(grad.NewEval(), fact(), ends([]tensor.Float{2, 0}, []tensor.Float{0, 3}))
	fmt.Println(y.Value().Data) // the real part of 2·i·(−3i)
	// Output: [6]
}

func ExampleRotatE() {
	s := &knowledge.RotatE{Relations: 1, Width: 2, Margin: 4}
	s.Init(rand.New(rand.NewPCG(1, 2)))
	s.Phase.Value.Fill(0) // turned by nothing
	y := s.Forward(grad.NewEval(), fact(), ends([]tensor.Float{1, 0}, []tensor.Float{1, 3}))
	fmt.Printf("%.3f\n", y.Value().Data[0]) // 4 − |1 − (1+3i)|
	// Output: 1.000
}
