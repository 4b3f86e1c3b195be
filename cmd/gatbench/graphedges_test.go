package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bonded gives the first edge of graphs a feature that says what the first label is, and the
// second edge another.
func bonded(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	y := regexp.MustCompile(`"y": \[(\d), \d\]`)
	out := filepath.Join(t.TempDir(), "mols.jsonl")
	if err := os.WriteFile(out, []byte(y.ReplaceAllString(string(text), `"edge_attr": [[$1, 1], [0, 1]], $0`)), 0o666); err != nil {
		t.Fatal(err)
	}
	return out
}

// rings are graphs whose edges alone tell their classes apart.
func rings(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		kind := "1, 1, 0, 0"
		if i%2 == 1 {
			kind = "1, 0, 1, 0"
		}
		b.WriteString(`{"x": [1, 1, 1, 1], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "directed": false, "edge_attr": [` + kind + `], "label": ` + string(rune('0'+i%2)) + "}\n")
	}
	path := filepath.Join(t.TempDir(), "rings.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Features of edges are read where there are any: what only they tell is learnt with them,
// and not without.
func TestEdgeFeaturesOfGraphs(t *testing.T) {
	data, dir := rings(t), t.TempDir()
	file := filepath.Join(dir, "m.safetensors")
	args := []string{"train", "--task", "graph", "--dataset", data, "--splits", "random", "--epochs", "20", "--hidden", "16", "--layers", "3", "--dropout", "0", "--json"}
	last := func(more ...string) map[string]any {
		lines := results(t, append(append([]string{}, args...), more...)...)
		return lines[len(lines)-1]
	}
	s := last("--save", file)
	if s["test_accuracy"] != 1.0 || s["features"] != "attributes of nodes; 1 per edge" {
		t.Errorf("with features of edges: %v", s)
	}
	if plain := last("--no-edge-features"); plain["train_accuracy"].(float64) > 0.6 || plain["features"] != "attributes of nodes" {
		t.Errorf("without features of edges: %v", plain)
	}
	if e := results(t, "eval", "--json", file)[0]; e["test_accuracy"] != 1.0 {
		t.Errorf("eval says %v", e)
	}
	if text := ok(t, "eval", file); !strings.Contains(text, "GINE on rings") {
		t.Errorf("eval says %s", text)
	}
	if rows := results(t, "predict", "--json", file); len(rows) != 60 || rows[7]["class"] != 1.0 {
		t.Errorf("%d predictions, one of which is %v", len(rows), rows[7])
	}
	nn := filepath.Join(dir, "nn.safetensors")
	if s := last("--model", "nnconv", "--save", nn); s["test_accuracy"] != 1.0 || s["model"] != "nnconv" {
		t.Errorf("nnconv: %v", s)
	}
	if e := results(t, "eval", "--json", nn)[0]; e["test_accuracy"] != 1.0 || e["model"] != "nnconv" {
		t.Errorf("eval of nnconv says %v", e)
	}
	folds := results(t, "train", "--json", "--dataset", data, "--folds", "2", "--epochs", "1", "--hidden", "4", "--layers", "2")
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
		if _, stderr, status := gatbench(t, strings.Fields(line)...); status == succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}
