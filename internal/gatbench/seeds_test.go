package gatbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// Trainings side by side give what they give one after another, to the bit.
func TestManySeeds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	k, r := coraFor(t, "gcn")
	r.Dropout, r.Epochs, r.Seed = 0.6, 2, 5
	runs := func(threads int, splits string) []report.Summary {
		defer par.SetThreads(threads)()
		r.Splits = splits
		seen := 0
		out, err := node.ManySeeds(t.Context(), k, node.SeedsOf(r, 4), func(int, report.Summary) error { seen++; return nil })
		if err != nil || seen != 4 { // one more than threads
			t.Fatalf("%d of 4 seeds: %v", seen, err)
		}
		for i := range out {
			out[i].EpochMS, out[i].TotalMS, out[i].PeakMiB = 0, 0, 0
		}
		return out
	}
	for _, splits := range []string{"planetoid", "random"} {
		one, many := runs(1, splits), runs(3, splits)
		for i := range one {
			if one[i] != many[i] || one[i].Seed != uint64(5+i) {
				t.Errorf("%s: seed %d: %+v alone, %+v beside others", splits, 5+i, one[i], many[i])
			}
		}
		if one[0].TrainAccuracy == one[1].TrainAccuracy && one[0].TestAccuracy == one[1].TestAccuracy {
			t.Errorf("%s: two seeds give one result", splits)
		}
	}
}

