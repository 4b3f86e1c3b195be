package node

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// trained returns the network after some epochs, and the losses of each.
func trained(t *testing.T, k *Examples, r Recipe) (*Network, []float64) {
	t.Helper()
	r.Epochs, r.Select = 2, "last"
	fit, net, err := k.NewFit(r)
	if err != nil {
		t.Fatal(err)
	}
	history, err := fit.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for _, e := range history.Epochs {
		losses = append(losses, e.Loss, e.Val.Loss)
	}
	return net, losses
}

// oneWay is a task on a graph whose edges are not both ways, with nodes that
// nobody hears, hear nobody, or both, and dense features.
func oneWay() *Examples {
	rng := rand.New(rand.NewPCG(5, 8))
	const n = 180
	d := &datasets.Dataset{Name: "one way", Classes: 3, Labels: make([]int32, n)}
	var src, dst []int32
	for v := range n {
		d.Labels[v] = int32(rng.IntN(3))
		for range rng.IntN(3) {
			src, dst = append(src, int32(rng.IntN(n))), append(dst, int32(v))
		}
	}
	x := tensor.New(n, 12)
	x.Uniform(rng, 0.1, 1)
	d.Graph, d.Features = graph.Must(graph.New(n, src, dst)), x
	for v := range int32(60) {
		d.Split.Train, d.Split.Val, d.Split.Test = append(d.Split.Train, v), append(d.Split.Val, 60+v), append(d.Split.Test, 120+v)
	}
	d.Split.Train = d.Split.Train[:20]
	return suitGAT(NewExamples(d))
}

// suitGAT prepares a task for graph attention.
func suitGAT(k *Examples) *Examples {
	if err := k.Suit(&Recipe{Model: "gat"}); err != nil {
		panic(err)
	}
	return k
}

// Training on the rows that the loss depends on is training on the whole graph:
// the same losses and the same weights, for every model.
func TestNeededRowsTrainAlike(t *testing.T) {
	alike := func(t *testing.T, k *Examples, r Recipe) {
		r.Rows = RowsNeeded
		some, losses := trained(t, k, r)
		if few := k.Needed(some).Rows == nil; few != (some.Recipe.Traits().Whole == "") {
			t.Fatalf("some rows are left out: %v", few)
		}
		r.Rows = rowsAll
		all, want := trained(t, k, r)
		compare.Near(t, "losses, and of all rows", losses, want, compare.Off(1e-4, 1e-4))
		for name, p := range grad.Params(some) {
			most := 1e-3
			switch {
			case strings.HasSuffix(name, "BKey") || strings.HasSuffix(name, "BDst"):
				continue // it moves the logits of a row alike, or nearly: its gradient is rounding
			case strings.HasSuffix(name, "WDst"):
				most = 5e-3 // and that of some of its elements
			}
			compare.Near(t, name, p.Value.Data, paramOf(all, name).Value.Data, compare.Off(most, 0))
		}
	}
	for _, name := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
		t.Run(name, func(t *testing.T) {
			r := undropped(t, name)
			if name == "gcn" || sparing.Full() && (name == "gat" || name == "sage") { // rows that are sparse, and so for all
				alike(t, mustCora(t), r)
			}
			k := oneWay()
			for _, r.Layers = range []int{1, 3, 2} {
				if name == modelH2GCN && r.Layers == 1 {
					continue // it has two at least
				}
				if r.Layers != 2 || sparing.Full() { // it has nothing that three have not
					alike(t, k, r)
				}
			}
			if name == "gat" || name == "gatv2" {
				r.Layers, r.Residual = 3, true
				alike(t, k, r)
			}
		})
	}
}

