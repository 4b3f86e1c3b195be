package link

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// TestLinkTask trains autoencoders of both kinds, which tell links from what is none.
func TestLinkTask(t *testing.T) {
	data := tasktest.Saved(t, tasktest.Gaussian(t, 200, 20))
	for _, model := range []string{modelGAE, "vgae"} {
		args := []string{"train", "--task", "link", "--dataset", data, "--model", model, "--epochs", "20", "--hidden", "16", "--json"}
		out, errOut, status := tasktest.Gatbench(t, args...)
		if status != cli.Succeeded {
			t.Fatalf("%s: status %d: %s", model, status, errOut)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var s linkSummary
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
			t.Fatal(err)
		}
		if len(lines) != 21 || s.Event != "summary" || s.TestAUC < 0.75 || s.TestAP < 0.75 || s.BestEpoch < 1 {
			t.Errorf("%s: %d lines, the last of which is %+v", model, len(lines), s)
		}
		again := tasktest.Results(t, append(args, "--epochs", "2", "--threads", "2")...)
		for i, o := range tasktest.Objects(t, strings.Join(lines[:2], "\n")) {
			if o["loss"] != again[i]["loss"] || o["val_auc"] != again[i]["val_auc"] || o["val_auc"] == nil {
				t.Errorf("%s: epoch %d of another run is %v, not %v", model, i, again[i], o)
			}
		}
	}
	out, errOut, _ := tasktest.Gatbench(t, "train", "--task", "link", "--dataset", "karate", "--epochs", "2", "--seeds", "2")
	if !strings.Contains(out, "2 seeds: test AUC") {
		t.Errorf("two seeds: %s%s", out, errOut)
	}
	if out, errOut, _ = tasktest.Gatbench(t, "train", "--task", "link", "--epochs", "1", "--hidden", "4"); !strings.Contains(out, "263 for validation and 527 for testing") {
		t.Errorf("one seed: %s%s", out, errOut)
	}
}

