package gatbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Two classes, of which one is rare.
func TestQuality(t *testing.T) {
	d := tasktest.Gaussian(t, 500, 20)
	for v, c := range d.Labels {
		d.Labels[v] = min(c, 1)
	}
	d.Classes = 2
	k := node.NewExamples(d)
	constant := tensor.New(500, 2)
	constant.Fill(1)
	q := k.Goal.Quality(constant, k.Parts.Test)
	if q.TestMajority != 0.8 || q.TestBalanced != 0.5 || *q.TestAUC != 0.5 {
		t.Errorf("a constant answer: %+v", q)
	}
	for v := range 500 {
		constant.Row(v)[1] = tensor.Float(2 * d.Labels[v])
	}
	if q := k.Goal.Quality(constant, k.Parts.Test); q.TestBalanced != 1 || q.TestMacroF1 != 1 || *q.TestAUC != 1 {
		t.Errorf("the truth: %+v", q)
	}
	if want := "test: majority class 80.0 %, balanced accuracy 50.0 %, macro F1 0.444, AUC 0.500; always predicting the majority class would be at least as accurate"; (&report.Quality{TestMajority: 0.8, TestBalanced: 0.5, TestMacroF1: 4.0 / 9, TestAUC: q.TestAUC}).Says(0.8) != want {
		t.Errorf("it says %q", (&report.Quality{TestMajority: 0.8, TestBalanced: 0.5, TestMacroF1: 4.0 / 9, TestAUC: q.TestAUC}).Says(0.8))
	}
	file := tasktest.Saved(t, d)
	lines := tasktest.Results(t, "train", "--json", "--dataset", file, "--model", "mlp", "--epochs", "2")
	if s := lines[2]; s["test_auc"] == nil || s["test_majority"] != 0.8 {
		t.Errorf("the summary is %v", s)
	}
	if s := tasktest.Results(t, "train", "--json", "--epochs", "1")[1]; s["test_auc"] != nil || s["test_majority"] != 0.319 {
		t.Errorf("of seven classes the summary is %v", s)
	}
	if text := tasktest.OK(t, "train", "--epochs", "1"); !strings.Contains(text, "\ntest: majority class 31.9 %, balanced accuracy ") {
		t.Errorf("no majority in\n%s", text)
	}
	k.Parts.Test = nil
	if k.Goal.Quality(constant, nil).Quality != nil {
		t.Error("of no test nodes there is a score")
	}
}

// The epoch is chosen by average precision without a flag where one of two classes is rare, and by what --select names elsewhere. What a saved
// model is measured by is what it was chosen by.
func TestSelectByMetric(t *testing.T) {
	file, model := tasktest.Saved(t, rareDataset(t)), t.TempDir()+"/m.safetensors"
	for flags, want := range map[string][2]string{
		"": {"ap", "average_precision"}, " --select auc": {"auc", "roc_auc"}, " --select f1": {"f1", "f1"}, " --select accuracy": {"accuracy", "accuracy"}, " --preset paper": {"last", "accuracy"},
	} {
		line := strings.Fields("train --json --model gcn --epochs 12 --dataset " + file + " --save " + model + flags)
		lines := tasktest.Results(t, line...)
		best, s := 0.0, lines[len(lines)-1]
		for _, e := range lines[:len(lines)-1] {
			best = max(best, e["val_"+want[1]].(float64))
		}
		if got := s["val_"+want[1]]; s["select"] != want[0] || want[0] != "last" && got != best {
			t.Errorf("train%s: selected by %v with %v, want %s with %v", flags, s["select"], got, want[0], best)
		}
		eval := tasktest.Results(t, "eval", "--json", model)[0]
		for _, part := range []string{"train_", "val_", "test_"} {
			if key := part + want[1]; math.Abs(eval[key].(float64)-s[key].(float64)) > 1e-12 {
				t.Errorf("train%s: %s is %v in training and %v in eval", flags, key, s[key], eval[key])
			}
		}
	}
}

