package gatbench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/models"
)

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
func TestPeersSettings(t *testing.T) {
	c := &benchCommand{Epochs: 7, Seed: 3}
	for _, model := range []string{"gat", "gcn", "sage"} {
		k, r, err := c.openPeers(model, "cora")
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
	_, gat, _ := c.openPeers("gat", "cora")
	_, gcn, _ := c.openPeers("gcn", "cora")
	_, sage, _ := c.openPeers("sage", "cora")
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

// A line of a training says what came of it, and follows the flags.
func TestBenchTraining(t *testing.T) {
	lines := Objects(t, Ok(t, "bench", "--json", "--epochs", "3", "--seed", "5", "train/cora"))
	if len(lines) != 1 || lines[0]["op"] != "citation/gat" || lines[0]["reps"] != 3.0 {
		t.Fatalf("got %v", lines)
	}
	if p := lines[0]["params"].(map[string]any); p["epochs"] != 3.0 || p["seed"] != 5.0 || p["dataset"] != "cora" {
		t.Errorf("the params are %v", p)
	}
	extra := lines[0]["extra"].(map[string]any)
	for _, name := range []string{"last_loss", "last_test_acc", "best_val_acc", "best_val_test_acc", "epoch_median_ms"} {
		if v, _ := extra[name].(float64); !(v > 0) {
			t.Errorf("%s is %v", name, extra[name])
		}
	}
	if step := lines[0]["median_ms"].(float64); extra["epoch_median_ms"].(float64) < step {
		t.Errorf("an epoch of %v ms has a step of %v", extra["epoch_median_ms"], step)
	}
	again := Objects(t, Ok(t, "bench", "--json", "--epochs", "3", "--seed", "5", "--threads", "2", "train/cora"))
	if got := again[0]["extra"].(map[string]any)["last_loss"]; got != extra["last_loss"] {
		t.Errorf("the last loss is %v, and %v on two threads", extra["last_loss"], got)
	}
	other := Objects(t, Ok(t, "bench", "--json", "--epochs", "3", "--seed", "6", "train/cora"))
	if got := other[0]["extra"].(map[string]any)["last_loss"]; got == extra["last_loss"] {
		t.Error("another seed gives the same loss")
	}
}

// A name is itself alone, though others begin with it.
func TestBenchTrainingNames(t *testing.T) {
	for pattern, want := range map[string]string{
		"train/cora":         "train/cora\n",
		"train/cora/sage":    "train/cora/sage\n",
		"train/p*":           "train/pubmed\ntrain/photo\ntrain/proteins\n",
		"train/*/gcn":        "train/cora/gcn\ntrain/citeseer/gcn\ntrain/pubmed/gcn\ntrain/photo/gcn\ntrain/cs/gcn\n",
		"read":               "read/cora\nread/citeseer\nread/pubmed\nread/mutag\nread/proteins\n",
		"ablation/*/dropout": "ablation/cora/dropout\nablation/citeseer/dropout\nablation/pubmed/dropout\n",
	} {
		if got := Ok(t, "bench", "--list", pattern); got != want {
			t.Errorf("%s: got\n%swant\n%s", pattern, got, want)
		}
	}
}

// Reading says which file is missing.
func TestBenchReading(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, stderr, status := Gatbench(t, "bench", "read/pubmed"); status != cli.Failed || !strings.Contains(stderr, "no files of pubmed") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if _, stderr, status := Gatbench(t, "bench", "--epochs=-1", "read"); status != cli.Misused || stderr != "gatbench: --epochs -1: it must be at least 1, or 0 for 200\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// A line of a training has the step, and the epoch that contains it.
func TestTrainBenchmark(t *testing.T) {
	if testing.Short() || !sparing.Full() {
		t.Skip("trains for 200 epochs: set EDGEWISE_FULL=1; TestBenchTraining has three of them")
	}
	out, err := benched(t, benchCommand{all: bench.All(bench.Choice{Threads: 1, Trainings: (&benchCommand{}).trainings()}), Patterns: []string{"train/cora"}, JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	var l bench.Line
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatal(err)
	}
	if l.Op != "citation/gat" || l.Reps != trainEpochs || l.Extra.EpochMS <= l.MedianMS {
		t.Errorf("got %s", out)
	}
}

// What is left out of a training, it is left out of the one that train/DATASET times:
// without dropout, loss and labels are the same to the bit.
func TestBenchGAT(t *testing.T) {
	k, r, err := new(benchCommand).openPeers("gat", "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = 0, 0
	fit, _, err := k.NewFit(r)
	if err != nil {
		t.Fatal(err)
	}
	gat, err := newBenchGAT(k, r)
	if err != nil {
		t.Fatal(err)
	}
	loss := func(p bench.Pass) float64 {
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