// Of Cora's rows a step needs some; where most nodes train, and for layers that
// look far, there is nothing to leave out.
func TestNeeded(t *testing.T) {
	needed := func(model string, change func(k *Examples, r *Recipe)) (*Examples, models.Pass) {
		k, r := taskOf(t, model)
		if change != nil {
			change(k, &r)
		}
		net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
		if err != nil {
			t.Fatal(err)
		}
		p := k.Needed(net)
		if p.X.Dim(0) != p.Hops[0].Graph.NumSrc() {
			t.Errorf("%s: %d rows of features, %d nodes", model, p.X.Dim(0), p.Hops[0].Graph.NumSrc())
		}
		if again := k.Needed(net); again.X != p.X {
			t.Errorf("%s: the features are gathered twice", model)
		}
		return k, p
	}
	sizes := func(p models.Pass) (out []int) {
		for _, h := range p.Hops {
			out = append(out, h.Graph.NumSrc(), h.Graph.NumDst())
		}
		return out
	}
	is := func(what string, p models.Pass, want ...int) {
		t.Helper()
		got := sizes(p)
		if len(got) != len(want) {
			t.Fatalf("%s: sizes %v, want %v", what, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: sizes %v, want %v", what, got, want)
			}
		}
	}
	_, p := needed("gat", nil)
	is("GAT", p, 1664, 644, 644, 140)
	_, p = needed("mlp", nil)
	is("MLP looks at no neighbours", p, 140, 140, 140, 140)
	_, p = needed("appnp", nil)
	is("APPNP has no blocks", p, 2708, 2708, 2708, 2708)
	_, p = needed("gcn", func(_ *Examples, r *Recipe) { r.Rows = rowsAll })
	is("all rows", p, 2708, 2708, 2708, 2708)
	train := func(n int) func(k *Examples, _ *Recipe) {
		return func(k *Examples, _ *Recipe) {
			k.Parts = datasets.Split{Train: k.Looped.DstRows()[:n], Val: k.Parts.Val, Test: k.Parts.Test}
		}
	}
	_, p = needed("gcn", train(2708))
	is("every node trains", p, 2708, 2708, 2708, 2708)
	k, p := needed("gcn", train(400))
	net, err := NewNetwork(undropped(t, "gcn"), k.Features.Shape()[1], k.Classes)
	if err != nil {
		t.Fatal(err)
	}
	if s, x := sizes(p), k.Every(net).X; s[0] != 2708 || s[1] >= 2708 || s[3] != 400 || p.X != x {
		t.Errorf("most features are read: sizes %v, copied %v", s, p.X != x)
	}
}

// A recipe without word of its rows is of a time when all were computed.
func TestOldRecipes(t *testing.T) {
	r := Recipe{}
	r.Date()
	if k := r.Choice().index(10); k != 0 {
		t.Errorf("an old recipe has the split %d", k)
	}
	if r.Rows != rowsAll {
		t.Errorf("an old recipe computes the rows %q", r.Rows)
	}
	r.Rows = RowsNeeded
	if r.Date(); r.Rows != RowsNeeded {
		t.Errorf("a new recipe computes the rows %q", r.Rows)
	}
}

func paramOf(n *Network, name string) *grad.Param {
	for other, p := range grad.Params(n) {
		if other == name {
			return p
		}
	}
	return nil
}

// Steps of --inductive see the nodes that train and the edges among them, and nothing else.
func TestInductive(t *testing.T) {
	d := tasktest.Gaussian(t, 60, 3)
	d.Weights = make([]tensor.Float, d.Graph.NumEdges())
	for e := range d.Weights {
		d.Weights[e] = tensor.Float(e%5 + 1)
	}
	k := NewExamples(d)
	k.Called = "gaussian"
	if err := k.setSplit(Choice{Splits: source.SplitsRandom}); err != nil {
		t.Fatal(err)
	}
	r := undropped(t, "gcn")
	r.Inductive = true
	if err := k.Suit(&r); err != nil {
		t.Fatal(err)
	}
	seen, err := k.training(&r)
	if err != nil {
		t.Fatal(err)
	}
	trains, within := map[int32]bool{}, 0
	for _, v := range k.Parts.Train {
		trains[v] = true
	}
	for e, v := range k.Looped.Destinations() {
		within += tasktest.Btoi(trains[v] && trains[k.Looped.In().Cols[e]])
	}
	if n := seen.Looped.NumNodes(); n != len(trains) || seen.Looped.NumEdges() != within || len(seen.Goal.Labels) != n || seen.Symmetric().Dim(0) != within {
		t.Errorf("steps see %v, want %d nodes and %d edges", seen.Looped, len(trains), within)
	}
	for i, v := range k.Parts.Train {
		if seen.Goal.Labels[i] != d.Labels[v] || seen.Rows.(*tensor.Dense).Row(i)[0] != d.Features.(*tensor.Dense).Row(int(v))[0] {
			t.Errorf("node %d has become another", v)
		}
	}
	file := tasktest.Saved(t, tasktest.Gaussian(t, 200, 20))
	for _, batch := range []string{"0", "16"} {
		s := tasktest.Results(t, "train", "--json", "--dataset", file, "--splits", "random", "--model", "gcn", "--epochs", "30", "--inductive", "--batch", batch)
		if last := s[len(s)-1]; last["test_accuracy"].(float64) < 0.5 {
			t.Errorf("batch %s: %v", batch, last)
		}
	}
}
