package gatbench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
)

// TestLinkTask trains autoencoders of both kinds, which tell links from what is none.
func TestLinkTask(t *testing.T) {
	data := saved(t, gaussian(t, 200, 20))
	for _, model := range []string{modelGAE, modelVGAE} {
		args := []string{"train", "--task", "link", "--dataset", data, "--model", model, "--epochs", "20", "--hidden", "16", "--json"}
		out, errOut, status := gatbench(t, args...)
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
		again := results(t, append(args, "--epochs", "2", "--threads", "2")...)
		for i, o := range objects(t, strings.Join(lines[:2], "\n")) {
			if o["loss"] != again[i]["loss"] || o["val_auc"] != again[i]["val_auc"] || o["val_auc"] == nil {
				t.Errorf("%s: epoch %d of another run is %v, not %v", model, i, again[i], o)
			}
		}
	}
	out, errOut, _ := gatbench(t, "train", "--task", "link", "--dataset", "karate", "--epochs", "2", "--seeds", "2")
	if !strings.Contains(out, "2 seeds: test AUC") {
		t.Errorf("two seeds: %s%s", out, errOut)
	}
	if out, errOut, _ = gatbench(t, "train", "--task", "link", "--epochs", "1", "--hidden", "4"); !strings.Contains(out, "263 for validation and 527 for testing") {
		t.Errorf("one seed: %s%s", out, errOut)
	}
}

// Of tables the default also counts degrees and knows a direction, and a model that is asked for does not. A saved one gives the same scores.
func TestLinksOfTables(t *testing.T) {
	dir := t.TempDir()
	data, model := "../../datasets/testdata/shop_edges.csv", filepath.Join(dir, "shop.safetensors")
	out, errOut, _ := gatbench(t, "train", "--task", "link", "--dataset", data, "--epochs", "40", "--save", model)
	if !strings.Contains(out, "its degree") {
		t.Errorf("trained: %s%s", out, errOut)
	}
	auc := regexp.MustCompile(`test (?:AUC)? +(?:62 +)?([0-9.]+) %`)
	if again, errOut, _ := gatbench(t, "eval", model); auc.FindString(again) == "" || auc.FindStringSubmatch(again)[1] != auc.FindStringSubmatch(out)[1] {
		t.Errorf("trained: %s\neval: %s%s", out, again, errOut)
	}
	pairs := filepath.Join(dir, "pairs.csv")
	if err := os.WriteFile(pairs, []byte("source,target\nc092,c162\nc162,c092\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	scores := results(t, "predict", model, "--pairs", pairs, "--json")
	asked := scores[0]["score"]
	if asked == scores[1]["score"] {
		t.Errorf("a link and the link back both score %v", asked)
	}
	var listed any
	for _, o := range results(t, "predict", model, "--nodes", "c092", "--top", "500", "--known", "--json") {
		if o["target"] == "c162" {
			listed = o["score"]
		}
	}
	if asked != listed || asked == nil {
		t.Errorf("the score is %v among pairs, and %v in the list", asked, listed)
	}
	if out, errOut, _ = gatbench(t, "train", "--task", "link", "--dataset", data, "--epochs", "2", "--model", "gae"); strings.Contains(out, "its degree") {
		t.Errorf("with --model: %s%s", out, errOut)
	}
}

// TestExampleLinkRecipe: a step of the benchmark's autoencoder is that of PyG's example. The
// loss is that of each training link, once, and of as many pairs; convolutions have biases.
func TestExampleLinkRecipe(t *testing.T) {
	r := exampleLinkRecipe()
	d, err := open("", "cora", chosenColumns{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := newLinkTask(linkData{Dataset: d}, &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, net := k.fit(&r)
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
		_, errOut, status := gatbench(t, append([]string{"train", "--task", "link"}, strings.Fields(args)...)...)
		if status != cli.Misused || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
	if _, errOut, status := gatbench(t, "train", "--task", "graphs"); status != cli.Misused || !strings.Contains(errOut, "task") {
		t.Errorf("--task graphs: status %d, %q", status, errOut)
	}
}
