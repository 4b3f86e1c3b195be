package main

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

// taskOf returns Cora, and a recipe of a model without dropout.
func taskOf(t *testing.T, model string) (*task, recipe) {
	t.Helper()
	k, err := openTask("", "cora", choice{splits: splitsOwn})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecipe("paper", model, "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = 0, 0
	return k, r
}

// What a network gives on blocks is what it gives on the whole graph, for every
// model.
func TestBatchesEqualTheWhole(t *testing.T) {
	for _, name := range modelNames() {
		if m, err := findModel(name); err != nil || m.whole {
			continue
		}
		t.Run(name, func(t *testing.T) {
			k, r := taskOf(t, name)
			r.Batch = 16
			net, err := newNetwork(r, k.Features.Shape()[1], k.Classes)
			if err != nil {
				t.Fatal(err)
			}
			whole := net.Forward(grad.NewEval(), k.hop(net), k.features).Value()
			b := newBatches(k, net)
			seeds := []int32{7, 1358, 0, 2707, 300}
			p := b.around(seeds)
			part := net.run(grad.NewEval(), p).Value()
			for i, v := range seeds {
				for j, got := range part.Row(i) {
					if want := whole.Row(int(v))[j]; math.Abs(float64(got-want)) > 1e-5*(1+math.Abs(float64(want))) {
						t.Fatalf("node %d, class %d: %g on blocks, %g on the whole graph", v, j, got, want)
					}
				}
			}
			if n := p.hops[len(p.hops)-1].graph.NumDst(); n != len(seeds) {
				t.Errorf("the last block has %d destinations", n)
			}
		})
	}
}

// An epoch takes every training node once, in an order of its own.
func TestBatchesOrder(t *testing.T) {
	k, r := taskOf(t, "gcn")
	r.Batch = 50
	net, err := newNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		t.Fatal(err)
	}
	b := newBatches(k, net)
	if b.steps() != 3 {
		t.Errorf("140 nodes by 50 are %d steps", b.steps())
	}
	b.shuffle(0)
	first := b.order
	b.shuffle(1)
	second := b.order
	b.shuffle(0)
	if slices.Equal(first, second) || !slices.Equal(first, b.order) {
		t.Error("the order is no function of the epoch, or is the same in every epoch")
	}
	if !slices.Equal(slices.Sorted(slices.Values(second)), k.split.Train) {
		t.Error("an epoch does not take each training node once")
	}
}

// One batch of all nodes is the training on the whole graph.
func TestOneBatch(t *testing.T) {
	whole := results(t, "train", "--json", "--epochs", "3", "--dropout", "0", "--rows", "all")
	batch := results(t, "train", "--json", "--epochs", "3", "--dropout", "0", "--batch", "140")
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
