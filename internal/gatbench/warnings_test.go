package gatbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// shopFolder copies the shop of the docs into a folder of its own.
func shopFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"shop_nodes.csv", "shop_edges.csv", "tomorrow/shop_nodes.csv", "tomorrow/shop_edges.csv"} {
		text, err := os.ReadFile(filepath.Join("../../datasets/testdata", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Data that is no longer what the model was trained on is said to be so, wherever it is read, and unseen words and missing edges are said by
// eval and explain as by predict.
func TestSavedModelWarns(t *testing.T) {
	dir := shopFolder(t)
	edges, model := filepath.Join(dir, "shop_edges.csv"), filepath.Join(dir, "m.safetensors")
	tasktest.Says(t, "train", "--dataset", edges, "--label", "churned", "--column", "email=none", "--undirected", "--features", "standard", "--model", "sage", "--no-edge-features", "--epochs", "3", "--save", model)
	const changed = "shop_edges.csv is not what the model was trained on any more: it has changed since"
	tomorrow := filepath.Join(dir, "tomorrow")
	commands := [][]string{{"predict", model}, {"eval", model}, {"explain", model, "--node", "c001", "--method", "saliency"}, {"predict", model, "--dataset", tomorrow}}
	for _, c := range commands {
		if _, stderr := tasktest.Says(t, c...); strings.Contains(stderr, "changed since") {
			t.Errorf("gatbench %q warns of data that is as it was: %s", c, stderr)
		}
	}
	text, err := os.ReadFile(edges)
	if err == nil {
		err = os.WriteFile(edges, append(text, "c001,c002,web,3,1700689871\n"...), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if _, stderr := tasktest.Says(t, c...); !strings.Contains(stderr, changed) {
			t.Errorf("gatbench %q warns: %s, want %s", c, stderr, changed)
		}
	}
	alone := filepath.Join(tomorrow, "shop_nodes.csv")
	if err := os.Remove(filepath.Join(tomorrow, "shop_edges.csv")); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string][]string{
		"6 rows are seen each by itself":   {"predict", model, "--dataset", alone},
		"1 row is seen by itself":          {"explain", model, "--dataset", alone, "--node", "c242", "--method", "saliency"},
		"6 rows are seen each by itself\n": {"predict", model, "--dataset", alone, "--embeddings", filepath.Join(dir, "rows.csv")},
	} {
		if _, stderr := tasktest.Says(t, c...); !strings.Contains(stderr, "shop_nodes has no edges, and the model was trained with them: "+want) || !strings.Contains(stderr, `such as "Oulu" in line 4`) {
			t.Errorf("gatbench %q warns: %s, want %s", c, stderr, want)
		}
	}
	nodes := filepath.Join(dir, "shop_nodes.csv")
	if text, err = os.ReadFile(nodes); err == nil {
		err = os.WriteFile(nodes, []byte(strings.ReplaceAll(string(text), "Turku", "Aachen")), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr := tasktest.Says(t, "eval", model); !strings.Contains(stderr, `such as "Aachen" in line 2`) {
		t.Errorf("eval warns: %s", stderr)
	}
}

// A model of links reads columns as it did in training: a word that is new shifts no others. One that has learnt a row for each node answers
// about these alone.
func TestLinksReadAsTrained(t *testing.T) {
	dir := shopFolder(t)
	edges, model, rows := filepath.Join(dir, "shop_edges.csv"), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "rows.safetensors")
	train := func(to string, more ...string) {
		tasktest.Says(t, append([]string{"train", "--task", "link", "--dataset", edges, "--column", "email=none,churned=none,split=none", "--epochs", "3", "--save", to}, more...)...)
	}
	train(model, "--features", "standard")
	train(rows, "--model", "lightgcn")
	pairs := filepath.Join(dir, "pairs.csv")
	if err := os.WriteFile(pairs, []byte("c007,c009\nc030,c031\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "shop_nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want, _ := tasktest.Says(t, "predict", model, "--pairs", pairs)
	// one more customer, from a town that stands before all others, with an age beyond all others, whom no edge reaches
	other := append(lines[:len(lines):len(lines)], "c999,Aachen,1000,true,1990-05-21T00:16:00Z,x@example.org,yes,train")
	if err := os.WriteFile(filepath.Join(dir, "shop_nodes.csv"), []byte(strings.Join(other, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got, stderr := tasktest.Says(t, "predict", model, "--pairs", pairs)
	if got != want || !strings.Contains(stderr, "Aachen") {
		t.Errorf("beside another customer: %s, want %s; it warns: %s", got, want, stderr)
	}
	lines[1], lines[2] = lines[2], lines[1]
	if err := os.WriteFile(filepath.Join(dir, "shop_nodes.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := tasktest.Gatbench(t, "predict", rows, "--pairs", pairs); status != cli.Failed || !strings.Contains(stderr, `numbered 0 is "c000"`) {
		t.Errorf("rows of others: status %d, %s", status, stderr)
	}
}

// What is measured on rows of their own are these alone: those that their edges lead to are neighbours.
func TestEvalNewRows(t *testing.T) {
	dir := shopFolder(t)
	edges, model, tomorrow := filepath.Join(dir, "shop_edges.csv"), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "tomorrow")
	tasktest.Says(t, "train", "--dataset", edges, "--label", "churned", "--column", "email=none", "--undirected", "--features", "standard", "--save", model)
	text, err := os.ReadFile(filepath.Join(tomorrow, "shop_nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	stdout, _ := tasktest.Says(t, "predict", model, "--dataset", tomorrow, "--json")
	right := 0.0
	for i, line := range lines {
		if lines[i] = line + ",churned"; i > 0 {
			truth := []string{"no", "yes", "yes"}[i%3]
			if lines[i] = line + "," + truth; tasktest.Objects(t, stdout)[i-1]["name"] == truth {
				right++
			}
		}
	}
	if err := os.WriteFile(filepath.Join(tomorrow, "shop_nodes.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, _ = tasktest.Says(t, "eval", model, "--dataset", tomorrow, "--json")
	if got := tasktest.Objects(t, stdout)[0]; got["test_accuracy"] != right/6 || got["train_accuracy"] != nil {
		t.Errorf("%v are right of 6 rows, and eval says %v", right, got)
	}
}
