package message_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attended are the operands of attention over a graph, with a bias.
type attended struct {
	g        *graph.Graph
	x, el, b *tensor.Dense
}

func newAttended(rng *rand.Rand, n int) attended {
	a := attended{random.PowerLaw(rng, n, 4*n, 0.75), tensor.New(n, 8, 8), tensor.New(n, 8, 1), tensor.New(64)}
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

// truth is what the formula says of what step returns, of a bias that is added so many times. A pass adds it and takes
// it off again for the gradients of the logits: see weighedBias.
func (a attended) truth(times int, of func(b *grad.Var) *grad.Var) [][]rounding.Result {
	tape := grad.NewTape(1)
	el, b := tape.Watch(a.el), of(tape.Watch(a.b))
	alpha := message.UAddV(el, el.Scale(0.5)).LeakyReLU(0.2).Softmax()
	bias := b
	if b.Dim(0) == 64 {
		bias = b.Reshape(8, 8)
	}
	f := sum(a.g, message.U(tape.Watch(a.x)).Mul(alpha).Add(alpha.Mul(message.W(bias).Scale(float64(times)))))
	f.made = func(r *reference.Reference, leaf ops.Kind, x *tensor.Dense) (out []rounding.Number) {
		if leaf == ops.LeafV {
			for _, n := range r.Of(a.el.Data) {
				out = append(out, r.Scale(n, 0.5))
			}
		}
		return out
	}
	f.then, f.dy = biasedAlone(a.g, func(r *reference.Reference, y []rounding.Number) []rounding.Number {
		for range times {
			y = biasedBy(b.Value().Data)(r, y)
		}
		return y
	}), squares
	return f.results(a.x.Data, a.el.Data, a.b.Data)
}

// A bias of all heads or of an element of each is added to attention on the way as
// behind it.
func TestAttentionBias(t *testing.T) {
	a := newAttended(rand.New(rand.NewPCG(3, 1)), 50)
	tape := grad.NewTape(1)
	whole := func(b *grad.Var) *grad.Var { return b }
	for name, c := range map[string]struct {
		times int
		of    func(b *grad.Var) *grad.Var
	}{
		"rows": {1, whole}, "twice": {2, whole},
		"heads": {1, func(b *grad.Var) *grad.Var { return b.Reshape(8, 8).RowRange(2, 3).Reshape(8) }},
	} {
		end := func(y, b *grad.Var) *grad.Var {
			if name != "heads" {
				y = y.Reshape(50, 64)
			}
			for range c.times {
				y = y.AddBias(c.of(b), grad.Identity)
			}
			return y
		}
		apart := func(y, b *grad.Var) *grad.Var {
			b.Neg() // so that the sum and the bias run each by itself
			return end(y, b)
		}
		want := a.truth(c.times, c.of)
		for i, got := range a.step(tape, end) {
			rounding.Near(t, fmt.Sprintf("%s: array %d", name, i), got, want[i])
		}
		for i, got := range a.step(tape, apart) {
			rounding.Near(t, fmt.Sprintf("%s, apart: array %d", name, i), got, want[i])
		}
	}
}

// Tapes of several goroutines share passes' buffers, also while the collector
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
