package node

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func TestRandomSplit(t *testing.T) {
	d, err := cora.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*datasets.Dataset{d, datasets.Karate()} {
		s := randomSplit(d, 3)
		size, taken := make([]int, d.Classes), make([]int, d.Classes)
		for _, c := range d.Labels {
			size[c]++
		}
		for _, v := range s.Train {
			taken[d.Labels[v]]++
		}
		for c := range size {
			if want := min(20, size[c]/2); taken[c] != want {
				t.Errorf("%s: class %d trains on %d nodes, want %d", d.Name, c, taken[c], want)
			}
		}
		all := slices.Concat(s.Train, s.Val, s.Test)
		slices.Sort(all)
		if len(slices.Compact(all)) != len(s.Train)+len(s.Val)+len(s.Test) || !slices.IsSorted(s.Val) || !slices.IsSorted(s.Test) {
			t.Errorf("%s: a node is in two parts, or ids do not ascend", d.Name)
		}
		if len(s.Val) == 0 || len(s.Test) == 0 {
			t.Errorf("%s: %d validate and %d test", d.Name, len(s.Val), len(s.Test))
		}
		if !slices.Equal(randomSplit(d, 3).Val, s.Val) || slices.Equal(randomSplit(d, 4).Val, s.Val) {
			t.Errorf("%s: the split is no function of the seed", d.Name)
		}
	}
	if s := randomSplit(d, 3); len(s.Val) != 500 || len(s.Test) != 1000 {
		t.Errorf("Cora: %d validate and %d test, want 500 and 1000", len(s.Val), len(s.Test))
	}
}

func TestSplitFile(t *testing.T) {
	d := datasets.Karate()
	path := filepath.Join(t.TempDir(), "split.json")
	for _, tt := range []struct{ content, want string }{
		{`{"train": [3, 1], "val": [2], "test": [33, 7]}`, ""},
		{`{"train": [3, 34], "val": [2], "test": [1]}`, "train[1] is node 34; Karate has the nodes 0 to 33"},
		{`{"train": [3], "val": [-1], "test": [1]}`, "val[0] is node -1; Karate has the nodes 0 to 33"},
		{`{"train": [3], "val": [2], "test": [1, 3]}`, "test[1] is node 3, which is in train already"},
		{`{"train": [3, 3], "val": [2], "test": [1]}`, "train[1] is node 3, which is in train already"},
		{`{"train": [3], "val": [], "test": [1]}`, "its list val is empty"},
		{`{"train": [3], "test": [1]}`, "its list val is empty"},
		{`{"train": [3], "valid": [2]}`, `it is no JSON object of the lists train, val and test: line 1, column 16: "valid": there is no member of that name`},
		{`{"train": [3.5]}`, `it is no JSON object of the lists train, val and test: line 1, column 12: "train"[0]: 3.5 stands there, want a whole number`},
		{`{"train": [3], "val": [2], "test": [1]} {}`, `it is no JSON object of the lists train, val and test: line 1, column 41: something follows its value`},
		{`[1`, `it is no JSON object of the lists train, val and test: line 1, column 3: it ends inside a list: it is cut, or a ] is missing`},
		{``, `it is no JSON object of the lists train, val and test: line 1, column 1: it ends where a value is wanted: it is empty or cut`},
	} {
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := splitOf(d, task.GoalOf(d), Choice{Splits: path})
		switch {
		case tt.want == "" && (err != nil || !slices.Equal(s.Train, []int32{1, 3}) || !slices.Equal(s.Test, []int32{7, 33})):
			t.Errorf("%s: %v, %v", tt.content, s, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "--splits "+path+": "+tt.want)):
			t.Errorf("%s: error %v, want %s", tt.content, err, tt.want)
		}
	}
	own := filepath.Join(filepath.Dir(path), "karate.npz")
	d.Split = datasets.Split{Train: []int32{1, 3}, Val: []int32{2}, Test: []int32{7, 33}}
	if err := d.SaveNPZ(own); err != nil {
		t.Fatal(err)
	}
	if s, err := splitOf(d, task.GoalOf(d), Choice{Splits: own}); err != nil || !slices.Equal(s.Train, d.Split.Train) || !slices.Equal(s.Val, d.Split.Val) || !slices.Equal(s.Test, d.Split.Test) {
		t.Errorf("from .npz: %v, %v", s, err)
	}
	d.Labels[33] = -1
	if _, err := splitOf(d, task.GoalOf(d), Choice{Splits: own}); err == nil || err.Error() != "--splits "+own+": node 33 has no class" {
		t.Errorf("a node without a class: %v", err)
	}
	if _, err := splitOf(d, task.GoalOf(d), Choice{Splits: path + "no"}); !errors.As(err, new(cli.UsageError)) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A dataset in a file is trained on as one that is known by name.
