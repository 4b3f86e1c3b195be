package gatbench

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// A saved model of every kind is as good as it was.
func TestSaveAndEval(t *testing.T) {
	for _, model := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
		t.Run(model, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.safetensors")
			dataset := "karate"
			if model == "gat" {
				dataset = "cora"
			}
			args := []string{"train", "--json", "--model", model, "--epochs", "1", "--save", file, "--splits", "random", "--seed", "3", "--dataset", dataset}
			lines := tasktest.Results(t, args...)
			s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
			for _, key := range []string{"model", "train_accuracy", "val_accuracy", "test_accuracy"} {
				if s[key] != e[key] {
					t.Errorf("%s was %v and is %v", key, s[key], e[key])
				}
			}
			predictionsAgree(t, file, dataset, s["test_accuracy"].(float64))
			if model != "gat" {
				return
			}
			if text := tasktest.OK(t, "eval", file, "--dataset", "CORA"); !strings.Contains(text, "   4     5     6\n  0 Theory ") || !strings.Contains(text, "\n  2 Genetic_Algorithms ") || !strings.Contains(text, "\ntest          1000 ") {
				t.Errorf("eval prints\n%s", text)
			}
		})
	}
}

// predictionsAgree checks the classes of all nodes against an accuracy.
func predictionsAgree(t *testing.T, file, dataset string, accuracy float64) {
	t.Helper()
	out := file + ".csv"
	tasktest.OK(t, "predict", file, "--out", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	k, openErr := node.OpenExamples("", dataset, false, node.Choice{Splits: source.SplitsRandom, Seed: 3})
	if openErr != nil || err != nil || len(rows) != 1+k.Graph.NumNodes() {
		t.Fatalf("%d rows, %v, %v", len(rows), err, openErr)
	}
	right := 0
	for _, v := range k.Parts.Test {
		row := rows[1+v]
		if p, err := strconv.ParseFloat(row[3], 64); err != nil || p < 0.999/float64(k.Classes) || p > 1 {
			t.Fatalf("node %s has the probability %s", row[0], row[3])
		}
		if row[1] == row[4] {
			right++
		}
	}
	if got := float64(right) / float64(len(k.Parts.Test)); got != accuracy {
		t.Errorf("predictions are right for %g, eval for %g", got, accuracy)
	}
	if one := tasktest.OK(t, "predict", file, "--nodes", "5,2"); strings.Count(one, "\n") != 3 || !strings.HasPrefix(strings.Split(one, "\n")[1], "5,") {
		t.Errorf("predict --nodes 5,2 prints\n%s", one)
	}
}

// A run of each task that was cut in two ends with the same bytes as one that was not, with batches
// and with drawn neighbours too. Its checkpoint knows the task and all settings.
func TestResume(t *testing.T) {
	points := tasktest.Saved(t, tasktest.Gaussian(t, 200, 20))
	edges, mols := tasktest.Neighbourhoods(t, false)+" --label kind --column year=none", tasktest.Bonded(t, tasktest.Chemistry(t, false))
	for _, args := range []string{
		"--dataset " + points, "--dataset " + points + " --batch 50 --model gcn", "--dataset " + points + " --batch 50 --model gcn --fanout 3,2",
		"--dataset " + edges + " --splits random",
		"--dataset " + mols + " --splits random --hidden 4 --layers 2 --batch 7 --readout max --model transformer",
		"--task link --dataset karate --hidden 4 --features standard", "--task link --dataset karate --model vgae --hidden 4",
		"--task link --dataset karate --model lightgcn --hidden 4 --layers 2 --batch 20",
		"--task link --model distmult --dataset planted-rules --hidden 8 --batch 100",
	} {
		dir := t.TempDir()
		whole, part, end := filepath.Join(dir, "whole"), filepath.Join(dir, "part"), filepath.Join(dir, "end")
		fresh := append([]string{"train", "--seed", "4"}, strings.Fields(args)...)
		most, fewer := "3", "2"
		if strings.Contains(args, source.Planted) {
			most, fewer = "60", "41" // long enough for a schedule of evaluations to depend on it
		}
		tasktest.OK(t, append(fresh, "--epochs", most, "--checkpoint", whole)...)
		tasktest.OK(t, append(fresh, "--epochs", fewer, "--checkpoint", part)...)
		tasktest.OK(t, "train", "--resume", part, "--epochs", most, "--checkpoint", end)
		a, errA := os.ReadFile(whole)
		b, errB := os.ReadFile(end)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the resumed run ends with another file (%v, %v)", args, errA, errB)
		}
		if c, err := os.ReadFile(part); err != nil || bytes.Equal(a, c) {
			t.Errorf("%s: one more epoch changes nothing (%v)", args, err)
		}
		tasktest.OK(t, append(fresh, "--resume", part, "--epochs", most)...) // what the run has already contradicts nothing
		if _, stderr, status := tasktest.Gatbench(t, "train", "--resume", part, "--seed", "5"); status != cli.Misused || stderr != "gatbench: --resume "+part+": its run has --seed 4, not 5: leave the flag out\n" {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}

// A flag that contradicts the run of a checkpoint is refused.
func TestResumeContradicted(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	tasktest.OK(t, strings.Fields("train --dataset "+tasktest.Bonded(t, tasktest.Chemistry(t, false))+" --splits random --epochs 1 --hidden 4 --layers 2 --checkpoint "+path("graphs"))...)
	tasktest.OK(t, strings.Fields("train --task link --dataset karate --epochs 1 --hidden 4 --checkpoint "+path("links"))...)
	tasktest.OK(t, strings.Fields("train --task link --model rotate --epochs 1 --hidden 4 --checkpoint "+path("facts"))...)
	for args, want := range map[string]string{
		"graphs --task node":                "--task graph, not node",
		"graphs --model gcn":                "--model gin, not gcn",
		"graphs --readout mean":             "--readout sum, not mean",
		"graphs --pool sag":                 "no --pool",
		"graphs --dataset csl":              "--dataset .*jsonl, not csl",
		"graphs --splits own":               "--splits random, not own",
		"graphs --batch 7":                  "--batch 32, not 7",
		"links --task graph":                "--task link, not graph",
		"links --model vgae":                "--model gae, not vgae",
		"links --model rotate":              "--model gae, not rotate",
		"links --dataset cora":              "--dataset karate, not cora",
		"links --features rows":             "--features raw, not rows",
		"facts --task edge":                 "--task link, not edge",
		"facts --model transe":              "--model rotate, not transe",
		"facts --dataset other":             "--dataset planted-rules, not other",
		"facts --lr 1":                      "--lr 0.02, not 1",
		"facts --weight-decay 0 --hidden 8": "--hidden 4, not 8",
	} {
		name, more, _ := strings.Cut(args, " ")
		_, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--resume", path(name)}, strings.Fields(more)...)...)
		if says := regexp.MustCompile("^gatbench: --resume " + path(name) + ": its run has " + want + ": leave the flag out\n$"); status != cli.Misused || !says.MatchString(stderr) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}

// What is interrupted goes on.
func TestResumeInterrupted(t *testing.T) {
	dir := t.TempDir()
	file, whole := filepath.Join(dir, "run"), filepath.Join(dir, "whole")
	ctx, cancel := context.WithCancel(t.Context())
	out, errOut := &cancelling{cancel: cancel}, new(bytes.Buffer)
	status := Run(cli.Env{Ctx: ctx, Out: out, ErrOut: errOut}, []string{"train", "--dataset", "karate", "--splits", "random", "--json", "--epochs", "5", "--checkpoint", file})
	if want := "gatbench: interrupted after 1 of 5 epochs; to continue: gatbench train --resume " + file + "\n"; status != cli.Failed || errOut.String() != want {
		t.Fatalf("status %d, error %q", status, errOut)
	}
	tasktest.OK(t, "train", "--resume", file, "--checkpoint", file)
	tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "5", "--checkpoint", whole)
	a, errA := os.ReadFile(file)
	b, errB := os.ReadFile(whole)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the resumed run ends with another file (%v, %v)", errA, errB)
	}
}

// Files that are no model, or not the one that is asked for.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	tasktest.OK(t, "train", "--model", "gcn", "--epochs", "2", "--save", path("gcn"), "--checkpoint", path("run"))
	whole, err := os.ReadFile(path("gcn"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if name != "cut" && name != "short" { // whose checksums fit
			data = []byte(sealed(string(data)))
		}
		if err := os.WriteFile(path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cut", whole[:len(whole)/2])
	write("short", whole[:5])
	write("nan", append(bytes.Clone(whole[:len(whole)-4]), 0xff, 0xff, 0xff, 0xff)) // of both widths of numbers
	write("empty", nil)
	write("foreign", bytes.Repeat([]byte("PK\x03\x04"), 50))
	write("other", bytes.Replace(whole, []byte(`\"Model\":\"gcn\"`), []byte(`\"Model\":\"mlq\"`), 1))
	write("wide", bytes.Replace(whole, []byte(`\"Hidden\":16`), []byte(`\"Hidden\":-6`), 1))
	write("narrow", bytes.Replace(whole, []byte(`\"Hidden\":16`), []byte(`\"Hidden\":15`), 1))
	write("fields", bytes.Replace(whole, []byte(`\"Hidden\":16`), []byte(`\"Hiddem\":16`), 1))
	run, err := os.ReadFile(path("run"))
	if err != nil {
		t.Fatal(err)
	}
	write("quirk", bytes.Replace(run, []byte(`\"Preset\":\"quick\"`), []byte(`\"Preset\":\"quirk\"`), 1))
	tests := []struct {
		args, want string
		status     int
	}{
		{"train --resume " + path("run") + " --batch 9 --fanout 5,5", "--resume " + path("run") + ": its run has --batch 0, not 9: leave the flag out", cli.Misused},
		{"train --resume " + path("run") + " --fanout 5,5", "--resume " + path("run") + ": its run has no --fanout: leave the flag out", cli.Misused},
		{"train --resume " + path("quirk"), path("quirk") + ": what it says of its model cannot be: --preset quirk: there is no such name; did you mean \"quick\"? The choices are ", cli.Failed},
		{"eval " + path("none"), path("none") + ": there is no such file; gatbench train DATA --save FILE writes a model", cli.Failed},
		{"eval " + path("cut"), path("cut") + ": it is damaged or cut short: its checksum is ", cli.Failed},
		{"eval " + path("short"), path("short") + ": it has 5 bytes and is no model file, or it is cut short: copy it again", cli.Failed},
		{"eval " + path("empty"), path("empty") + ": it has 0 bytes and is no model file, or it is cut short: copy it again", cli.Failed},
		{"eval " + path("nan"), path("nan") + ": what it says of its model cannot be: element 111 of Layers.1.W is NaN: its training diverged; train the model again", cli.Failed},
		{"predict " + path("nan"), path("nan") + ": what it says of its model cannot be: element 111 of Layers.1.W is NaN: its training diverged; train the model again", cli.Failed},
		{"eval " + path("foreign"), path("foreign") + ": it is no model file, or it is cut short: its 200 bytes do not begin", cli.Failed},
		{"eval " + path("other"), path("other") + ": what it says of its model cannot be: models: there is no model \"mlq\"; did you mean \"mlp\"? The choices are ", cli.Failed},
		{"eval " + path("wide"), path("wide") + ": what it says of its model cannot be: models: Hidden -6, Heads 1, OutHeads 1, Layers 2: each must be at least 1", cli.Failed},
		{"eval " + path("narrow"), path("narrow") + ": what it says of its model cannot be: the file is not of this network: Layers.0.W is [1433 16] in the file and [1433 15] in the network", cli.Failed},
		{"eval " + path("fields"), path("fields") + `: what it says of its model cannot be: the metadata "network": "Settings"."Hiddem": there is no member of that name`, cli.Failed},
		{"eval " + path("gcn") + " --dataset karate --splits random", path("gcn") + " is a model for 7 classes (it was trained on Cora); Karate has 2 classes", cli.Failed},
		{"eval " + path("gcn") + " --dataset citeser", `there is no dataset "citeser"; did you mean "citeseer"?`, cli.Misused},
		{"predict " + path("gcn") + " --nodes 2708", "--nodes: there is no node 2708: they are numbered from 0 to 2707", cli.Misused},
		{"predict " + path("gcn") + " --nodes=-4", "--nodes: there is no node -4: they are numbered from 0 to 2707", cli.Misused},
		{"train --resume " + path("none"), "train: load " + path("none") + ": no such file or directory", cli.Failed},
		{"train --resume " + path("cut"), "train: load " + path("cut") + ": safetensors: ", cli.Failed},
		{"train --resume " + path("gcn"), "train: load " + path("gcn") + `: the metadata has no "run": it is no checkpoint`, cli.Failed},
		{"train --resume " + path("run") + " --model gat", "--resume " + path("run") + ": its run has --model gcn, not gat: leave the flag out", cli.Misused},
		{"train --resume " + path("run") + " --lr 1", "--resume " + path("run") + ": its run has --lr 0.01, not 1: leave the flag out", cli.Misused},
		{"train --resume " + path("run") + " --seed 4", "--resume " + path("run") + ": its run has --seed 0, not 4: leave the flag out", cli.Misused},
		{"train --resume " + path("run") + " --dataset pubmed", "--resume " + path("run") + ": its run has --dataset cora, not pubmed: leave the flag out", cli.Misused},
		{"train --resume " + path("run") + " --epochs 1", "--epochs 1: the run of " + path("run") + " has 2 already", cli.Misused},
		{"train --resume " + path("run") + " --seeds 2", "--resume continues one run and --seeds 2 trains 2: leave one of the two flags out", cli.Misused},
	}
	for _, tt := range tests {
		_, stderr, status := tasktest.Gatbench(t, strings.Fields(tt.args)...)
		if status != tt.status || !strings.HasPrefix(stderr, "gatbench: "+tt.want) {
			t.Errorf("gatbench %s: status %d, error\n%swant status %d and\n%s", tt.args, status, stderr, tt.status, tt.want)
		}
	}
}

// A folder that takes no file is found before any work is done.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.CreateTemp(dir, "x"); err == nil {
		f.Close()
		t.Skip("this user may write everywhere")
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--save", filepath.Join(dir, "m"))
	if status != cli.Failed || !strings.HasPrefix(stderr, "gatbench: --save "+filepath.Join(dir, "m")+": the folder "+dir+" takes no file: ") {
		t.Errorf("status %d, error %q", status, stderr)
	}
}

// A model is measured on another dataset: on its split, or, if it has none, on all of it.
func TestEvalElsewhere(t *testing.T) {
	dir := t.TempDir()
	node := filepath.Join(dir, "node")
	data, bare := tasktest.Saved(t, tasktest.Gaussian(t, 60, 5)), tasktest.Gaussian(t, 40, 5)
	bare.Split = datasets.Split{}
	other := tasktest.Saved(t, bare)
	tasktest.OK(t, "train", "--dataset", data, "--splits", "random", "--epochs", "2", "--save", node)
	line := tasktest.Results(t, "eval", "--json", node, "--dataset", other)[0]
	right := 0
	for _, p := range tasktest.Results(t, "predict", "--json", node, "--dataset", other) {
		if p["class"] == p["label"] {
			right++
		}
	}
	if line["train_accuracy"] != nil || line["val_accuracy"] != nil || line["test_accuracy"] != float64(right)/40 {
		t.Errorf("%v, and %d of 40 predictions are right", line, right)
	}
	if text := tasktest.OK(t, "eval", node, "--dataset", other); !strings.Contains(text, "\nall             40 ") || strings.Contains(text, "\ntrain ") {
		t.Errorf("%s", text)
	}
	if text := tasktest.OK(t, "eval", node, "--dataset", other, "--splits", "random"); !strings.Contains(text, "\ntrain ") {
		t.Errorf("%s", text)
	}
	for command, want := range map[string]string{
		"eval":    "gatbench: " + node + " is a model for 5 classes (it was trained on d); Karate has 2 classes: leave --dataset out, or name data like its own\n",
		"predict": "gatbench: " + node + " (trained on d), used on karate: nodes have 34 features, and the model was made for 16: use data whose columns are those of its training\n",
	} {
		if _, stderr, status := tasktest.Gatbench(t, command, node, "--dataset", "karate"); status != cli.Failed || stderr != want {
			t.Errorf("%s: status %d, %s, want %s", command, status, stderr, want)
		}
	}
	graphs, mols := filepath.Join(dir, "graphs"), tasktest.Molecules(t)
	tasktest.OK(t, "train", "--dataset", mols, "--splits", "random", "--epochs", "1", "--hidden", "4", "--layers", "2", "--save", graphs)
	text, err := os.ReadFile(mols)
	if err != nil {
		t.Fatal(err)
	}
	more := filepath.Join(dir, "more.jsonl")
	if err := os.WriteFile(more, bytes.Repeat(text, 2), 0o666); err != nil {
		t.Fatal(err)
	}
	if text := tasktest.OK(t, "eval", graphs, "--dataset", more); !strings.Contains(text, "\nall             12 ") {
		t.Errorf("%s", text)
	}
	if line := tasktest.Results(t, "eval", "--json", graphs)[0]; line["train_accuracy"] == nil { // its own data, whose split it has
		t.Errorf("%v", line)
	}
}

// Training that leads nowhere says when, where, and what is left.
func TestDiverged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m")
	stdout, stderr, status := tasktest.Gatbench(t, "train", "--lr", "1e6", "--save", file)
	if status != cli.Failed || stdout != "" || !strings.HasPrefix(stderr, "gatbench: the training diverged: in epoch 2 the loss is ") ||
		!strings.HasSuffix(stderr, ", above 1e+06; --lr 1e+06 is too high: try --lr 0.005; the model of epoch 1 is saved in "+file+"\n") {
		t.Errorf("status %d, error %q, output\n%s", status, stderr, stdout)
	}
	tasktest.OK(t, "eval", file)
	rate := "1e20"
	if tensor.Float(1)+tensor.Float(1e-10) != 1 { // float64 holds more
		rate = "1e160"
	}
	lines, stderr, status := tasktest.Gatbench(t, "train", "--lr", rate, "--json")
	if status != cli.Failed || !strings.HasPrefix(stderr, "gatbench: the training diverged: in epoch 2 the loss is NaN (first: layer 1/Dot: element 0 of ") ||
		!strings.HasSuffix(stderr, "; nothing was saved\n") {
		t.Errorf("status %d, error %q", status, stderr)
	}
	os := tasktest.Objects(t, lines)
	if len(os) == 0 || os[len(os)-1]["diverged"] != true {
		t.Errorf("the lines are %s", lines)
	}
	for args, want := range map[string]string{
		"--task link --dataset karate":                                     "--lr RATE is too high: try --lr 0.01",
		"--task link --model lightgcn --dataset karate":                    "--lr RATE is too high: try --lr 0.005",
		"--task link --model transe":                                       "--lr RATE is too high: try --lr 0.02",
		"--task graph --dataset csl --folds 2 --hidden 4 --layers 2":       "--lr RATE is too high: try --lr 0.01",
		"--task graph --dataset csl --splits random --hidden 4 --layers 2": "--lr RATE is too high: try --lr 0.01",
	} {
		stdout, stderr, status := tasktest.Gatbench(t, append(strings.Fields("train --epochs 9 --lr "+rate), strings.Fields(args)...)...)
		want = strings.ReplaceAll(want, "RATE", strings.Replace(rate, "1e", "1e+", 1))
		if !strings.Contains(args, "folds") {
			want += "; nothing was saved"
		}
		want += "\n"
		if status != cli.Failed || stdout != "" || !strings.HasPrefix(stderr, "gatbench: the training diverged: in epoch ") || !strings.HasSuffix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, output %q, error %q", args, status, stdout, stderr)
		}
	}
	if err := task.Diverged(&train.DivergedError{Epoch: 3, What: "the loss", Value: math.NaN(), Saved: "run"}, 0.01, 0.02); err.Error() != "the training diverged: in epoch 3 the loss is NaN; the last checkpoint is run; try a lower rate, such as --lr 0.001, or look for very large numbers in the data" {
		t.Error(err)
	}
}