// Balanced weights are those numbers that make the classes that train count the same, by which a model learns; what they are not is refused.
func TestClassWeights(t *testing.T) {
	file := tasktest.Saved(t, rareDataset(t))
	model := t.TempDir() + "/m.safetensors"
	line := "train --json --model mlp --epochs 3 --dataset " + file + " --save " + model
	weighted := func(weights string) (map[string]any, *models.Predictor) {
		lines := tasktest.Results(t, strings.Fields(line+weights)...)
		p, err := models.Load(model)
		if err != nil {
			t.Fatal(err)
		}
		return lines[0], p
	}
	plain, _ := weighted("")
	balanced, p := weighted(" --class-weights balanced")
	w := p.Goal.Weights
	if len(w) != 2 || w[0] >= 1 || w[1] <= 1 || p.Goal.Positive != 1 {
		t.Fatalf("the weights are %v, and the positive class %d", w, p.Goal.Positive)
	}
	named, p := weighted(fmt.Sprintf(" --class-weights 1=%v,0=%v --positive 0", w[1], w[0]))
	if named["loss"] != balanced["loss"] || plain["loss"] == balanced["loss"] || p.Goal.Positive != 0 {
		t.Errorf("the first loss is %v balanced, %v by name and %v without weights; the positive class is %d", balanced["loss"], named["loss"], plain["loss"], p.Goal.Positive)
	}
	for weights, want := range map[string]string{
		"1":       "want 2 weights, one for each of the classes 0, 1",
		"1,2,3":   "want 2 weights",
		"0,0":     "add up to 0, so nothing can be learnt",
		"1,-2":    `"-2" is no weight of class 1`,
		"1,NaN":   `"NaN" is no weight of class 1`,
		"1,Inf":   `"Inf" is no weight of class 1`,
		"2=1":     "--class-weights 2: there is no such name; the choices are 0, 1",
		"1=1,1=2": "the class 1 is named twice",
		"1=1,0":   `"0" has no weight`,
	} {
		refusedFor(t, want, append(strings.Fields(line), "--class-weights", weights)...)
	}
	refusedFor(t, "the choices are 0, 1", append(strings.Fields(line), "--positive", "yes")...)
	refusedFor(t, "each node has one of 7 classes to predict", "train", "--positive", "1")
}

// refusedFor checks that a command line is wrong, and that the error says so.
func refusedFor(t *testing.T, want string, args ...string) {
	t.Helper()
	if _, stderr, status := tasktest.Gatbench(t, args...); status != 2 || !strings.Contains(stderr, want) {
		t.Errorf("%q: status %d, error %q, want 2 and %q", args, status, stderr, want)
	}
}

// rareDataset has two classes, of which one of sixteen nodes has the second.
func rareDataset(t *testing.T) *datasets.Dataset {
	d := tasktest.Gaussian(t, 400, 4)
	for v, c := range d.Labels {
		d.Labels[v] = 0
		if c == 0 && v%4 == 0 {
			d.Labels[v] = 1
		}
	}
	d.Classes = 2
	return d
}

// tableOf writes a table of nodes whose second column is what f says of a row, and its edges, and returns the path of these.
func tableOf(t *testing.T, n int, label string, row func(i int) (x float64, y any), edges func(i int) int) string {
	t.Helper()
	dir := t.TempDir()
	nodes, links := "id,x,"+label+"\n", "source,target\n"
	for i := range n {
		x, y := row(i)
		nodes += fmt.Sprintf("n%d,%.4f,%v\n", i, x, y)
		if to := edges(i); to >= 0 {
			links += fmt.Sprintf("n%d,n%d\n", i, to)
		}
	}
	for name, text := range map[string]string{"t_nodes.csv": nodes, "t_edges.csv": links} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "t_edges.csv")
}