func TestManySeedsFail(t *testing.T) {
	k, r := coraFor(t, "gcn")
	r.LR, r.Epochs = 1e12, 5
	if _, err := node.ManySeeds(t.Context(), k, node.SeedsOf(r, 3), func(int, report.Summary) error { return nil }); !errors.As(err, new(*train.DivergedError)) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := node.ManySeeds(ctx, k, node.SeedsOf(r, 3), func(int, report.Summary) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTable(t *testing.T) {
	args := []string{"table", "--datasets", "cora", "--models", "gat,mlp", "--seeds", "2", "--epochs", "3"}
	stdout, stderr, status := tasktest.Gatbench(t, args...)
	if status != cli.Succeeded || stderr != "" {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	lines := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"dataset model ", " Cora gat ", " 83.0 ± 0.7 ", " Cora mlp ", " over 2 seeds, starting at 0.", " gat: the epoch kept is the one with the lowest validation loss.", " At most 3 epochs; training stops after 100 epochs without a lower one. mlp: the epoch kept is the last one, "} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	cells := tasktest.Results(t, append(args, "--json")...)
	train := tasktest.Results(t, "train", "--json", "--preset", "paper", "--seeds", "2", "--epochs", "3")
	if len(cells) != 2 || cells[0]["test_accuracy_mean"] != train[len(train)-1]["test_accuracy_mean"] {
		t.Errorf("the table has %v, train %v", cells, train[len(train)-1])
	}
	if cells[0]["test_accuracy_low"].(float64) > cells[0]["test_accuracy_mean"].(float64) {
		t.Errorf("the interval is not around the mean: %v", cells[0])
	}
}

// A dataset whose files are not there is left out, with a word, unless it was
// asked for.
func TestTableWithoutFiles(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", "")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	stdout, _, status := tasktest.Gatbench(t, "table", "--models", "mlp", "--seeds", "1", "--epochs", "1")
	if status != cli.Succeeded || !strings.Contains(stdout, "left out: no files of citeseer") {
		t.Errorf("status %d, output %s", status, stdout)
	}
	_, stderr, status := tasktest.Gatbench(t, "table", "--models", "mlp", "--datasets", "pubmed", "--seeds", "1", "--epochs", "1")
	if status != cli.Failed || !strings.Contains(stderr, "no files of pubmed") {
		t.Errorf("status %d, error %s", status, stderr)
	}
}

// Nothing that a table prints is wider than a narrow terminal.
func TestTableWidth(t *testing.T) {
	stdout, _, status := tasktest.Gatbench(t, "table", "--datasets", "cora", "--models", "gat,appnp", "--seeds", "2", "--epochs", "1")
	if status != cli.Succeeded {
		t.Fatalf("status %d", status)
	}
	for line := range strings.Lines(stdout) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A suite trains the rows whose data is there, says first how long they take, and goes on with what was kept.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EDGEWISE_DATA", dir)
	d := tasktest.Gaussian(t, 60, 20)
	for i := range d.Labels {
		d.Labels[i] %= 2
	}
	d.Classes = 2
	var thirds [3][]int32
	for v := range int32(60) {
		thirds[v/2%3] = append(thirds[v/2%3], v)
	}
	d.Splits = []datasets.Split{{Train: thirds[0], Val: thirds[1], Test: thirds[2]}, {Train: thirds[1], Val: thirds[0], Test: thirds[2]}}
	d.Split = d.Splits[0]
	if err := d.SaveNPZ(filepath.Join(dir, "minesweeper.npz")); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	suite := func(more ...string) (string, string, int) {
		return tasktest.Gatbench(t, append(strings.Fields("table --suite tuned --epochs 2 --resume "+kept), more...)...)
	}
	out, stderr, status := suite("--seeds", "2")
	for _, want := range []string{
		"4 trainings in 2 rows, of which 0 are done already. The others take about", "97.86 ± 0.24", "97.73 ± 0.73", "In 0 of 2 rows",
		"left out: no file amazon-computer_split.npz in " + dir, "left out: no files of chameleon_filtered", "get it from",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) || status != cli.Succeeded {
			t.Fatalf("status %d, %s%s, want %q", status, out, stderr, want)
		}
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l struct{ Recipe node.Recipe }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		order = append(order, fmt.Sprint(l.Recipe.Seed))
		if r := l.Recipe; r.SplitNumber != source.SplitsEach || !r.Undirected || r.Select != "auc" || r.Features != task.FormRaw || r.Norm != models.NormBatch {
			t.Errorf("it was trained with %+v", r)
		}
	}
	slices.Sort(order[:2]) // two at a time may end in any order
	if slices.Sort(order[2:]); strings.Join(order, " ") != "0 0 1 1" {
		t.Errorf("the seeds are %v: the first of each row comes first", order)
	}
	if again, stderr, _ := suite("--seeds", "3"); !strings.Contains(again, "6 trainings in 2 rows, of which 4 are done already") {
		t.Errorf("again it says %s%s", again, stderr)
	}
	if _, stderr, status := tasktest.Gatbench(t, "table", "--suite", "tuned", "--data", t.TempDir(), "--models", "sage", "--epochs", "0"); status != cli.Misused {
		t.Errorf("status %d, %s", status, stderr)
	}
	t.Setenv("EDGEWISE_DATA", "")
	if _, stderr, status := tasktest.Gatbench(t, "table", "--suite", "tuned", "--data", t.TempDir()); status == cli.Succeeded || !strings.Contains(stderr, "tunedGNN") {
		t.Errorf("without data: status %d, %s", status, stderr)
	}
}

// coraFor returns Cora, and a recipe of a model without dropout.
func coraFor(t *testing.T, model string) (*node.Examples, node.Recipe) {
	t.Helper()
	k, err := node.OpenExamples("", "cora", false, node.Choice{Splits: source.SplitsOwn})
	if err != nil {
		t.Fatal(err)
	}
	r, err := node.NewRecipe("paper", model, "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Dropout, r.AttnDrop = 0, 0
	if err := k.Suit(&r); err != nil {
		t.Fatal(err)
	}
	return k, r
}

// What is tabulated on Planetoid's data without a preset is what the preset paper says.
func TestTableKeepsItsSettings(t *testing.T) {
	k, _ := coraFor(t, "gat")
	for _, name := range []string{"cora", "citeseer", "pubmed"} { // whose settings follow from the name
		for _, model := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
			named := *k
			named.Called = name
			c := &tableCommand{Models: []string{model}, Datasets: []string{name}, Seeds: 1}
			rows, err := c.recipes()
			if err != nil {
				t.Fatal(err)
			}
			if rows[0], err = c.settled(&named, rows[0]); err != nil {
				t.Fatal(err)
			}
			want, err := node.NewRecipe("paper", model, name)
			if err != nil {
				t.Fatal(err)
			}
			want.Features = task.FormRows
			if flag, a, b := task.Differs(rows[0][0], want); flag != "" {
				t.Errorf("table, %s on %s: --%s is %s, want %s", model, name, flag, a, b)
			}
		}
	}
}

// One table holds datasets of different kinds, each with its own settings.
func TestTableOfKinds(t *testing.T) {
	file := tasktest.Saved(t, tasktest.Gaussian(t, 300, 20))
	text := tasktest.OK(t, "table", "--datasets", "cora,"+file, "--models", "mlp", "--seeds", "2", "--epochs", "2")
	for _, want := range []string{"Preset on Cora: paper; features: rows.\n", "Preset on d: shchur; features: raw.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	kept := filepath.Join(t.TempDir(), "kept")
	tasktest.Results(t, "table", "--json", "--datasets", file, "--models", "mlp", "--seeds", "1", "--epochs", "2", "--resume", kept)
	g := tableLedger(kept)
	if err := g.Open(); err != nil || len(g.Of) != 1 {
		t.Errorf("kept %+v, %v", g.Of, err)
	}
	for r := range g.Of {
		if r.Features != task.FormRaw || r.Preset != "shchur" {
			t.Errorf("kept %+v", r)
		}
	}
	if text := tasktest.OK(t, "table", "--datasets", "cora", "--models", "gcn", "--splits", "shchur", "--seeds", "2", "--epochs", "2"); !strings.Contains(text, " 81.5 ± 1.3 ") || !strings.Contains(text, "Shchur and") {
		t.Errorf("nothing published stands beside shchur's splits:\n%s", text)
	}
}