func TestEpochsCSV(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.csv")
	lines := tasktest.Results(t, "train", "--dataset", "karate", "--splits", "random", "--json", "--epochs", "2", "--seeds", "2", "--csv", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, at := range []int{0, 1, 3, 4} {
		row, line := rows[1+i], lines[at]
		if row[0] != strconv.Itoa(i/2) || row[1] != strconv.Itoa(1+i%2) {
			t.Errorf("row %d is of seed %s, epoch %s", i, row[0], row[1])
		}
		for column, key := range map[int]string{2: "loss", 3: "train_accuracy", 4: "val_loss", 6: "test_accuracy"} {
			if v, err := strconv.ParseFloat(row[column], 64); err != nil || v != line[key] {
				t.Errorf("row %d: %s is %s, want %v", i, rows[0][column], row[column], line[key])
			}
		}
	}
}

// Each flag of a setting reaches the training.
func TestSettings(t *testing.T) {
	train := []string{"train", "--json", "--dataset", tasktest.Saved(t, tasktest.Gaussian(t, 200, 20))}
	base := tasktest.Objects(t, tasktest.OK(t, append(train, "--epochs", "2")...))
	for _, flag := range []string{
		"--hidden=4", "--heads=4", "--out-heads=2", "--layers=3", "--dropout=0.1", "--residual", "--residual-linear", "--norm=batch", "--input=5", "--output", "--lr=0.02", "--weight-decay=0.1",
		"--seed=1", "--preset=dgl", "--model=gcn", "--splits=random", "--batch=70",
	} {
		if a := tasktest.Objects(t, tasktest.OK(t, append(train, "--epochs", "2", flag)...)); base[1]["loss"] == a[1]["loss"] {
			t.Errorf("%s changes nothing: loss %v", flag, a[1]["loss"])
		}
	}
	some, all := tasktest.Results(t, "train", "--json", "--epochs", "2"), tasktest.Results(t, "train", "--json", "--epochs", "2", "--rows=all") // of Cora, where not all rows are needed
	if some[1]["loss"] == all[1]["loss"] {
		t.Errorf("--rows=all changes nothing: loss %v", all[1]["loss"])
	}
	if lines := tasktest.Results(t, append(train, "--epochs", "40", "--patience", "3", "--lr", "0.5")...); len(lines) == 41 {
		t.Error("--patience 3 never stops")
	}
	if lines := tasktest.Results(t, append(train, "--epochs", "3", "--select", "last")...); lines[3]["best_epoch"] != 3.0 {
		t.Errorf("--select last takes epoch %v of 3", lines[3]["best_epoch"])
	}
	if out := tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "5"); !strings.HasPrefix(out, "Karate: GAT, ") {
		t.Errorf("karate: %s", out)
	}
}

func TestProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.prof")
	tasktest.OK(t, "train", "--epochs", "2", "--profile", file)
	if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		t.Errorf("no profile: %v", err)
	}
}

// Predictions and explanations of tables name the nodes as the tables do, and a reader of CSV
// gets back what stood there: marks of quotation, commas, blanks, letters of any script.
func TestNamesInTables(t *testing.T) {
	dir := t.TempDir()
	ids := []string{`Anna "Ann" Lee`, `Łukasz, Co`, `東京 1`, `a\b`, "e", "f", `\"`, "h"}
	var nodes, edges bytes.Buffer
	n, e := csv.NewWriter(&nodes), csv.NewWriter(&edges)
	n.Write([]string{"id", "x", "likes"})
	e.Write([]string{"source", "target"})
	for i, id := range ids {
		n.Write([]string{id, strconv.Itoa(i % 3), []string{`"tea"`, "dark, coffee", ""}[min(i%2+2*(i/7), 2)]})
		e.Write([]string{id, ids[(i+3)%len(ids)]})
	}
	n.Flush()
	e.Flush()
	table, model, scores := filepath.Join(dir, "t_edges.csv"), filepath.Join(dir, "m"), filepath.Join(dir, "s.csv")
	for name, text := range map[string]string{
		"t_nodes.csv": nodes.String(), "t_edges.csv": edges.String(), "s.json": `{"train": [0, 1, 4], "val": [2, 3], "test": [5, 6]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tasktest.OK(t, "train", "--dataset", table, "--label", "likes", "--undirected", "--splits", filepath.Join(dir, "s.json"), "--epochs", "3", "--save", model)

	rows, err := csv.NewReader(strings.NewReader(tasktest.OK(t, "predict", model))).ReadAll()
	if err != nil || len(rows) != 1+len(ids) || strings.Join(rows[0], ",") != `id,class,name,probability,label,p_"tea",p_dark, coffee` {
		t.Fatalf("%v, %v", rows, err)
	}
	for i, row := range rows[1:] {
		if row[0] != ids[i] || row[2] != `"tea"` && row[2] != "dark, coffee" {
			t.Errorf("row %d is %q, want the node %q", i, row, ids[i])
		}
	}
	if got := tasktest.Results(t, "predict", model, "--nodes", ids[2], "--json")[0]["id"]; got != ids[2] {
		t.Errorf("JSON calls node 2 %v", got)
	}
	text := tasktest.OK(t, "explain", model, "--node", ids[2], "--method", "saliency", "--csv", scores)
	if !strings.Contains(text, "node 東京 1: ") || !strings.Contains(text, "h → ") || !strings.Contains(text, "  no label\n") || !strings.Contains(text, "             x  ") {
		t.Errorf("nodes are not named in\n%s", text)
	}
	raw, err := os.ReadFile(scores)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = csv.NewReader(bytes.NewReader(raw)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[0] == "edge" && !slices.Contains(ids, row[1]) {
			t.Errorf("there is no source of %q", row)
		}
	}
}