// A user reads that a model is of no use, or no better than without edges, and nothing of the kind if it is better than both.
func TestVerdict(t *testing.T) {
	const n = 600
	rng := rand.New(rand.NewPCG(7, 0))
	x, y, blocks := make([]float64, n), make([]string, n), make([]int, n)
	for i := range n {
		x[i], blocks[i] = rng.NormFloat64(), i*10/n
		if y[i] = "no"; x[i]+0.3*rng.NormFloat64() > 1.2 {
			y[i] = "yes"
		}
	}
	anywhere := func(int) int { return rng.IntN(n) }
	columns := tableOf(t, n, "bought", func(i int) (float64, any) { return x[i], y[i] }, anywhere)
	noise := tableOf(t, n, "bought", func(i int) (float64, any) { return rng.NormFloat64(), y[i] }, anywhere)
	other := func(i int) int { return (i + n/2) % n } // whose column says what this row is
	edges := tableOf(t, n, "bought", func(i int) (float64, any) { return x[other(i)], y[i] }, other)
	for _, tt := range []struct {
		name, file, flags, says string
		nobody                  bool
	}{
		{"columns", columns, "--model sage", "same network without edges", false},
		{"nothing", noise, "--model sage", "always the same answer", false},
		{"edges", edges, "--model sage", "", false},
		{"edges that are not read", edges, "--model mlp", "always the same answer", true},
		{"no baseline", columns, "--model sage --no-baseline", "", true},
	} {
		args := append(strings.Fields("train --json --label bought --epochs 100 "+tt.flags), "--dataset", tt.file)
		lines := tasktest.Results(t, args...)
		s := lines[len(lines)-1]
		says, _ := s["verdict"].(string)
		if s["select"] != "ap" || (tt.says == "") != (says == "") || !strings.Contains(says, tt.says) || s["test_constant"] == nil || (s["test_without_edges"] == nil) != tt.nobody {
			t.Errorf("%s: selected by %v, the verdict is %q of %v, always the same has %v and without edges %v", tt.name, s["select"], says, s["test_average_precision"], s["test_constant"], s["test_without_edges"])
		}
		p, _ := s["positive"].(map[string]any)
		if share := s["test_constant"].(float64); p["class"] != "yes" || math.Abs(share-p["rows"].([]any)[2].(float64)/120) > 1e-9 {
			t.Errorf("%s: the positive class is %v, and always the same has %v", tt.name, p, share)
		}
	}
}

// What the summary says of the threshold is what eval measures and predict writes.
func TestThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	file := tableOf(t, 500, "fraud", func(int) (float64, any) {
		v := rng.NormFloat64()
		return v, v+rng.NormFloat64() > 2
	}, func(int) int { return rng.IntN(500) })
	model := filepath.Join(t.TempDir(), "m.safetensors")
	lines := tasktest.Results(t, "train", "--json", "--dataset", file, "--label", "fraud", "--model", "mlp", "--epochs", "60", "--save", model)
	s := lines[len(lines)-1]["positive"].(map[string]any)
	e := tasktest.Results(t, "eval", "--json", model)[0]["positive"].(map[string]any)
	if s["class"] != "true" || !reflect.DeepEqual(s, e) {
		t.Errorf("training says %v, and eval %v", s, e)
	}
	m, err := models.Load(model)
	threshold := s["threshold"].(float64)
	if err != nil || m.Goal.Threshold != threshold || threshold <= 0 || threshold >= 0.5 {
		t.Fatalf("the threshold is %v, and that of the file %v; error %v", threshold, m.Goal.Threshold, err)
	}
	said := 0
	for _, one := range tasktest.Results(t, "predict", "--json", model) {
		p := one["probabilities"].(map[string]any)["true"].(float64)
		if is := one["name"] == "true"; is != (p >= threshold) {
			t.Fatalf("node %v is %v at %v", one["id"], one["name"], p)
		} else if is && p < 0.5 {
			said++
		}
	}
	if said == 0 {
		t.Error("no node is positive whose probability is below one half, so the threshold is not seen to be used")
	}
}

// A label of which nothing can be learnt is an error, and edges that cannot help are named.
func TestNothingToLearn(t *testing.T) {
	ring := func(i int) int { return (i + 1) % 40 }
	same := tableOf(t, 40, "price", func(i int) (float64, any) { return float64(i), 2.5 }, ring)
	refusedFor(t, "all numbers to predict are the same, so there is nothing to learn", "train", "--dataset", same, "--label", "price")
	one := tableOf(t, 40, "kind", func(i int) (float64, any) { return float64(i), "a" }, ring)
	refusedFor(t, `are of one class, so there is nothing to learn: column "kind" says "a" wherever it is not empty. Name another column with --label COLUMN`, "train", "--dataset", one, "--label", "kind")
	apart := tableOf(t, 60, "kind", func(i int) (float64, any) {
		if i < 40 {
			return float64(i), []string{"a", "b"}[i%2]
		}
		return float64(i), ""
	}, func(i int) int {
		if i < 40 {
			return -1
		}
		return 40 + (i+1)%20
	})
	if _, stderr, _ := tasktest.Gatbench(t, "train", "--dataset", apart, "--label", "kind", "--epochs", "2"); !strings.Contains(stderr, "none of the 40 nodes whose answer is known has an edge") {
		t.Errorf("it says %q", stderr)
	}
}
