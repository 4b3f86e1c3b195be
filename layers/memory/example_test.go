package memory_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Two patterns of eight units are stored; one comes back from a cue in which two units are
// wrong, and the energy falls on the way.
func ExampleStore() {
	patterns := tensor.Of([]tensor.Float{
		1, 1, 1, 1, -1, -1, -1, -1,
		1, -1, 1, -1, 1, -1, 1, -1,
	}, 2, 8)
	h, err := memory.Store(memory.Hebb, patterns)
	if err != nil {
		panic(err)
	}
	cue := tensor.Of([]tensor.Float{1, 1, 1, -1, -1, -1, -1, -1}, 1, 8)
	found, err := h.Recall(cue, memory.Recall{Trace: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.States.Data)
	fmt.Println("energy", found.Energy[0])
	// Output:
	// [1 1 1 1 -1 -1 -1 -1]
	// energy [-1.5 -3]
}

// A name calls up a face, and the face the name.
func ExamplePair() {
	names := tensor.Of([]tensor.Float{
		1, 1, 1, 1, -1, -1, -1, -1,
		1, -1, 1, -1, 1, -1, 1, -1,
	}, 2, 8)
	faces := tensor.Of([]tensor.Float{1, -1, 1, -1, 1, 1}, 2, 3)
	m, err := memory.Pair(names, faces)
	if err != nil {
		panic(err)
	}
	_, face, err := m.Recall(tensor.Of([]tensor.Float{1, 1, 1, 1, -1, -1, -1, 1}, 1, 8)) // the last unit is wrong
	if err != nil {
		panic(err)
	}
	fmt.Println(face.Data)
	// Output:
	// [1 -1 1]
}

// Units between −1 and +1 come to rest at a pattern's signs, and inside of its corners.
func ExampleContinuous() {
	h, err := memory.Store(memory.Hebb, tensor.Of([]tensor.Float{1, 1, -1, -1}, 1, 4))
	if err != nil {
		panic(err)
	}
	soft := &memory.Continuous{Net: h, Beta: 2, RungeKutta: true}
	found, err := soft.Recall(tensor.Of([]tensor.Float{0.5, 0.4, -0.3, 0.2}, 1, 4))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f\n", found.States.Data)
	// Output:
	// [0.86 0.86 -0.86 -0.86]
}

// Attention is a memory that falls back in one step: the cue is between two of the three
// patterns, and nearer to the first.
func ExampleModern() {
	patterns := tensor.Of([]tensor.Float{1, 0, 0, 1, -1, -1}, 3, 2)
	cue := tensor.Of([]tensor.Float{0.8, 0.4}, 1, 2)
	near := &memory.Modern{Beta: 20}
	fmt.Printf("%.3f\n", near.Retrieve(patterns, cue).Data)
	fmt.Printf("%.3f\n", (&memory.Modern{Beta: 1}).Retrieve(patterns, cue).Data)
	// Output:
	// [1.000 0.000]
	// [0.479 0.296]
}

// walks are stories in which three people, words 0 to 2, go to four places, words 3 to 6, and
// one of them is asked for.
func walks(rng *rand.Rand, n int) []memory.Story {
	out := make([]memory.Story, n)
	for i := range out {
		last := map[int32]int32{}
		for range 2 + rng.IntN(4) {
			who, where := int32(rng.IntN(3)), int32(3+rng.IntN(4))
			out[i].Sentences, last[who] = append(out[i].Sentences, []int32{who, where}), where
			out[i].Question, out[i].Answer = []int32{who}, where
		}
		if who := int32(rng.IntN(3)); last[who] != 0 {
			out[i].Question, out[i].Answer = []int32{who}, last[who]
		}
	}
	return out
}

// Where is she now? Who went where is read from the story, the latest of it first.
func ExampleMemN2N() {
	rng := rand.New(rand.NewPCG(1, 2))
	net := &memory.MemN2N{Vocab: 7, Dim: 16, Memory: 8, Hops: 1}
	net.Init(rng)
	t, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	for range 300 {
		s, err := net.Batch(walks(rng, 32), rng) // corrupt stories are an error
		if err != nil {
			panic(err)
		}
		t.Reset()
		opt.Step(t.Backward(s.Loss(net.Forward(t, s))))
	}
	s, err := net.Batch(append([]memory.Story{{
		Sentences: [][]int32{{0, 3}, {0, 5}, {1, 4}}, // 0 goes to 3, then to 5; 1 goes to 4
		Question:  []int32{0}, Answer: 5,
	}}, walks(rng, 500)...), nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("right %.1f\n", s.Right(net.Forward(nil, s).Value()))
	p := net.Attention(s, 1)
	fmt.Println("looks most at the second sentence:", p[1] > p[0]+p[2])
	// Output:
	// right 1.0
	// looks most at the second sentence: true
}

// A slot is found by its key and says its value. Here each word has a column of its own, so
// that one sees what is found: who directed it, and not who starred in it.
func ExampleKeyValue() {
	const film, directed, starred, scott, ford = 0, 1, 2, 3, 4
	net := &memory.KeyValue{Vocab: 5, Dim: 5, Answers: 5}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	for i := range 5 {
		for j := range 5 {
			same := tensor.Float(0)
			if i == j {
				same = 1
			}
			net.A.Value.Row(i)[j], net.R[0].Value.Row(i)[j], net.B.Value.Row(i)[j] = 3*same, same, same
		}
	}
	s, err := net.Batch([]memory.Story{{
		Sentences: [][]int32{{directed, film}, {starred, film}},
		Values:    [][]int32{{scott}, {ford}},
		Question:  []int32{directed, film},
	}})
	if err != nil {
		panic(err)
	}
	y, weights := net.Apply(nil, s)
	fmt.Printf("found %.2f\n", weights[0].Value().Data)
	fmt.Printf("scott %.1f, ford %.1f\n", y.Value().Data[scott], y.Value().Data[ford])
	// Output:
	// found [1.00 0.00]
	// scott 3.0, ford 0.0
}

// Two chains, and a state for each of their nodes that has looked back once.
func ExampleFastWeights() {
	net := &memory.FastWeights{In: 3, Hidden: 8, Steps: 1}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	x := tensor.New(9, 3)
	x.Fill(1)
	h := net.Forward(grad.NewEval(), graph.Chains(4, 5), grad.Const(x))
	fmt.Println(h.Shape())
	// Output:
	// [9 8]
}
