package node

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Without a flag, features of both signs are learnt from, with few labels and with
// many. Divided by the sums of their rows they were not: of few labels GCN had 88 % and GAT 18.
func TestGaussianFeatures(t *testing.T) {
	few, many := tasktest.Saved(t, tasktest.Gaussian(t, 400, 20)), tasktest.Saved(t, tasktest.Gaussian(t, 1200, 100))
	for _, tt := range []struct{ file, model, preset string }{
		{few, "gcn", "shchur"}, {few, "gat", "shchur"}, {many, "gcn", "deep"}, {many, "gat", "deep"},
	} {
		epochs := "60" // the preset has more, and half the rate; it is to be quick
		if tt.file == many {
			epochs = "10"
		}
		lines := tasktest.Results(t, "train", "--json", "--dataset", tt.file, "--model", tt.model, "--epochs", epochs, "--lr", "0.02")
		s := lines[len(lines)-1]
		if a := s["test_accuracy"].(float64); a < 0.95 || s["features"] != "raw" || s["preset"] != tt.preset {
			t.Errorf("%s: test accuracy %v, features %v, preset %v, want at least 0.95, raw, %s", tt.model, a, s["features"], s["preset"], tt.preset)
		}
	}
	if text := tasktest.OK(t, "train", "--dataset", few, "--epochs", "2"); !strings.Contains(text, "\npreset: shchur (few labels: 20 training nodes per class); features: raw (some\nvalues are negative)\n") {
		t.Errorf("the summary does not say why:\n%s", text)
	}
	if text := tasktest.OK(t, "train", "--dataset", few, "--features", "standard", "--epochs", "2"); !strings.Contains(text, "\npreset: shchur (few labels: 20 training nodes per class); features: standard\n") {
		t.Errorf("--features changes whose settings are taken:\n%s", text)
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--dataset", few, "--features", "rows", "--epochs", "2")
	if status != cli.Failed || !strings.HasPrefix(stderr, "gatbench: features as rows: the features of node ") {
		t.Errorf("--features rows: status %d, %q", status, stderr)
	}
}

// Which settings a dataset gets follows from its features, its own split and how
// many labels there are.
func TestSuits(t *testing.T) {
	k, _ := taskOf(t, "gat")
	if s := k.Suits("gat"); s.Preset != "quick" || task.Form(k.Preparation.Features.Form) != task.FormRows {
		t.Errorf("Cora gets %v, features %s", s, k.Preparation.Features.Form)
	}
	if err := k.setSplit(Choice{Splits: source.SplitsShchur, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if s := k.Suits("gat"); s.Preset != "quick" { // its own split is still Planetoid's
		t.Errorf("Cora with another split gets %v", s)
	}
	own := *k.Dataset
	if got := [...]task.Form{k.FormFor("paper"), k.FormFor("shchur"), k.FormFor("graphsaint")}; got != [...]task.Form{task.FormRows, task.FormRaw, task.FormRaw} {
		t.Errorf("Cora's words become %v", got)
	}
	counts := own
	counts.Features = sparse.FromDense(tensor.Of(slices.Repeat([]tensor.Float{0, 3, 0, 1}, 2708), 2708, 4))
	if c := suitGAT(NewExamples(&counts)); task.Form(c.Preparation.Features.Form) != task.FormRows || c.FormFor("shchur") != task.FormBinary || c.FormFor("graphsaint") != task.FormRaw {
		t.Errorf("counts become %s", c.FormFor("shchur"))
	}
	for _, tt := range []struct {
		change func(s *datasets.Split)
		want   string
	}{
		{func(s *datasets.Split) { s.Val = s.Val[:499] }, "shchur"},
		{func(s *datasets.Split) { s.Train = s.Train[1:] }, "shchur"},
		{func(s *datasets.Split) { *s = datasets.Split{} }, "shchur"},
		{func(s *datasets.Split) {}, "quick"},
	} {
		d := own
		tt.change(&d.Split)
		if s := NewExamples(&d).Suits("gat"); s.Preset != tt.want {
			t.Errorf("a split of %d and %d gets %v, want %s", len(d.Split.Train), len(d.Split.Val), s, tt.want)
		}
	}
	for share, want := range map[int]string{20: "shchur", 99: "shchur", 100: "deep"} {
		if s := NewExamples(tasktest.Gaussian(t, 1200, share)).Suits("gat"); s.Preset != want || !strings.Contains(s.because, "labels: ") {
			t.Errorf("%d labels of a class get %v, want %s", share, s, want)
		}
	}
}

// What is trained on Planetoid's data without a preset is
// what the preset quick says: no setting of these has moved.
func TestPlanetoidKeepsItsSettings(t *testing.T) {
	k, _ := taskOf(t, "gat")
	for _, name := range []string{"cora", "citeseer", "pubmed"} { // whose settings follow from the name
		for _, model := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
			f := &Training{Flags: &task.Flags{SettingFlags: task.SettingFlags{Dataset: &name, Model: &model}}}
			got, err := f.fresh()
			if err != nil {
				t.Fatal(err)
			}
			named := *k
			named.Called = name
			if got, err = f.settled(&named, got); err != nil {
				t.Fatal(err)
			}
			want, err := NewRecipe("quick", model, name)
			if err != nil {
				t.Fatal(err)
			}
			want.Features = task.FormRows
			if flag, a, b := task.Differs(got, want); flag != "" {
				t.Errorf("%s on %s: --%s is %s, want %s", model, name, flag, a, b)
			}
		}
	}
}

// The form of the features is part of a model and of a run.
func TestFormIsSaved(t *testing.T) {
	dir := t.TempDir()
	model, run, old := filepath.Join(dir, "m"), filepath.Join(dir, "run"), filepath.Join(dir, "old")
	lines := tasktest.Results(t, "train", "--json", "--dataset", tasktest.Saved(t, tasktest.Gaussian(t, 300, 20)), "--features", "standard", "--epochs", "4", "--save", model, "--checkpoint", run)
	s, e := lines[4], tasktest.Results(t, "eval", "--json", model)[0]
	for _, key := range []string{"features", "test_accuracy", "test_majority", "test_balanced_accuracy", "test_macro_f1"} {
		if s[key] != e[key] {
			t.Errorf("%s was %v and is %v", key, s[key], e[key])
		}
	}
	if e["features"] != "standard" || e["test_majority"] != 0.2 {
		t.Errorf("eval says %v", e)
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--resume", run, "--features", "rows")
	if want := "gatbench: --resume " + run + ": its run has --features standard, not rows: leave the flag out\n"; status != cli.Misused || stderr != want {
		t.Errorf("status %d, %q, want %q", status, stderr, want)
	}
	if s := tasktest.Results(t, "train", "--json", "--resume", run, "--epochs", "5"); s[len(s)-1]["features"] != "standard" {
		t.Errorf("a run goes on with %v", s[len(s)-1])
	}
	// A file of the time when there was no such setting means rows, and one dropout.
	tasktest.OK(t, "train", "--epochs", "2", "--dropout", "0.5", "--checkpoint", model)
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	without := bytes.Replace(text, []byte(`\"Features\":\"rows\",`), []byte(strings.Repeat(" ", len(`\"Features\":\"rows\",`))), 1)
	without = bytes.Replace(without, []byte(`\"AttnDrop\":0.5,`), []byte(strings.Repeat(" ", len(`\"AttnDrop\":0.5,`))), 1)
	if err := os.WriteFile(old, without, 0o600); err != nil || bytes.Equal(text, without) {
		t.Fatal(err)
	}
	n, err := Open(old)
	if err != nil || n.Recipe.Features != task.FormRows || n.Recipe.AttnDrop != 0.5 {
		t.Errorf("an old model: %v, %+v", err, n)
	}
}

// Each form reaches the training, and the task's neighbourhoods, which hold
// features, follow it.
func TestForms(t *testing.T) {
	loss, file := map[any]string{}, tasktest.Saved(t, tasktest.Gaussian(t, 300, 20))
	for _, more := range [][]string{nil, {"--features", "standard"}, {"--features", "binary"}, {"--attention-dropout", "0.1"}, {"--preset", "quick"}} {
		l := tasktest.Results(t, append([]string{"train", "--json", "--dataset", file, "--epochs", "2"}, more...)...)[1]["loss"]
		if before, is := loss[l]; is {
			t.Errorf("%v changes nothing against %q: loss %v", more, before, l)
		}
		loss[l] = strings.Join(more, " ")
	}
	k, r := taskOf(t, "gcn")
	first, _ := trained(t, k, r)
	as := func(f task.Form) *Network {
		t.Helper()
		r.Features = f
		if err := k.Suit(&r); err != nil {
			t.Fatal(err)
		}
		n, _ := trained(t, k, r)
		return n
	}
	raw, again := as(task.FormRaw), as(task.FormRows)
	w := func(n *Network) []tensor.Float { return paramOf(n, "Layers.0.W").Value.Data }
	if !slices.Equal(w(first), w(again)) || slices.Equal(w(first), w(raw)) {
		t.Error("a task's features are not those that it was told to use")
	}
}

// A training that was still getting better says so, and --epochs extends it.
func TestLongerTraining(t *testing.T) {
	if text := tasktest.OK(t, "train", "--epochs", "3"); !strings.Contains(text, "longer training may help: try --epochs 15\n") {
		t.Errorf("three epochs are enough:\n%s", text)
	}
	file := tasktest.Saved(t, tasktest.Gaussian(t, 200, 20)) // the paper's 200 epochs are extended
	if lines := tasktest.Results(t, "train", "--json", "--dataset", file, "--preset", "paper", "--model", "mlp", "--patience", "0", "--epochs", "201"); len(lines) != 202 {
		t.Errorf("--epochs 201 trains %d", len(lines)-1)
	}
}

// Features of a large scale are said to be, unless they are made of one scale or are words; a
// matrix that is sparse has the deviations of the dense one.
func TestLargeScale(t *testing.T) {
	const hint, shop = "so equal scales may help: try --features standard", "../../../datasets/testdata/shop_edges.csv --label churned --column age=plain --undirected"
	matrix := filepath.Join(t.TempDir(), "m.json")
	var nodes, links []string
	for v := range 40 {
		nodes, links = append(nodes, fmt.Sprintf(`{"id": %d, "x": [%d, 1], "label": %d}`, v, 40*v, v%2)), append(links, fmt.Sprintf(`{"source": %d, "target": %d}`, v, (v+1)%40))
	}
	if err := os.WriteFile(matrix, []byte(`{"nodes": [`+strings.Join(nodes, ",")+`], "links": [`+strings.Join(links, ",")+`]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	matrix += " --splits random"
	for args, want := range map[string]bool{
		"--dataset " + matrix: true, "--features binary --dataset " + matrix: true, "--features standard --dataset " + matrix: false,
		"--dataset " + shop: false, "--dataset cora": false, "--features raw --dataset karate --splits random": false,
	} {
		text := tasktest.OK(t, append(strings.Fields("train --epochs 2 "), strings.Fields(args)...)...)
		if got := strings.Contains(strings.Join(strings.Fields(text), " "), hint); got != want {
			t.Errorf("%s: %v, want %v, in\n%s", args, got, want, text)
		}
	}
	dense := tensor.Of([]tensor.Float{0, 30, 3, 0, 0, 10, 1, 0}, 4, 2) // columns 0 3 0 1 and 30 0 10 0
	bag, err := sparse.FromMat(dense.Matrix())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []tensor.Array{dense, bag} {
		got, large := (&datasets.Dataset{Features: x}).LargestDeviation()
		if want := math.Sqrt(150); math.Abs(got-want) > 1e-9 || !large {
			t.Errorf("%T: %g, want %g", x, got, want)
		}
	}
	moment := tensor.New(12345, 1) // the same large number in each row
	moment.Fill(123456792)
	if got, large := (&datasets.Dataset{Features: moment}).LargestDeviation(); got > 1e-3 || large {
		t.Errorf("a column of one large number deviates by %g", got)
	}
}

// The deeper network is made again by its files, is what --preset deep asks for, keeps other flags, and has as many layers as neighbours are
// drawn for.
func TestDeep(t *testing.T) {
	dir, file := t.TempDir(), tasktest.Saved(t, tasktest.Gaussian(t, 1200, 100))
	model, run := filepath.Join(dir, "m"), filepath.Join(dir, "run")
	args := []string{"train", "--json", "--dataset", file, "--hidden", "8"}
	last := func(more ...string) map[string]any {
		lines := tasktest.Results(t, append(slices.Clone(args), more...)...)
		return lines[len(lines)-1]
	}
	want := last("--epochs", "4", "--save", model)
	if e := tasktest.Results(t, "eval", "--json", model)[0]; e["test_accuracy"] != want["test_accuracy"] || want["preset"] != PresetDeep {
		t.Errorf("eval says %v, the training %v", e, want)
	}
	if got := last("--epochs", "4", "--preset", "deep"); got["val_accuracy"] != want["val_accuracy"] || got["best_epoch"] != want["best_epoch"] {
		t.Errorf("--preset deep is %v, not %v", got, want)
	}
	last("--epochs", "2", "--checkpoint", run)
	lines := tasktest.Results(t, "train", "--json", "--resume", run, "--epochs", "4")
	if got := lines[len(lines)-1]; got["test_accuracy"] != want["test_accuracy"] || got["best_epoch"] != want["best_epoch"] {
		t.Errorf("a run that goes on ends with %v, not %v", got, want)
	}
	for more, layers := range map[string]string{
		"": "GAT, 2 layers with 4 heads of width 16; ", "--layers 4": "GAT, 4 layers ", "--batch 40": "GAT, 2 layers ", "--batch 40 --fanout 3,3 --hidden 4": "GAT, 2 layers with 4 heads of width 4; ",
		"--batch 40 --fanout 3,3,all --layers 3": "GAT, 3 layers ", "--model gcn": "GCN, layers of width 64, then 64; ", "--model h2gcn": "H2GCN, layers of width 64, then ",
	} {
		text := tasktest.OK(t, append([]string{"train", "--dataset", file, "--epochs", "2"}, strings.Fields(more)...)...)
		if !strings.Contains(text, ": "+layers) {
			t.Errorf("%s: no %q in\n%s", more, layers, text)
		}
		flat := strings.Join(strings.Fields(text), " ")
		because := "preset: deep (many labels: 100 training nodes per class; --preset graphsaint takes two layers without norms and residuals); features: raw"
		if more == "--model h2gcn" {
			because = "preset: graphsaint (many labels: 100 training nodes per class); features: raw"
		}
		_, next, _ := strings.Cut(flat, "next: ")
		if !strings.Contains(flat, because) || strings.Count(next, " --") != 2+strings.Count(more, "--") {
			t.Errorf("%s: no %q, or flags that say nothing, in\n%s", more, because, text)
		}
	}
}

// Sizes alone decide whether a step takes all examples, on every machine in the same way: batches pay where they read a small part of the graph.
func TestCutByShape(t *testing.T) {
	sparseRows := func(nodes, edges, examples, columns, kinds int) stepShape {
		return stepShape{nodes: nodes, edges: edges, examples: examples, ends: 1, columns: columns, sparse: true, width: 64, layers: 3, kinds: kinds, noun: "node"}
	}
	million := stepShape{nodes: 1e6, edges: 11e6, examples: 6e5, ends: 1, columns: 64, width: 64, layers: 3, noun: "node"}
	dense, few, short, hubs, wide := sparseRows(13752, 505474, 8251, 267, 0), million, million, million, million
	few.examples, short.layers = 500, 1
	long := stepShape{nodes: 5e5, edges: 6e6, examples: 5e5, ends: 1, columns: 128, width: 64, layers: 2, noun: "node"}
	hubs.nodes, hubs.edges, hubs.examples = 20_000, 4e6, 12_000
	wide.nodes, wide.edges, wide.examples, wide.width = 60_000, 3e6, 36_000, 8192
	for name, tt := range map[string]struct {
		shape   stepShape
		batch   int
		fanout  string
		because string
	}{
		"few labels, like PubMed":              {sparseRows(19717, 108365, 60, 50, 0), 0, "", "each step is on all 60 training nodes: a batch has 1024"},
		"many labels on a small graph":         {sparseRows(19717, 108365, 11830, 50, 0), 0, "", "each step is on all 11830 training nodes: it costs about 2.1 times a step on 1024 with drawn neighbours, and batches pay from 16 times"},
		"a small graph, like Computers":        {dense, 0, "", "it costs about 3.4 times"},
		"few neighbours, like WordNet":         {sparseRows(117659, 479297, 70595, 12, 0), 0, "", "it costs about 11.5 times"},
		"the same with a matrix for each kind": {sparseRows(117659, 479297, 70595, 12, 27), 0, "", "all 70595 training nodes"},
		"a million nodes":                      {million, 1024, "10,10,10", "a step on all 600000 training nodes costs about 10 times as much; --batch 0 takes them"},
		"a million nodes, few of which train":  {few, 0, "", "all 500 training nodes"},
		"a long step":                          {long, 1024, "10,10", "costs about"},
		"one layer":                            {short, 1024, "10", ""},
		"hundreds of neighbours":               {hubs, 1024, "10,10,10", ""},
		"more than memory should hold":         {wide, 1024, "10,10,10", "a step on all 36000 training nodes takes about 74 GiB"},
	} {
		if got := tt.shape.cut(); got.batch != tt.batch || got.fanout != tt.fanout || !strings.Contains(got.because, tt.because) {
			t.Errorf("%s: %+v, want batches of %d, %q, because %s", name, got, tt.batch, tt.fanout, tt.because)
		}
	}
	k := &Examples{Parts: datasets.Split{Train: make([]int32, 24_000)}}
	r := Recipe{Preset: PresetDeep, Epochs: 500, Patience: 100, Batch: 4096}
	if k.paced(&r); r.Epochs != 416 || r.Patience != 33 {
		t.Errorf("of 6 steps there are %d epochs with a patience of %d", r.Epochs, r.Patience)
	}
	if r = (Recipe{Preset: "shchur", Epochs: 500, Patience: 100, Batch: 1024}); true {
		if k.paced(&r); r.Epochs != 500 || r.Patience != 100 {
			t.Errorf("a published preset has %d epochs with a patience of %d", r.Epochs, r.Patience)
		}
	}
}

// ring is a graph of so many neighbours that a batch reads few of its edges.
func ring(n, near int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(3, 3))
	x := tensor.New(n, 4)
	x.Normal(rng, 0, 1)
	d := &datasets.Dataset{Name: "Ring", Classes: 4, Labels: make([]int32, n), Features: x}
	var src, dst []int32
	for v := range n {
		d.Labels[v] = int32(v * 4 / n)
		x.Row(v)[d.Labels[v]] += 2
		for j := range near {
			u := (v + j + 1) % n
			src, dst = append(src, int32(u), int32(v)), append(dst, int32(v), int32(u))
		}
	}
	d.Graph = graph.Must(graph.New(n, src, dst))
	return d
}

// A training of a large graph is in batches, says why, and goes on as it began; --batch decides otherwise, and stays decided.
func TestCutOfLargeGraphs(t *testing.T) {
	dir, file := t.TempDir(), tasktest.Saved(t, ring(4000, 100))
	args := []string{"train", "--dataset", file, "--hidden", "8", "--no-baseline"}
	last := func(more ...string) map[string]any {
		lines := tasktest.Results(t, slices.Concat(args, []string{"--json"}, more)...)
		return lines[len(lines)-1]
	}
	flat := strings.Join(strings.Fields(tasktest.OK(t, slices.Concat(args, []string{"--epochs", "1"})...)), " ")
	want := "batches of 1024 nodes; neighbours drawn for each node: 10 in layer 1, 10 in layer 2, 10 in layer 3; evaluations read all (a step on all 2400 training nodes costs about"
	if !strings.Contains(flat, want) || strings.Contains(flat, " --batch 1024") || strings.Contains(flat, " --patience") {
		t.Errorf("no %q, or flags that say nothing, in\n%s", want, flat)
	}
	run, whole := filepath.Join(dir, "run"), filepath.Join(dir, "whole")
	of := last("--epochs", "2")
	if of["batch"] != 1024.0 || of["fanout"] != "10,10,10" {
		t.Errorf("without a flag: %v", of)
	}
	last("--epochs", "1", "--checkpoint", run)
	last("--epochs", "1", "--checkpoint", whole, "--batch", "0")
	for _, tt := range []struct {
		got           map[string]any
		batch, fanout any
	}{
		{last("--epochs", "1", "--batch", "0"), nil, nil},
		{last("--epochs", "1", "--batch", "2000"), 2000.0, nil},
		{last("--epochs", "1", "--batch", "2000", "--fanout", "3,4,5"), 2000.0, "3,4,5"}, // which makes three layers
		{last("--epochs", "1", "--rows", "all"), nil, nil},
		{last("--epochs", "1", "--preset", "graphsaint"), nil, nil},
		{last("--epochs", "1", "--norm", "batch"), nil, nil},
		{last("--epochs", "1", "--layers", "4"), nil, nil},
		{last("--epochs", "1", "--model", "appnp"), nil, nil},
		{tasktest.Results(t, "train", "--json", "--resume", whole, "--epochs", "2")[1], nil, nil},
	} {
		if tt.got["batch"] != tt.batch || tt.got["fanout"] != tt.fanout {
			t.Errorf("want batches of %v, %v: %v", tt.batch, tt.fanout, tt.got)
		}
	}
	lines := tasktest.Results(t, "train", "--json", "--resume", run, "--epochs", "2")
	if got := lines[len(lines)-1]; got["batch"] != 1024.0 || got["val_accuracy"] != of["val_accuracy"] || got["test_loss"] != of["test_loss"] {
		t.Errorf("a run that goes on ends with %v, not %v", got, of)
	}
	if out := tasktest.OK(t, slices.Concat(args, []string{"--epochs", "1", "--batch", "0"})...); strings.Contains(out, "batches") {
		t.Errorf("a reason for what was asked for:\n%s", out)
	}
}

// A run that goes on may be told the form of features that it has, and keeps its other settings.
func TestResumeFeatures(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	tasktest.OK(t, "train", "--hidden", "4", "--epochs", "1", "--features", "binary", "--checkpoint", run)
	if out := tasktest.OK(t, "train", "--resume", run, "--features", "binary", "--epochs", "2"); !strings.Contains(out, "8 heads of width 4") {
		t.Errorf("other settings:\n%s", out)
	}
}