func TestOwnDataset(t *testing.T) {
	dir := t.TempDir()
	file, model := filepath.Join(dir, "Mine.npz"), filepath.Join(dir, "model")
	tasktest.OK(t, "data", "convert", "karate", "-o", file)
	flags := []string{"train", "--json", "--splits", "random", "--epochs", "10", "--lr", "0.05"}
	want := tasktest.Results(t, append(flags, "--dataset", "karate")...)
	got := tasktest.Results(t, append(flags, "--dataset", file, "--save", model)...)
	for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
		if a, b := got[len(got)-1][key], want[len(want)-1][key]; a != b || key == "train_accuracy" && a.(float64) <= 0.5 {
			t.Errorf("%s is %v, of the karate club %v", key, a, b)
		}
	}
	if a, b := tasktest.Results(t, "eval", "--json", model)[0]["test_accuracy"], want[len(want)-1]["test_accuracy"]; a != b {
		t.Errorf("the saved model has %v, want %v", a, b)
	}
	t.Chdir(filepath.Dir(dir))
	if folder := tasktest.Results(t, append(flags, "--dataset", filepath.Base(dir))...); folder[len(folder)-1]["test_accuracy"] != want[len(want)-1]["test_accuracy"] {
		t.Errorf("of the folder, whose name is no path: %v", folder[len(folder)-1])
	}
	tasktest.OK(t, "data", "convert", "karate", "-o", "my club.npz")
	if text, next := tasktest.OK(t, "train", "--dataset", "my club.npz", "--splits", "random", "--epochs", "1"), "\nnext: gatbench train \"my club.npz\" --splits random --epochs 1 --seeds 10\n"; !strings.HasSuffix(text, next) {
		t.Errorf("no %q in\n%s", next, text)
	}
	missing := filepath.Join(dir, "Other.npz")
	if _, stderr, status := tasktest.Gatbench(t, "train", "--dataset", missing); status != cli.Failed || stderr != "gatbench: "+missing+": no such file or directory\n" {
		t.Errorf("status %d, error %q", status, stderr)
	}
}

// A split of Shchur and others is of the largest component alone, and all of that.
func TestShchurSplit(t *testing.T) {
	d, err := cora.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := shchurSplit(d, 3)
	if len(s.Train) != 140 || len(s.Val) != 210 || len(s.Test) != 2485-350 { // of 2,708 nodes
		t.Errorf("%d train, %d validate, %d test", len(s.Train), len(s.Val), len(s.Test))
	}
	for _, p := range []struct {
		ids  []int32
		want int
	}{{s.Train, 20}, {s.Val, 30}} {
		of := make([]int, d.Classes)
		for _, v := range p.ids {
			of[d.Labels[v]]++
		}
		if slices.Min(of) != p.want || slices.Max(of) != p.want {
			t.Errorf("of each class %v, want %d", of, p.want)
		}
	}
	if err := s.Check(2708); err != nil {
		t.Error(err)
	}
	inside := d.LargestComponent()
	d.Split = s
	if left := d.LargestComponent().Split; len(left.Test) != len(s.Test) || len(left.Train) != 140 || inside.Graph.NumNodes() != 2485 {
		t.Errorf("%d and %d of the split are outside", 140-len(left.Train), len(s.Test)-len(left.Test))
	}
	if !slices.Equal(shchurSplit(d, 3).Test, s.Test) || slices.Equal(shchurSplit(d, 4).Test, s.Test) {
		t.Error("the split is no function of the seed")
	}
	if s := shchurSplit(datasets.Karate(), 1); len(s.Train) != 16 || len(s.Val) != 8 || len(s.Test) != 10 || s.Check(34) != nil {
		t.Errorf("few nodes: %v", s)
	}
}

