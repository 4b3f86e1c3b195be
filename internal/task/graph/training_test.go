package graph

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// csls runs the folds of circular skip links and returns the summary.
func csls(t *testing.T, args ...string) (s graphSummary, lines int) {
	t.Helper()
	stdout, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--dataset", "csl", "--folds", "2", "--hidden", "8", "--layers", "2", "--lr", "0.003", "--batch", "75", "--dropout", "0", "--preset", "paper", "--json"}, args...)...)
	if status != cli.Succeeded {
		t.Fatal(stderr)
	}
	for scan := bufio.NewScanner(strings.NewReader(stdout)); scan.Scan(); lines++ {
		if err := json.Unmarshal(scan.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
	}
	if s.Event != "folds" || s.Folds != 2 || len(s.PerFold) != 2 {
		t.Fatalf("the last line is %+v", s)
	}
	return s, lines
}

// Sums over neighbours say the same of all circular skip links, and walks tell them apart.
func TestCSLByEncoding(t *testing.T) {
	if s, _ := csls(t, "--epochs", "1"); s.Mean > 0.12 {
		t.Errorf("without encodings %v of them are told apart, and one of ten classes is all there is: want about 0.1", s.Mean)
	}
	s, lines := csls(t, "--epochs", "7", "--encoding", "random-walk:16")
	if s.Mean != 1 || lines != 2*7+1 {
		t.Errorf("with random walks %v of them are told apart, want all; %d lines", s.Mean, lines)
	}
}

// Folds side by side give what they give one after another, to the bit.
func TestFoldsByThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var all []graphSummary
	for _, threads := range []string{"1", "3"} {
		s, _ := csls(t, "--epochs", "1", "--encoding", "random-walk:4", "--dropout", "0.2", "--threads", threads)
		s.EpochMS, s.TotalMS = 0, 0
		all = append(all, s)
	}
	a, _ := json.Marshal(all[0])
	b, _ := json.Marshal(all[1])
	if string(a) != string(b) {
		t.Errorf("%s with one thread, %s with three", a, b)
	}
}

func TestTrainGraphs(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "epochs.csv")
	stdout, stderr, status := tasktest.Gatbench(t, "train", "--dataset", tasktest.Molecules(t), "--folds", "3", "--epochs", "2", "--hidden", "8", "--csv", csv)
	if status != cli.Succeeded || !strings.Contains(stdout, "6 graphs, 18 nodes, 30 edges, 2 classes") || !strings.Contains(stdout, "features: degrees of nodes") {
		t.Errorf("%s%s", stdout, stderr)
	}
	b, err := os.ReadFile(csv)
	if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); err != nil || len(lines) != 7 || lines[0] != "fold,epoch,loss,test_loss,test_accuracy,ms" || !strings.HasPrefix(lines[6], "2,2,") {
		t.Errorf("%s, error %v", b, err)
	}
}

