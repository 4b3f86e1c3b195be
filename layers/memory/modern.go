package memory

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Modern is a Hopfield network of continuous states, which is attention: a state asks, the
// patterns are keys and values, and one step is usually enough.
//
//	s' = Σ_n softmax_n(β·x_n·s)·x_n
//	E(s) = −1/β·log Σ_n exp(β·x_n·s) + ½·s·s + 1/β·log N + ½·max_n x_n·x_n
//
// of Ramsauer and others, "Hopfield Networks is All You Need", ICLR 2021. The energy falls
// at every step and is never negative. A small β returns the mean of all patterns, a large
// one the nearest. With projections before and after it is multi-head attention, β = 1/√d.
//
// It has no Params: what is stored is an input, with a gradient if it wants one.
type Modern struct {
	Beta  float64 // 0: 1
	Steps int     // 0: 1
}

// Forward returns what each cue comes to. The graph goes from patterns to cues: a cue hears
// the patterns that it may come to, and one that hears none becomes zero.
func (m *Modern) Forward(t *grad.Tape, g *graph.Graph, patterns, cues *grad.Var) *grad.Var {
	const op = "memory.Modern"
	compose.WantOptions(m)
	compose.WantGraph(op, g)
	for _, x := range []struct {
		name string
		x    *grad.Var
		rows int
		of   string
	}{{"patterns", patterns, g.NumSrc(), "sources"}, {"cues", cues, g.NumDst(), "destinations"}} {
		if x.x == nil {
			panic(&grad.TapeError{Op: op, Why: x.name + " are nil"})
		}
		compose.WantDense(op, x.name, x.x, "tensor.Dense and CSR.Dense make it dense")
		if x.x.Dim(0) != x.rows {
			compose.BadShape(op, x.x, fmt.Sprintf("there are %d %s, and the graph has %d %s", x.x.Dim(0), x.name, x.rows, x.of))
		}
	}
	s := cues
	for range max(1, m.Steps) {
		att := message.Attention{Q: s, K: patterns, V: patterns, Scale: m.beta()}
		s, _ = att.Apply(t, g)
	}
	return s
}

func (m *Modern) beta() float64 { return grad.Preset(m.Beta, 1) }

// Retrieve is Forward of all cues on all patterns, a row each, without a tape.
func (m *Modern) Retrieve(patterns, cues *tensor.Dense) *tensor.Dense {
	g := graph.CompleteBipartite(patterns.Rows(), cues.Rows())
	return m.Forward(nil, g, grad.Const(patterns), grad.Const(cues)).Value()
}

// Energy returns E of each state, a row each, with all patterns stored; +Inf without any.
func (m *Modern) Energy(patterns, states *tensor.Dense) []float64 {
	if patterns.Rows() == 0 {
		return slices.Repeat([]float64{math.Inf(1)}, states.Rows())
	}
	scores := tensor.New(states.Rows(), patterns.Rows())
	tensor.MatMul(scores, states, patterns, tensor.TransB)
	longest := 0.0
	for n := range patterns.Rows() {
		longest = max(longest, square(patterns.Row(n)))
	}
	out := make([]float64, states.Rows())
	for k := range out {
		top, sum := math.Inf(-1), 0.0
		for _, v := range scores.Row(k) {
			top = max(top, float64(v))
		}
		for _, v := range scores.Row(k) {
			sum += math.Exp(m.beta() * (float64(v) - top))
		}
		out[k] = -top - math.Log(sum/float64(patterns.Rows()))/m.beta() + (square(states.Row(k))+longest)/2
	}
	return out
}

// square is ‖x‖².
func square(x []tensor.Float) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

// Nearest returns the number of the stored pattern that each state, a row, is closest to by
// its direction; of equal ones the first, and −1 where there are none.
func Nearest(patterns, states *tensor.Dense) []int {
	if patterns.Rows() == 0 {
		return slices.Repeat([]int{-1}, states.Rows())
	}
	if patterns.RowLen() != states.RowLen() {
		panic(tensor.Mismatch("memory.Nearest", patterns, states))
	}
	out := make([]int, states.Rows())
	for k := range out {
		best := math.Inf(-1)
		for n := range patterns.Rows() {
			x := patterns.Row(n)
			if c := float64(vec.Dot(x, states.Row(k))) / math.Sqrt(square(x)+1e-30); c > best {
				out[k], best = n, c
			}
		}
	}
	return out
}
