package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// From the first of N nodes to the last it is one layer of self-attention, N−1 steps along the
// chain, (N−1)/(K−1) layers of a causal convolution of K taps, and about the logarithm of that
// many if their dilation doubles.
func TestPathLengths(t *testing.T) {
	const taps = 3
	for _, n := range []int{9, 33, 65} {
		chain := graph.Chains(n)
		levels, err := chain.Levels()
		if err != nil {
			t.Fatal(err)
		}
		if levels.Len() != n {
			t.Errorf("a chain of %d is done in %d steps", n, levels.Len())
		}
		hop := func(g *graph.Graph) func(x *grad.Var) *grad.Var {
			return func(x *grad.Var) *grad.Var { return message.UpdateAll(g, message.CopyU(x), message.Sum) }
		}
		attend := func(x *grad.Var) *grad.Var {
			y, _ := (&message.Attention{Q: x, K: x, V: x}).Apply(nil, graph.Causal(n))
			return y
		}
		band := graph.CausalBand(n, taps-1)
		if got, want := layersToReach(n, hop(band)), int(math.Ceil(float64(n-1)/(taps-1))); got != want {
			t.Errorf("%d nodes: a convolution takes %d layers, want %d", n, got, want)
		}
		if got := layersToReach(n, hop(chain)); got != n-1 {
			t.Errorf("%d nodes: a chain takes %d steps, want %d", n, got, n-1)
		}
		if got := layersToReach(n, attend); got != 1 {
			t.Errorf("%d nodes: self-attention takes %d layers", n, got)
		}
		blocks := 0
		for reached := false; !reached; {
			blocks++
			reached = dilatedReaches(n, blocks, taps)
		}
		if want := int(math.Ceil(math.Log2(float64(n-1)/(2*(taps-1)) + 1))); blocks != want {
			t.Errorf("%d nodes: dilated it takes %d blocks, want %d", n, blocks, want)
		}
	}
}

// layersToReach is how many layers it takes until the last node's row depends on the first's.
func layersToReach(n int, layer func(x *grad.Var) *grad.Var) int {
	for layers := 1; ; layers++ {
		t := grad.NewTape(1)
		x := tensor.New(n, 2)
		x.Fill(1)
		in := t.Watch(x)
		y := in
		for range layers {
			y = layer(y)
		}
		if reaches(t, in, y) || layers > n {
			return layers
		}
	}
}

// reaches reports whether the last row of y has a gradient by the first of x.
func reaches(t *grad.Tape, x, y *grad.Var) bool {
	g := t.Backward(y.RowRange(y.Dim(0)-1, y.Dim(0)).Sum()).Of(x)
	for _, v := range g.Row(0) {
		if v != 0 {
			return true
		}
	}
	return false
}

// dilatedReaches reports whether so many blocks, of two convolutions each, hear the first of n.
func dilatedReaches(n, blocks, taps int) bool {
	widths := make([]int, blocks)
	for i := range widths {
		widths[i] = 2
	}
	l := &sequence.TCN{In: 2, Widths: widths, Kernel: taps}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for _, p := range grad.Params(l) {
		p.Value.Fill(0.1) // positive, so that no ReLU shuts a path
	}
	t := grad.NewTape(1)
	x := tensor.New(n, 2)
	x.Fill(1)
	in := t.Watch(x)
	return reaches(t, in, l.Forward(t, graph.Chains(n), in))
}
