package node

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
)

// taskOf returns Cora, and a recipe of a model without dropout, which it suits.
func taskOf(t *testing.T, model string) (*Examples, Recipe) {
	t.Helper()
	k, err := OpenExamples("", "cora", false, Choice{Splits: source.SplitsOwn})
	r := undropped(t, model)
	if err == nil {
		err = k.Suit(&r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k, r
}

// undropped is the recipe of a model's paper without dropout.
func undropped(t *testing.T, model string) Recipe {
	t.Helper()
	r, err := NewRecipe("paper", model, "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = 0, 0
	return r
}

// What a network gives on blocks is what it gives on the whole graph, for every
// model.
func TestBatchesEqualTheWhole(t *testing.T) {
	for _, name := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
		if m, err := FindModel(name); err != nil || m.Whole != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			k, r := taskOf(t, name)
			r.Batch = 16
			net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
			if err != nil {
				t.Fatal(err)
			}
			whole := k.said(grad.NewEval(), net)
			seeds := []int32{7, 1358, 0, 2707, 300}
			p := batchOf(t, k, net, seeds)
			part := net.Run(grad.NewEval(), p).Value()
			for i, v := range seeds {
				compare.Near(t, fmt.Sprintf("node %d on blocks, and on the whole graph", v), part.Row(i), whole.Row(int(v)), compare.Off(1e-5, 1e-5))
			}
			if n := p.Hops[len(p.Hops)-1].Graph.NumDst(); n != len(seeds) {
				t.Errorf("the last block has %d destinations", n)
			}
		})
	}
}

// batchAt is the batch of a step.
func batchAt(t *testing.T, l *sample.Loader, step uint64) *sample.Batch {
	t.Helper()
	var b *sample.Batch
	if err := l.Into(&b)(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	return b
}

// batchOf is the pass of a batch of these nodes.
func batchOf(t *testing.T, k *Examples, net *Network, seeds []int32) models.Pass {
	l := k.loader(net)
	l.Nodes, l.Size, l.Ordered = seeds, len(seeds), true
	b := batchAt(t, l, 1)
	return k.Batch(net.Network, b)
}

// The order of an epoch follows from the run's seed and the epoch, as in runs that
// older versions saved.
func TestBatchesOrder(t *testing.T) {
	k, r := taskOf(t, "gcn")
	r.Batch, r.Seed = 50, 7
	net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		t.Fatal(err)
	}
	l := k.loader(net)
	if l.Steps() != 3 {
		t.Errorf("140 nodes by 50 are %d steps", l.Steps())
	}
	for epoch := range uint64(2) {
		want := slices.Clone(k.Parts.Train)
		rng := rand.New(rand.NewPCG(7, epoch+1))
		rng.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
		var got []int32
		for step := range uint64(3) {
			got = append(got, batchAt(t, l, 3*epoch+step+1).Seeds...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("epoch %d takes the nodes in another order", epoch+1)
		}
	}
}

// One batch of all nodes is the training on the whole graph.
func TestOneBatch(t *testing.T) {
	whole := tasktest.Results(t, "train", "--json", "--epochs", "3", "--dropout", "0", "--rows", "all")
	batch := tasktest.Results(t, "train", "--json", "--epochs", "3", "--dropout", "0", "--batch", "140")
	for i := range 3 {
		a, b := whole[i]["loss"].(float64), batch[i]["loss"].(float64)
		if math.Abs(a-b) > 1e-5 {
			t.Errorf("epoch %d: loss %g on the whole graph, %g on one batch", i+1, a, b)
		}
	}
	if a, b := whole[3]["test_accuracy"].(float64), batch[3]["test_accuracy"].(float64); math.Abs(a-b) > 0.01 {
		t.Errorf("test accuracy %g and %g", a, b)
	}
}
