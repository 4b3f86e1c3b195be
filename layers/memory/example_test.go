package memory_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
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