// undividedTables writes tables of people in two towns, who know people of their own town, with no column that says which train, and what they
// paid each other when.
func undividedTables(t *testing.T) string {
	t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,joined_at,height,region,town\n")
	edges.WriteString("source,target,amount,at\n")
	for v := range 90 {
		fmt.Fprintf(&nodes, "p%02d,2019-%02d-%02d,%d.5,%s,%s\n", v, 1+v/3*7%12, 1+v%28, 150+v*31%50, []string{"north", "south", "east", "west"}[v/3%4], []string{"oslo", "bergen"}[v%2])
		for k := range 3 {
			fmt.Fprintf(&edges, "p%02d,p%02d,%d,2020-%02d-%02d\n", v, (v+2+4*k)%90, 10+v%2*5+k, 1+(v*5+k)%12, 1+(v*3+k*7)%28)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"town_nodes.csv": nodes.String(), "town_edges.csv": edges.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "town_edges.csv")
}

// Data without a split is trained on; the summary says how it was divided, and the saved model is measured on the same rows.
func TestSplitByDefault(t *testing.T) {
	data, dir := undividedTables(t), t.TempDir()
	for _, c := range []struct{ flags, splits, says, counts string }{
		{"--label town --undirected", "60/20/20", `the data has no split: of each class 60 % train, 20 % validate and 20 % test, drawn from the seed; column "joined_at" does not divide them, as it may not say when`, "train 54 ;validation 18 ;test 18 "},
		{"--label height --undirected", "60/20/20", "of all 60 % train, 20 % validate and 20 % test", "train 54 ;validation 18 ;test 18 "},
		{"--label amount --repeated keep", "time:at", `the data has no split, and column "at" says when each of its edges happened: the earliest 80 % train, the next 10 % validate and the latest test (--splits 60/20/20 draws them)`, ""},
		{"--label town --splits column:region=val:north,test:south", "", "", "train 42 ;validation 24 ;test 24 "},
		{"--label town --splits 80/10/10", "", "", "train 72 ;validation 9 ;test 9 "},
	} {
		file := filepath.Join(dir, "m.safetensors")
		args := append(strings.Fields("train --seed 3 --model gcn --no-edge-features --epochs 2 --features raw --hidden 4 --dataset "+data), strings.Fields(c.flags)...)
		page := strings.Join(strings.Fields(tasktest.OK(t, append(args, "--save", file)...)), " ")
		if c.flags == "--label height --undirected" {
			if head, _, _ := strings.Cut(tasktest.OK(t, "predict", file), "\n"); head != `id,"height","height known"` {
				t.Errorf("predictions of a number are called %q", head)
			}
		}
		if !strings.Contains(page, c.says) {
			t.Errorf("%s: no %q in %s", c.flags, c.says, page)
		}
		for _, want := range strings.Split(c.counts, ";") {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in %s", c.flags, c.counts, page)
			}
		}
		lines := tasktest.Results(t, append(args, "--json")...)
		sum, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		if got, _ := sum["splits"].(string); got != c.splits {
			t.Errorf("%s: the summary says splits %q, want %q", c.flags, got, c.splits)
		}
		for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy", "train_r2", "test_r2"} {
			a, _ := sum[key].(float64)
			if b, _ := e[key].(float64); math.Abs(a-b) > 1e-6*math.Abs(a) { // R² of such a beginning is large, and eval sums in another order
				t.Errorf("%s: %s of the training is %v, of eval %v", c.flags, key, sum[key], e[key])
			}
		}
	}
}

