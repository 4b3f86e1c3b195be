package text

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Task makes sequences for tasks whose answers are known, as many as one wants and the
// same for the same seed. Its methods are the tasks:
//
//	x, y := text.Task{Count: 64, Min: 50, Seed: step}.Adding()
//
// Those of symbols number them as a [Vocabulary] does, from [First]. All of them panic with a
// [*tensor.ShapeError] if there is no sequence of such a length.
type Task struct {
	Count    int    // sequences
	Min, Max int    // lengths, each as likely; where Max is 0 all have length Min
	Symbols  int    // different symbols; 0 means 8, of Recall 4, of Retrieve 26
	Seed     uint64 // of the draws; each task draws others
}

// rng returns the draws of a task, after it has checked what is asked.
func (t *Task) rng(op string, least int) *rand.Rand {
	if t.Max == 0 {
		t.Max = t.Min
	}
	why := ""
	switch {
	case t.Count < 0:
		why = "the number of sequences is negative"
	case t.Symbols < 0:
		why = "the number of symbols is negative"
	case t.Min < least || t.Max < t.Min:
		why = fmt.Sprintf("Min is %d and Max %d, want %d or more, and Max not below Min", t.Min, t.Max, least)
	}
	if why != "" {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{t.Count, t.Max}}, Why: why})
	}
	if t.Symbols == 0 {
		t.Symbols = 8
	}
	stream := uint64(14695981039346656037) // FNV-1a of the name
	for _, c := range []byte(op) {
		stream = (stream ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(t.Seed, stream))
}

// length draws a length.
func (t *Task) length(rng *rand.Rand) int { return t.Min + rng.IntN(t.Max-t.Min+1) }

// symbols draws sequences of symbols.
func (t *Task) symbols(rng *rand.Rand) Ragged {
	r := Ragged{Offsets: make([]int, 1, t.Count+1)}
	for range t.Count {
		for range t.length(rng) {
			r.Tokens = append(r.Tokens, First+int32(rng.IntN(t.Symbols)))
		}
		r.add()
	}
	return r
}