// Of tables the default also counts degrees and knows a direction, and a model that is asked for does not. A saved one gives the same scores.
func TestLinksOfTables(t *testing.T) {
	dir := t.TempDir()
	data, model := "../../../datasets/testdata/shop_edges.csv", filepath.Join(dir, "shop.safetensors")
	out, errOut, _ := tasktest.Gatbench(t, "train", "--task", "link", "--dataset", data, "--epochs", "40", "--save", model)
	if !strings.Contains(out, "its degree") {
		t.Errorf("trained: %s%s", out, errOut)
	}
	auc := regexp.MustCompile(`test (?:AUC)? +(?:62 +)?([0-9.]+) %`)
	if again, errOut, _ := tasktest.Gatbench(t, "eval", model); auc.FindString(again) == "" || auc.FindStringSubmatch(again)[1] != auc.FindStringSubmatch(out)[1] {
		t.Errorf("trained: %s\neval: %s%s", out, again, errOut)
	}
	pairs := filepath.Join(dir, "pairs.csv")
	if err := os.WriteFile(pairs, []byte("source,target\nc092,c162\nc162,c092\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	scores := tasktest.Results(t, "predict", model, "--pairs", pairs, "--json")
	asked := scores[0]["score"]
	if asked == scores[1]["score"] {
		t.Errorf("a link and the link back both score %v", asked)
	}
	var listed any
	for _, o := range tasktest.Results(t, "predict", model, "--nodes", "c092", "--top", "500", "--known", "--json") {
		if o["target"] == "c162" {
			listed = o["score"]
		}
	}
	if asked != listed || asked == nil {
		t.Errorf("the score is %v among pairs, and %v in the list", asked, listed)
	}
	if out, errOut, _ = tasktest.Gatbench(t, "train", "--task", "link", "--dataset", data, "--epochs", "2", "--model", "gae"); strings.Contains(out, "its degree") {
		t.Errorf("with --model: %s%s", out, errOut)
	}
}

// TestExampleLinkRecipe: a step of the benchmark's autoencoder is that of PyG's example. The
// loss is that of each training link, once, and of as many pairs; convolutions have biases.
func TestExampleLinkRecipe(t *testing.T) {
	r := Example()
	d, err := source.OpenData("", "cora", source.Columns{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewLinks(Source{Dataset: d}, &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, net := k.NewFit(&r)
	tape := grad.NewTape(r.Seed)
	got := float64(fit.Loss(tape).Value().Data[0])
	negatives, err := k.Draw.Draw(k.Train.NumEdges(), tape.Step())
	if err != nil {
		t.Fatal(err)
	}
	z, _ := net.Encode(grad.NewEval(), k.along, k.features)
	want := 0.0
	for sign, pairs := range map[float64]*graph.Graph{-1: k.Train, 1: negatives} {
		for e, v := range pairs.Destinations() {
			u, dot := pairs.In().Cols[e], 0.0
			for j := range r.Out {
				dot += float64(z.Value().Row(int(u))[j]) * float64(z.Value().Row(int(v))[j])
			}
			want += math.Log1p(math.Exp(sign*dot)) / float64(pairs.NumEdges())
		}
	}
	if math.Abs(got-want) > 1e-5 {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	if k.Train.NumEdges() != 4488 || net.First.B == nil || net.Second.B == nil {
		t.Errorf("%d links and biases %v and %v", k.Train.NumEdges(), net.First.B, net.Second.B)
	}
}

func TestLinkMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"--model gat":            "--model gat: it is a model of nodes and edges, not of links: write gatbench train --model gat",
		"--heads 2":              "--heads: a graph autoencoder has none: leave it out",
		"--hidden 0":             "--hidden 0: it must be at least 1",
		"--epochs 0":             "--epochs 0: it must be at least 1",
		"--lr 0":                 "--lr 0: it must be a number above 0",
		"--seeds 0":              "--seeds 0: it must be at least 1",
		"--threads=-1":           "--threads -1: it must be at least 1",
		"--features sums":        "--features sums: there is no such name",
		"--seeds 2 --save x.st":  "--save keeps one model and --seeds 2 trains 2",
		"--dataset nothing":      `there is no dataset "nothing"`,
		"--data /nowhere/at/all": "--data /nowhere/at/all: there is no such folder",
	} {
		_, errOut, status := tasktest.Gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...)
		if status != cli.Misused || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
	if _, errOut, status := tasktest.Gatbench(t, "train", "--task", "graphs"); status != cli.Misused || !strings.Contains(errOut, "task") {
		t.Errorf("--task graphs: status %d, %q", status, errOut)
	}
}

// The encodings of a task on links are those of the graph of the links that train: the others
// must not be told by them. A saved model gets the same.
func TestLinkEncoding(t *testing.T) {
	r := Kipf()
	r.Features, r.Encoding = task.FormRaw, "degree:40,core"
	d := datasets.Karate()
	k, err := NewLinks(Source{Dataset: d}, &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, hidden := k.features.Sparse().Dense(), 0
	cores := analysis.CoreNumbers(graph.Undirected(k.Train))
	for v := range d.Graph.NumNodes() {
		degree := 0 // in the links that train
		for e, u := range k.Train.In().Cols {
			degree += tasktest.Btoi(int(u) == v) + tasktest.Btoi(int(k.Train.Destinations()[e]) == v)
		}
		row := x.Row(v)[34:]
		if len(row) != 42 || row[degree] != 1 || math.Abs(float64(row[41])-math.Log(1+float64(cores[v]))) > 1e-6 {
			t.Errorf("node %d has %d links that train and is in core %d, and its encoding is %v", v, degree, cores[v], row)
		}
		hidden += d.Graph.InDegree(v) - degree
	}
	if hidden == 0 {
		t.Error("no link is held back")
	}

	for list, width := range map[string]int{"": 0, "pagerank,louvain:4": 5} {
		file := filepath.Join(t.TempDir(), "links.safetensors")
		args := []string{"train", "--task", "link", "--json", "--dataset", "karate", "--encoding", list, "--seed", "3"}
		lines := tasktest.Results(t, append(args, "--epochs", "6", "--save", file)...)
		s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		for _, key := range []string{"val_auc", "test_auc", "test_mrr"} {
			if s[key] != e[key] {
				t.Errorf("%q: %s was %v and is %v", list, key, s[key], e[key])
			}
		}
		if a, err := Open(file); err != nil || a.In != 34+width || a.Recipe.Encoding != list {
			t.Errorf("%q: the model is for %d features and the encoding %q, error %v", list, a.In, a.Recipe.Encoding, err)
		}
		if text, err := os.ReadFile(file); err != nil || list == "" && strings.Contains(string(text), "Encoding") {
			t.Errorf("a file without an encoding is another than it was, error %v", err)
		}
		if rows := strings.Count(tasktest.OK(t, "predict", file, "--nodes", "3"), "\n"); rows != 11 {
			t.Errorf("%q: predict writes %d lines", list, rows)
		}
		cut := filepath.Join(t.TempDir(), "c.safetensors")
		tasktest.Results(t, append(args, "--epochs", "3", "--checkpoint", cut)...)
		again := tasktest.Results(t, "train", "--task", "link", "--json", "--resume", cut, "--epochs", "6")
		if last := again[len(again)-1]; last["test_auc"] != s["test_auc"] || last["val_auc"] != s["val_auc"] {
			t.Errorf("%q: the run that was resumed ends at %v, want %v", list, last, s)
		}
	}
	if text := tasktest.OK(t, "train", "--task", "link", "--dataset", "karate", "--epochs", "1", "--encoding", "core"); !strings.Contains(text, "features: raw and core numbers\n") {
		t.Errorf("the page says\n%s", text)
	}
}