// Of several seeds each has a split of its own, or all share that by time; folds are trained one after the other, and one of them can be saved and
// measured again. A run that goes on has the split that it began with.
func TestSplitsOfSeeds(t *testing.T) {
	data, dir := undividedTables(t), t.TempDir()
	args := func(more string) []string {
		return append(strings.Fields("--model gcn --no-edge-features --features raw --hidden 4 --dataset "+data), strings.Fields(more)...)
	}
	stdout, stderr, status := tasktest.Gatbench(t, append([]string{"train"}, args("--label town --epochs 1 --seeds 2")...)...)
	if status != cli.Succeeded || !strings.Contains(stderr, "the data has no split: of each class 60 % train") || !strings.Contains(stdout, " --splits 60/20/20 ") {
		t.Errorf("status %d, %s, %s", status, stdout, stderr)
	}
	file, point := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "point")
	for _, flags := range []string{"--label town --splits folds:5", "--label amount --folds 5"} {
		all := tasktest.Results(t, append([]string{"train", "--json", "--epochs", "2"}, args(flags)...)...)
		var sums []map[string]any
		for _, line := range all {
			if line["event"] == "summary" {
				sums = append(sums, line)
			}
		}
		if len(sums) != 5 {
			t.Fatalf("%s: %d trainings, want 5", flags, len(sums))
		}
		one := strings.Replace(strings.Replace(flags, "--folds 5", "--splits folds:5", 1), "folds:5", "folds:5 --split-number each --seed 3", 1)
		tasktest.OK(t, append([]string{"train", "--epochs", "2", "--save", file}, args(one)...)...)
		if e := tasktest.Results(t, "eval", "--json", file)[0]; e["test_accuracy"] != sums[3]["test_accuracy"] || e["train_accuracy"] != sums[3]["train_accuracy"] {
			t.Errorf("%s: the fourth fold has %v, and eval says %v", flags, sums[3], e)
		}
	}
	for _, flags := range []string{"--label town", "--label amount --repeated keep", "--label town --splits column:region=val:north,test:south"} {
		whole := tasktest.Results(t, append([]string{"train", "--json", "--epochs", "4", "--seed", "2"}, args(flags)...)...)
		tasktest.OK(t, append([]string{"train", "--epochs", "2", "--seed", "2", "--checkpoint", point}, args(flags)...)...)
		on := tasktest.Results(t, "train", "--json", "--epochs", "4", "--resume", point)
		a, b := whole[len(whole)-1], on[len(on)-1]
		for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy", "best_epoch"} {
			if a[key] != b[key] {
				t.Errorf("%s: %s is %v, and %v of a run that was resumed", flags, key, a[key], b[key])
			}
		}
	}
	tasktest.OK(t, append([]string{"train", "--epochs", "2", "--save", file}, args("--label town")...)...)
	e := tasktest.OK(t, "eval", file, "--splits", "column:region=val:north,test:south")
	if got := strings.Join(strings.Fields(e), " "); !strings.Contains(got, "train 42 ") || !strings.Contains(got, "validation 24 ") || !strings.Contains(got, "test 24 ") {
		t.Errorf("eval on a column says %s", got)
	}
	if help := tasktest.OK(t, "predict", "--help"); strings.Contains(help, "--split") {
		t.Errorf("predict lists flags that it has no use for:\n%s", help)
	}
	if help := tasktest.OK(t, "train", "--help"); !strings.Contains(help, "\n      folds:5 ") || !strings.Contains(help, "\n      column:NAME ") {
		t.Error("the help of train does not list the rules of --splits")
	}
	for flags, want := range map[string]string{
		"--splits column:region":                        `"north" is no part of a split: want train, val or test, or nothing; or say which words are which parts, such as --splits column:region=val:north,test:OTHER`,
		"--splits column:regio":                         `there is no column "regio" (is "region" meant?)`,
		"--splits column:region=val:nort,test:south":    `no row has "nort", which is to mean val`,
		"--splits column:region=north":                  `"north" says of no word which part it means: write train, val or test, a colon and the word, such as val:north`,
		"--splits column:":                              "want a column after the colon, such as column:part",
		"--splits folds:2":                              "--splits folds:2: there must be at least 3 folds",
		"--column age=logg":                             `--column age=logg: there is no such name; did you mean "log"?`,
		"--splits folds:46":                             "cannot be in each: take folds:45 or 60/20/20",
		"--splits time:joined_at:2030-01-01,2031-01-01": "none is left to validate",
	} {
		if _, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--epochs", "1"}, args("--label town "+flags)...)...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", flags, status, stderr, want)
		}
	}
}

