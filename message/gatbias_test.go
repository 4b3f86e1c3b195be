package message_test

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attended are the operands of attention over a graph, with a bias.
type attended struct {
	g        *graph.Graph
	x, el, b *tensor.Dense
}

func newAttended(rng *rand.Rand, n int) attended {
	a := attended{graph.Must(graph.PowerLaw(rng, n, 4*n, 0.75)), tensor.New(n, 8, 8), tensor.New(n, 8, 1), tensor.New(64)}
	for _, d := range []*tensor.Dense{a.x, a.el, a.b} {
		d.Normal(rng, 0, 1)
	}
	return a
}

// step returns the sum of attention and a bias by end, and the gradients.
func (a attended) step(tape *grad.Tape, end func(y, b *grad.Var) *grad.Var) (out [][]tensor.Float) {
	tape.Reset()
	x, el, b := tape.Watch(a.x), tape.Watch(a.el), tape.Watch(a.b)
	alpha := message.UAddV(el, el.Scale(0.5)).LeakyReLU(0.2).Softmax()
	y := end(message.UpdateAll(a.g, message.U(x).Mul(alpha), message.Sum), b)
	gs := tape.Backward(y.Square().Sum())
	for _, d := range []*tensor.Dense{y.Value(), gs.Of(x), gs.Of(el), gs.Of(b)} {
		out = append(out, slices.Clone(d.Data))
	}
	return out
}

// A bias of all heads or of an element of each is added to attention on the way as
// behind it.
func TestAttentionBias(t *testing.T) {
	a := newAttended(rand.New(rand.NewPCG(3, 1)), 50)
	tape := grad.NewTape(1)
	for name, end := range map[string]func(y, b *grad.Var, add func(y, b *grad.Var) *grad.Var) *grad.Var{
		"rows": func(y, b *grad.Var, add func(y, b *grad.Var) *grad.Var) *grad.Var {
			return add(y.Reshape(50, 64), b)
		},
		"heads": func(y, b *grad.Var, add func(y, b *grad.Var) *grad.Var) *grad.Var {
			return add(y, b.Reshape(8, 8).RowRange(2, 3).Reshape(8))
		},
		"twice": func(y, b *grad.Var, add func(y, b *grad.Var) *grad.Var) *grad.Var {
			return add(add(y.Reshape(50, 64), b), b)
		},
	} {
		got := a.step(tape, func(y, b *grad.Var) *grad.Var {
			return end(y, b, func(y, b *grad.Var) *grad.Var { return y.AddBias(b, grad.Identity) })
		})
		want := a.step(tape, func(y, b *grad.Var) *grad.Var {
			b.Neg() // so that the sum and the bias run each by itself
			return end(y, b, func(y, b *grad.Var) *grad.Var { return y.AddBias(b, grad.Identity) })
		})
		for i := range want {
			for j, w := range want[i] {
				if g := got[i][j]; !(math.Abs(float64(g-w)) <= 1e-4*(1+math.Abs(float64(w)))) {
					t.Fatalf("%s: element %d of array %d is %v, want %v", name, j, i, g, w)
				}
			}
		}
	}
}

// Tapes of several goroutines share kernels' buffers, also while the collector
// takes those that are free: each has the bits it has alone.
func TestAttentionsAtOnce(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	end := func(y, b *grad.Var) *grad.Var {
		return y.Reshape(y.Dim(0), 64).AddBias(b, grad.Identity)
	}
	var wg sync.WaitGroup
	nodes := 8_300 // so many that buffers are not of slabs
	if sparing.Raced {
		nodes = 3_000 // pools are what goroutines share
	}
	for i := range 2 {
		a := newAttended(rand.New(rand.NewPCG(4, uint64(i))), nodes+1_000*i)
		want := a.step(grad.NewTape(1), end)
		wg.Go(func() {
			tape := grad.NewTape(1)
			for range 2 {
				for k, got := range a.step(tape, end) {
					if !slices.Equal(got, want[k]) {
						t.Errorf("graph %d: array %d has other bits beside others", i, k)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