// A quick training has as many epochs over all graphs as take some seconds, and the paper's 350 epochs of 50
// steps have a preset.
func TestGraphPresets(t *testing.T) {
	k, err := OpenGraphs("", source.CSL, &Recipe{}) // 150 graphs of 41 nodes
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    Recipe
		want int
	}{
		{Recipe{Folds: 10}, 129}, {Recipe{Folds: 2}, 350}, {Recipe{Folds: 5}, 292}, {Recipe{Folds: 1000}, 5}, {Recipe{Folds: 10, Splits: source.SplitsRandom}, 350},
	} {
		if got := k.quickEpochs(&c.r); got != c.want {
			t.Errorf("%d folds, splits %q: %d epochs, want %d", c.r.Folds, c.r.Splits, got, c.want)
		}
	}
	for args, want := range map[string]string{
		"":                          "quick 0 350",
		"--epochs 2":                "quick 0 2",
		"--preset paper":            "paper 50 350",
		"--preset paper --epochs 2": "paper 50 2",
		"--preset quick --seed 3":   "quick 0 350",
	} {
		var f task.Flags
		parser, err := kong.New(&f)
		if err == nil {
			_, err = parser.Parse(append([]string{"--dataset", source.CSL}, strings.Fields(args)...))
		}
		r, recipeErr := (&Training{Flags: &f}).settings(cli.Env{})
		if got := fmt.Sprintln(r.preset(), r.Steps, r.Epochs); err != nil || recipeErr != nil || got != want+"\n" || r.Folds != 10 {
			t.Errorf("%s: %s, %d folds, errors %v, %v, want %s", args, got, r.Folds, err, recipeErr, want)
		}
	}
	small := []string{"train", "--dataset", tasktest.Molecules(t), "--folds", "2", "--hidden", "2", "--layers", "2", "--batch", "2"}
	quick := tasktest.Results(t, append(small, "--json")...)
	if s := quick[len(quick)-1]; len(quick) != 2*350+1 || s["preset"] != presetQuick || s["epochs"] != 350.0 {
		t.Errorf("%d lines, the last of which is %v", len(quick), s)
	}
	if text := tasktest.OK(t, append(small, "--epochs", "2")...); !strings.Contains(strings.Join(strings.Fields(text), " "), "but shorter: 2 epochs over all graphs. --preset paper trains for their 350 epochs of 50 steps, which takes about") {
		t.Errorf("%s", text)
	}
	if text := tasktest.OK(t, append(small, "--epochs", "2", "--preset", "paper")...); strings.Contains(text, "shorter") || !strings.Contains(text, "\npreset: paper; batches of 2 graphs\n") {
		t.Errorf("%s", text)
	}
}

// A signal ends the training, which says how far it came.
func TestTrainGraphsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k, err := OpenGraphs("", tasktest.Molecules(t), &Recipe{})
	if err != nil {
		t.Fatal(err)
	}
	folds, err := k.Folds(rand.New(rand.NewPCG(1, 2)), 3)
	if err != nil {
		t.Fatal(err)
	}
	histories, _, err := k.allFolds(ctx, GIN(), folds, nil)
	if !errors.Is(err, context.Canceled) || complete(histories, 350) != 0 {
		t.Errorf("error %v, %d complete", err, complete(histories, 350))
	}
}

func TestTrainGraphsMisuse(t *testing.T) {
	path := tasktest.Molecules(t)
	for args, want := range map[string]string{
		"--save x.safetensors":    "--save keeps one model and 10 folds train 10: --splits 60/20/20 trains one",
		"--heads 3":               "--heads: attention layers on graphs have four heads, or one if --hidden is not a multiple of four: leave it out",
		"--model lstm":            "--model lstm: there is no such name; the choices are gin",
		"--preset dgl":            "--preset dgl: there is no such name; the choices are quick, paper",
		"--folds 7":               "--folds 7: 7 folds of the 6 graphs of mols that have a class",
		"--layers 1":              "--layers 1: it must be at least 2 (the features are the first layer)",
		"--encoding walk:3":       "--encoding walk: there is no such name; the choices are random-walk, laplacian, degree, pagerank, core, louvain",
		"--encoding laplacian:x":  "--encoding laplacian:x: want laplacian:K with K from 1 to 1024",
		"--data /no/such/folder":  "--data /no/such/folder: there is no such folder",
		"--task graph --lr 0":     "the rate must be a number above 0",
		"--task pair":             "--task pair: there is no such name; the choices are node, edge, graph, link",
		"--task node --epochs 1":  "mols.jsonl",
		"--csv /no/such/file.csv": "there is no folder /no/such",
	} {
		_, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--dataset", path}, strings.Fields(args)...)...)
		if status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
	for args, want := range map[string]string{ // a dataset of the other kind
		"--task graph --dataset Karate": "karate: it is a single graph: use --task node, edge or link",
		"--task link --dataset csl":     "csl: it has many graphs, not one: use --task graph",
	} {
		if _, stderr, status := tasktest.Gatbench(t, append([]string{"train"}, strings.Fields(args)...)...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
	for _, model := range []string{"gae", "lightgcn", "rotate"} {
		want := "gatbench: " + path + ": it has many graphs, not one: use --task graph, as in gatbench train " + path + " --task graph\n"
		if _, stderr, status := tasktest.Gatbench(t, "train", "--task", "link", "--model", model, "--dataset", path); status != cli.Misused || stderr != want {
			t.Errorf("%s: status %d, %s, want %s", model, status, stderr, want)
		}
	}
}