// Graphs are divided by shares where a flag says so, and what their own split lacks is drawn from the rest; eval finds the same graphs.
func TestSplitsOfGraphs(t *testing.T) {
	dir := t.TempDir()
	var whole, part strings.Builder
	for i := range 40 {
		line := fmt.Sprintf(`{"nodes": 4, "edges": [[0, 1], [1, 2], [2, %d]], "directed": false, "label": "%s"`, i%2*3, []string{"ring", "path"}[i%2])
		fmt.Fprintf(&whole, "%s}\n", line)
		fmt.Fprintf(&part, "%s, \"split\": \"%s\"}\n", line, []string{"train", "train", "train", "test"}[i/2%4])
	}
	for name, text := range map[string]string{"whole.jsonl": whole.String(), "part.jsonl": part.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "m.safetensors")
	for _, c := range []struct{ flags, want string }{
		{"whole.jsonl --splits 60/20/20", "train 24 ;validation 8 ;test 8 "},
		{"whole.jsonl --splits own", "the data has no split: of each class 60 % train;train 24 ;validation 8 ;test 8 "},
		{"part.jsonl", "the split of the data has no validation part: a quarter of its training graphs validate;train 23 ;validation 7 ;test 10 "},
	} {
		args := append(strings.Fields("train --hidden 4 --layers 2 --epochs 2 --seed 4 --dataset"), strings.Fields(filepath.Join(dir, c.flags))...)
		page := strings.Join(strings.Fields(tasktest.OK(t, append(args, "--save", file)...)), " ")
		for _, want := range strings.Split(c.want, ";") {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in %s", c.flags, want, page)
			}
		}
		lines := tasktest.Results(t, append(args, "--json")...)
		sum, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
			if sum[key] != e[key] {
				t.Errorf("%s: %s of the training is %v, of eval %v", c.flags, key, sum[key], e[key])
			}
		}
	}
	a := tasktest.Results(t, strings.Fields("train --json --hidden 4 --layers 2 --epochs 2 --splits folds:4 --dataset "+filepath.Join(dir, "whole.jsonl"))...)
	b := tasktest.Results(t, strings.Fields("train --json --hidden 4 --layers 2 --epochs 2 --folds 4 --dataset "+filepath.Join(dir, "whole.jsonl"))...)
	if x, y := a[len(a)-1], b[len(b)-1]; x["folds"] != 4.0 || fmt.Sprint(x["test_accuracies"]) != fmt.Sprint(y["test_accuracies"]) {
		t.Errorf("--splits folds:4 gives %v, and --folds 4 %v", x, y)
	}
}

func FuzzSplitFile(f *testing.F) {
	f.Add(`{"train": [3, 1], "val": [2], "test": [32, 7]}`)
	f.Add(`{"train": [0, 33], "val": [-1], "test": []} {`)
	d := datasets.Karate()
	d.Labels[33] = -1
	g := task.GoalOf(d)
	f.Fuzz(func(t *testing.T, text string) {
		path := tasktest.FileWith(t, "x.json", text)
		s, err := splitOf(d, g, Choice{Splits: path})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "--splits "+path+": ") {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := s.Check(34); err != nil || len(s.Train)*len(s.Val)*len(s.Test) == 0 || slices.Contains(slices.Concat(s.Train, s.Val, s.Test), 33) {
			t.Fatalf("%v, error %v", s, err)
		}
	})
}
