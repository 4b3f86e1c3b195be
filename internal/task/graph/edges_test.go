package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// Features of edges are read where there are any: what only they tell is learnt with them,
// and not without.
func TestEdgeFeaturesOfGraphs(t *testing.T) {
	data, dir := tasktest.Rings(t), t.TempDir()
	file := filepath.Join(dir, "m.safetensors")
	args := []string{"train", "--task", "graph", "--dataset", data, "--splits", "random", "--epochs", "20", "--hidden", "16", "--layers", "3", "--dropout", "0", "--json"}
	last := func(more ...string) map[string]any {
		lines := tasktest.Results(t, append(append([]string{}, args...), more...)...)
		return lines[len(lines)-1]
	}
	s := last("--save", file)
	if s["test_accuracy"] != 1.0 || s["features"] != "attributes of nodes; 1 per edge" {
		t.Errorf("with features of edges: %v", s)
	}
	if plain := last("--no-edge-features"); plain["train_accuracy"].(float64) > 0.6 || plain["features"] != "attributes of nodes" {
		t.Errorf("without features of edges: %v", plain)
	}
	if e := tasktest.Results(t, "eval", "--json", file)[0]; e["test_accuracy"] != 1.0 {
		t.Errorf("eval says %v", e)
	}
	if text := tasktest.OK(t, "eval", file); !strings.Contains(text, "GINE on rings") {
		t.Errorf("eval says %s", text)
	}
	if rows := tasktest.Results(t, "predict", "--json", file); len(rows) != 60 || rows[7]["class"] != 1.0 {
		t.Errorf("%d predictions, one of which is %v", len(rows), rows[7])
	}
	nn := filepath.Join(dir, "nn.safetensors")
	if s := last("--model", "nnconv", "--save", nn); s["test_accuracy"] != 1.0 || s["model"] != "nnconv" {
		t.Errorf("nnconv: %v", s)
	}
	if e := tasktest.Results(t, "eval", "--json", nn)[0]; e["test_accuracy"] != 1.0 || e["model"] != "nnconv" {
		t.Errorf("eval of nnconv says %v", e)
	}
	folds := tasktest.Results(t, "train", "--json", "--dataset", data, "--folds", "2", "--epochs", "1", "--hidden", "4", "--layers", "2")
	if f := folds[len(folds)-1]; f["edge_features"] != 1.0 {
		t.Errorf("folds say %v", f)
	}
	half, whole := filepath.Join(dir, "half"), last("--epochs", "6")
	last("--epochs", "3", "--checkpoint", half)
	if rest := last("--epochs", "6", "--resume", half); rest["val_loss"] != whole["val_loss"] || rest["test_accuracy"] != whole["test_accuracy"] {
		t.Errorf("a run that was resumed ends with %v, one that was not with %v", rest, whole)
	}

	bare := filepath.Join(dir, "bare.jsonl")
	if err := os.WriteFile(bare, []byte(strings.Repeat(`{"x": [1, 1], "edges": [[0, 1]], "label": 0}`+"\n"+`{"x": [1, 1], "edges": [[0, 1]], "label": 1}`+"\n", 9)), 0o666); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"eval " + file + " --dataset " + bare:                                    `there is no column "edge_attr", which the model reads as 1 numbers a row`,
		"train --splits random --no-edge-features --dataset " + bare:             "--no-edge-features: the edges of bare have none: leave it out",
		"train --task graph --resume " + half + " --no-edge-features --epochs 9": "a run goes on with its own settings: leave --no-edge-features out",
		"train --splits random --model nnconv --dataset " + bare:                 "--model nnconv: it reads the features of edges, and there are none: take gin",
		"train --no-edge-features":                                               "--no-edge-features: the edges of Cora have none: leave it out",
	} {
		if _, stderr, status := tasktest.Gatbench(t, strings.Fields(line)...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}

// Numbers of atoms and bonds that are codes are learnt as such, though they stand in no order: on a split and by folds. A model keeps which
// numbers it knows, and says of graphs of a file what it said in training; a training goes on to the same bits.
func TestCodesOfGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	odd := map[int]int{6: 0, 7: 1, 8: 0, 9: 1, 15: 1, 16: 0, 17: 1, 35: 0} // the class of a graph is that of its atoms, and no line divides them
	atoms := slices.Sorted(maps.Keys(odd))
	var b strings.Builder
	for range 160 {
		a := atoms[rng.IntN(len(atoms))]
		fmt.Fprintf(&b, `{"x": [[%d, 1], [%d, 2], [%d, 1]], "edges": [[0, 1], [1, 2]], "edge_attr": [[%d], [2]], "directed": false, "label": %d}`+"\n", a, a, a, 1+rng.IntN(2), odd[a])
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("mols.jsonl"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "--task", "graph", "--dataset", at("mols.jsonl"), "--column", "x=code", "--column", "edge_attr=code", "--hidden", "8", "--layers", "2", "--lr", "0.05", "--dropout", "0", "--json"}
	split := slices.Concat(args, []string{"--splits", "random"})
	whole := tasktest.Results(t, slices.Concat(split, []string{"--epochs", "12", "--save", at("m"), "--checkpoint", at("whole")})...)
	sum := whole[len(whole)-1]
	if sum["test_accuracy"] != 1.0 || sum["features"] != "codes of nodes; 1 per edge" {
		t.Errorf("the codes are not learnt: %v", sum)
	}
	tasktest.Results(t, slices.Concat(split, []string{"--epochs", "4", "--checkpoint", at("part")})...)
	on := tasktest.Results(t, "train", "--resume", at("part"), "--epochs", "12", "--json")
	if got := on[len(on)-1]; got["val_loss"] != sum["val_loss"] || got["best_epoch"] != sum["best_epoch"] {
		t.Errorf("a training that goes on ends in %v, want %v", got, sum)
	}
	if s := tasktest.Results(t, "eval", at("m"), "--json"); s[len(s)-1]["test_accuracy"] != sum["test_accuracy"] {
		t.Errorf("the model that was saved says %v, in training %v", s, sum)
	}
	folds := tasktest.Results(t, slices.Concat(args, []string{"--folds", "2", "--epochs", "12"})...)
	if s := folds[len(folds)-1]; s["test_accuracy_mean"] != 1.0 {
		t.Errorf("by folds the codes are not learnt: %v", s)
	}
	if _, stderr, status := tasktest.Gatbench(t, "train", "--dataset", source.CSL, "--column", "x=code"); status != cli.Misused || !strings.Contains(stderr, "have no columns: leave it out") {
		t.Errorf("columns of graphs that are drawn: status %d, %s", status, stderr)
	}
	if text := tasktest.OK(t, "data", "describe", at("mols.jsonl"), "--column", "x=code"); !strings.Contains(text, "2 of them are codes: a network learns a row for each of their 10 words") {
		t.Error(text)
	}
}

// Attributes of nodes are standardised by the graphs that train, by folds and on a split; a model that was saved says what it said in training,
// and the preset of GIN's authors reads them as they are.
func TestAttributesOfGraphs(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(5, 5)), t.TempDir()
	var b strings.Builder
	for range 120 {
		a := 5000 + 30*rng.NormFloat64()
		fmt.Fprintf(&b, `{"x": [[%.1f], [%.1f]], "edges": [[0, 1]], "directed": false, "label": %d}`+"\n", a, a, tasktest.Btoi(a > 5005))
	}
	data, model := filepath.Join(dir, "ages.jsonl"), filepath.Join(dir, "m")
	if err := os.WriteFile(data, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "--task", "graph", "--dataset", data, "--hidden", "8", "--layers", "3", "--dropout", "0", "--epochs", "25", "--json"}
	all := tasktest.Results(t, slices.Concat(args, []string{"--splits", "random", "--save", model})...)
	sum := all[len(all)-1]
	if s := tasktest.Results(t, "eval", model, "--json"); s[len(s)-1]["test_accuracy"] != sum["test_accuracy"] || s[len(s)-1]["val_accuracy"] != sum["val_accuracy"] {
		t.Errorf("the model that was saved says %v, in training %v", s, sum)
	}
	if !(sum["test_accuracy"].(float64) > 0.9) {
		t.Errorf("on a split: %v", sum)
	}
	p, err := models.Load(model)
	if err != nil || p.Preparation.Features.Form != columns.Standard || !(p.Preparation.Features.Dev[0] > 10) || p.Preparation.OnlyLabels {
		t.Errorf("the attributes are prepared as %+v, error %v", p.Preparation, err)
	}
	folds := tasktest.Results(t, slices.Concat(args, []string{"--folds", "3"})...)
	if s := folds[len(folds)-1]; s["test_accuracy_mean"].(float64) < 0.9 {
		t.Errorf("by folds: %v", s)
	}
	tasktest.Results(t, slices.Concat(args, []string{"--splits", "random", "--preset", "paper", "--epochs", "1", "--save", model})...)
	if p, err = models.Load(model); err != nil || p.Preparation.Features.Form != columns.Raw || !p.Preparation.OnlyLabels {
		t.Errorf("by the preset paper attributes are prepared as %+v, error %v", p.Preparation, err)
	}
}
