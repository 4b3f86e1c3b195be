package peers

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/models"
)

func init() { task.All = []task.Task{node.Task{}} } // as the command does

// The scripts in peers draw the same split: these are the first that theirs
// takes, to train on and to validate, of 200 nodes whose class is v mod 3 mod 2.
func TestPerClass(t *testing.T) {
	labels := make([]int32, 200)
	for v := range labels {
		labels[v] = int32(v%3) % 2
	}
	labels[199] = -1
	s := perClass(labels, 2)
	if err := disjoint(s, 199); err != "" {
		t.Error(err)
	}
	for c := range int32(2) {
		if n, m := countOf(labels, s.Train, c), countOf(labels, s.Val, c); n != 20 || m != 30 {
			t.Errorf("class %d: %d nodes to train on and %d to validate, want 20 and 30", c, n, m)
		}
	}
	if want := []int32{0, 5, 10, 13, 18}; !slices.Equal(s.Train[:5], want) {
		t.Errorf("trains on %v, want %v first", s.Train[:5], want)
	}
	if want := []int32{1, 2, 4, 7, 15}; !slices.Equal(s.Val[:5], want) {
		t.Errorf("validates on %v, want %v first", s.Val[:5], want)
	}
}

func countOf(labels, nodes []int32, class int32) int {
	n := 0
	for _, v := range nodes {
		if labels[v] == class {
			n++
		}
	}
	return n
}

// disjoint says what is wrong with a split of that many nodes.
func disjoint(s datasets.Split, nodes int) string {
	all := slices.Concat(s.Train, s.Val, s.Test)
	slices.Sort(all)
	if len(all) != nodes || len(slices.Compact(all)) != nodes {
		return "a node is missing or in two parts"
	}
	return ""
}

// The settings are those of PyG's examples, for all of the datasets.
func TestSettings(t *testing.T) {
	s := trainings.Settings{Epochs: 7, Seed: 3, Rows: trainings.RowsNeeded}
	for _, model := range []string{"gat", "gcn", "sage"} {
		k, r, err := open(s, model, "cora")
		if err != nil {
			t.Fatal(err)
		}
		if r.Epochs != 7 || r.Seed != 3 || r.OutHeads != 1 || r.Select != "last" || r.Layers != 2 || r.Start != models.StartGlorot {
			t.Errorf("%s: got %+v", model, r)
		}
		if loops := k.Looped.NumEdges() - k.Graph.NumEdges(); loops != 0 != (model != "sage") {
			t.Errorf("%s: %d self-loops", model, loops)
		}
	}
	_, gat, _ := open(s, "gat", "cora")
	_, gcn, _ := open(s, "gcn", "cora")
	_, sage, _ := open(s, "sage", "cora")
	if gat.Hidden != 8 || gat.Heads != 8 || gat.Dropout != 0.6 || gat.LR != 5e-3 || gat.WeightDecay != 5e-4 || gat.Decayed != node.DecayAll {
		t.Errorf("gat: got %+v", gat)
	}
	if gcn.Hidden != 16 || gcn.Dropout != 0.5 || gcn.LR != 1e-2 || gcn.WeightDecay != 5e-4 || gcn.Decayed != node.DecayFirst {
		t.Errorf("gcn: got %+v", gcn)
	}
	if gcn.Model, gcn.Seed = "sage", sage.Seed; gcn != sage {
		t.Errorf("sage: got %+v, want gcn's settings", sage)
	}
}

// What is left out of a training, it is left out of the one that train/DATASET times:
// without dropout, loss and labels are the same to the bit.
func TestGAT(t *testing.T) {
	k, r, err := open(trainings.Settings{Epochs: 1, Rows: trainings.RowsNeeded}, "gat", "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = 0, 0
	fit, _, err := k.NewFit(r)
	if err != nil {
		t.Fatal(err)
	}
	gat, err := newGAT(k, r)
	if err != nil {
		t.Fatal(err)
	}
	loss := func(p trainings.Pass) float64 {
		tape := grad.NewTape(gat.Seed)
		x := p.X
		for i, l := range gat.Layers {
			x = l.Forward(tape, p.Graphs[i], x)
		}
		if p.Rows != nil {
			x = x.Rows(p.Rows)
		}
		return float64(x.CrossEntropy(gat.Labels).Value().Data[0])
	}
	want := float64(fit.Loss(grad.NewTape(r.Seed)).Value().Data[0])
	if got := loss(gat.Needed); got != want {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	if got := loss(gat.All); math.Abs(got-want) > 1e-5 {
		t.Errorf("the loss of all rows is %v, want %v", got, want)
	}
	if needed, all, whole := gat.Needed.Graphs[1].NumDst(), gat.All, gat.Whole; needed != len(gat.Labels) || all.Graphs[0] != k.Looped || whole.Graphs[1] != k.Looped || whole.Rows != nil {
		t.Errorf("a step computes %d rows of the last layer, want %d; an evaluation %v", needed, len(gat.Labels), whole)
	}
}
