package sample_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// million is a loader of batches of 1,024 nodes, ten neighbours a layer, on a graph of
// a million nodes and ten million edges with 64 features; with -short of a tenth of it.
func million(b *testing.B, ahead int) (*sample.Loader, []int32) {
	n := 1_000_000
	if testing.Short() {
		n /= 10
	}
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]int32, 10*n), make([]int32, 10*n)
	for i := range src {
		src[i], dst[i] = rng.Int32N(int32(n)), rng.Int32N(int32(n))
	}
	x := tensor.New(n, 64)
	for i := range x.Data {
		x.Data[i] = tensor.Float(i%17) - 8
	}
	labels := make([]int32, n)
	for v := range labels {
		labels[v] = int32(v % 16)
	}
	g := graph.Must(graph.New(n, src, dst))
	return &sample.Loader{
		Sampler: sample.Sampler{Graph: g, Fanout: []int{10, 10}, Seed: 1},
		Nodes:   g.DstRows(), Size: 1024, Features: x, Ahead: ahead,
	}, labels
}

// BenchmarkBatch draws a batch and gathers its rows, with nothing beside it.
func BenchmarkBatch(b *testing.B) {
	l, _ := million(b, -1)
	l.Epochs = math.MaxInt32
	next, stop := iter.Pull2(l.Batches(b.Context()))
	defer stop()
	next()
	for b.Loop() {
		next()
	}
}

// BenchmarkStep is a whole step of GraphSAGE of 64 and 16 columns: drawing, gathering,
// forward, backward and Adam.
func BenchmarkStep(b *testing.B) {
	for name, ahead := range map[string]int{"ahead": 0, "alone": -1} {
		b.Run(name, func(b *testing.B) {
			l, labels := million(b, ahead)
			net := &SAGE{Hidden: layers.SAGEConv{In: 64, Out: 64, Activation: grad.ReLU}, Out: layers.SAGEConv{In: 64, Out: 16}}
			rng := rand.New(rand.NewPCG(1, 0))
			net.Hidden.Init(rng)
			net.Out.Init(rng)
			opt, t := &train.Adam{LR: 0.01}, grad.NewTape(1)
			l.Epochs = math.MaxInt32
			next, stop := iter.Pull2(l.Batches(b.Context()))
			defer stop()
			step := func() {
				t.Reset()
				part, _, _ := next()
				h := net.Hidden.Forward(t, part.Blocks[0], grad.Const(part.X))
				opt.Step(t.Backward(net.Out.Forward(t, part.Blocks[1], h).CrossEntropy(part.Of(labels))))
			}
			step()
			for b.Loop() {
				step()
			}
		})
	}
}
