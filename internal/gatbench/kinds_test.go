package gatbench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Nodes with several labels, and with numbers, are learnt, scored, written and predicted.
func TestKindsOfNodes(t *testing.T) {
	for _, tt := range []struct {
		numbers          bool
		kind, key, extra string
	}{{false, "labels", "micro_f1", "test_roc_auc"}, {true, "numbers", "r2", "test_mae"}} {
		dir := t.TempDir()
		model, csv := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "e.csv")
		file := tasktest.Saved(t, tasktest.Tagged(t, tt.numbers))
		args := []string{"train", "--dataset", file, "--splits", "random", "--model", "mlp", "--preset", "graphsaint", "--epochs", "60", "--hidden", "32", "--save", model, "--csv", csv}
		lines := tasktest.Results(t, append(args, "--json")...)
		s := lines[len(lines)-1]
		if s["learns"] != tt.kind || s["test_accuracy"] != nil || s["test_"+tt.key] == nil || s[tt.extra] == nil || s["test_"+tt.key].(float64) < 0.8 {
			t.Errorf("%s: the summary is %v", tt.kind, s)
		}
		if tt.numbers && s["test_mae"].(float64) > 15 {
			t.Errorf("a MAE of %v, in units of which 30 are a deviation", s["test_mae"])
		}
		if b, err := os.ReadFile(csv); err != nil || !strings.HasPrefix(string(b), "seed,epoch,loss,train_"+tt.key+",val_loss,") {
			t.Errorf("%s: the epochs are %.80s, error %v", tt.kind, b, err)
		}
		scored := tasktest.Results(t, "eval", model, "--json")[0]
		if scored["test_"+tt.key] != s["test_"+tt.key] || scored[tt.extra] != s[tt.extra] {
			t.Errorf("%s: eval says %v, train %v", tt.kind, scored, s)
		}
		rows := strings.Split(strings.TrimSpace(tasktest.OK(t, "predict", model)), "\n")
		if len(rows) != 121 || !strings.HasPrefix(rows[0], `id,"0","0 known","1","1 known"`) {
			t.Fatalf("%s: %d rows, the first of which is %s", tt.kind, len(rows), rows[0])
		}
		var node int
		var got [4]float64
		if _, err := fmt.Sscanf(rows[1], "%d,%g,%g,%g,%g", &node, &got[0], &got[1], &got[2], &got[3]); err != nil || tt.numbers && math.Abs(got[0]-got[1]) > 60 || !tt.numbers && (got[0] < 0 || got[0] > 1) {
			t.Errorf("%s: %s, error %v", tt.kind, rows[1], err)
		}
		one := tasktest.Results(t, "predict", model, "--json", "--nodes", "3")[0]
		if one["node"] != 3.0 || len(one["values"].([]any)) != 2 || one["known"].([]any)[0] == nil {
			t.Errorf("%s: %v", tt.kind, one)
		}
		page := tasktest.OK(t, slices.Concat(args, []string{"--batch", "32", "--epochs", "2"})...)
		if !strings.Contains(page, "predicts 2 "+tt.kind) {
			t.Errorf("%s: the page does not say what is learnt:\n%s", tt.kind, page)
		}
	}
	file := tasktest.Saved(t, tasktest.Tagged(t, false))
	for args, want := range map[string]string{
		"--loss mae":          "--loss mae: it is for predicting numbers, and here each node has labels to predict",
		"--splits shchur":     "--splits shchur: it takes as many nodes of each class, and here nodes have labels",
		"--attention a.csv":   "--attention: it shows classes",
		"--task graph":        "d.npz",
		"--folds 2":           "--folds 2: there must be at least 3",
		"--folds 3 --seeds 2": "--folds 3 and --seeds: each fold is a split",
	} {
		a := append([]string{"train", "--dataset", file}, strings.Fields(args)...)
		if !strings.Contains(args, "splits") && !strings.Contains(args, "folds") {
			a = append(a, "--splits", "random")
		}
		if _, stderr, status := tasktest.Gatbench(t, a...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}

// A number that is not known is left out of the loss, of what standardises, and of scores.
func TestUnknownNumbers(t *testing.T) {
	nan := tensor.Float(math.NaN())
	y := tensor.Of([]tensor.Float{1, nan, 3, 10, nan, 30}, 3, 2)
	g := task.GoalOf(&datasets.Dataset{Targets: y})
	if err := g.Learn([]int32{0, 1, 2}); err != nil || g.Scale.Mean[0] != 2 || g.Scale.Mean[1] != 20 || g.Scale.Dev[0] != 1 || g.Scale.Dev[1] != 10 {
		t.Fatalf("%+v, error %v", g.Scale, err)
	}
	out := tensor.Of([]tensor.Float{-1, 5, 2, -1, 0, 1}, 3, 2) // right but for the second row's first, one off
	e, ok := g.Errors(out, []int32{0, 1, 2})
	if !ok || e.MAE != 0.25 || math.Abs(e.R2-0.75) > 1e-9 {
		t.Errorf("errors %+v", e)
	}
	if err := g.Learn([]int32{0}); err == nil || !strings.Contains(err.Error(), "number 1 is known of no example that trains") {
		t.Errorf("a column that nobody knows: %v", err)
	}
	if g := task.NewGoal(models.GoalOfGraphs(&datasets.Graphs{Targets: tensor.Of([]tensor.Float{0, nan, 1}, 3, 1)})); g.Learns != "labels" || !g.Known(0) || g.Known(1) {
		t.Errorf("numbers that are all 0 or 1: %+v", g)
	}
}

// Graphs with several labels, and with numbers, are learnt on a split and by folds; the
// model is saved, scored and used, and a training goes on to the same bits.
func TestKindsOfGraphs(t *testing.T) {
	for _, tt := range []struct {
		numbers          bool
		kind, key, extra string
	}{{false, "labels", "micro_f1", "test_roc_auc"}, {true, "numbers", "r2", "test_rmse"}} {
		file, dir := tasktest.Chemistry(t, tt.numbers), t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		args := []string{"train", "--task", "graph", "--dataset", file, "--hidden", "8", "--layers", "3", "--dropout", "0", "--lr", "0.03", "--json", "--batch", "16"}
		split := slices.Concat(args, []string{"--splits", "random"})
		whole := tasktest.Results(t, slices.Concat(split, []string{"--epochs", "30", "--save", at("m"), "--checkpoint", at("whole")})...)
		s := whole[len(whole)-1]
		if s["learns"] != tt.kind || s[tt.extra] == nil || s["test_accuracy"] != nil || s["train_"+tt.key].(float64) < 0.6 || s["batch"] != 16.0 {
			t.Errorf("%s: the summary is %v", tt.kind, s)
		}
		tasktest.Results(t, slices.Concat(split, []string{"--epochs", "6", "--checkpoint", at("half")})...)
		rest := tasktest.Results(t, slices.Concat(split, []string{"--epochs", "30", "--resume", at("half")})...)
		if last := rest[len(rest)-1]; last["val_"+tt.key] != s["val_"+tt.key] || last["test_"+tt.key] != s["test_"+tt.key] {
			t.Errorf("%s: a run that was resumed has %v, one that was not %v", tt.kind, last, s)
		}
		if e := tasktest.Results(t, "eval", at("m"), "--json")[0]; e["test_"+tt.key] != s["test_"+tt.key] || e[tt.extra] != s[tt.extra] {
			t.Errorf("%s: eval says %v, train %v", tt.kind, e, s)
		}
		if text := tasktest.OK(t, "eval", at("m")); !strings.Contains(text, "GIN on mols") {
			t.Errorf("%s: %s", tt.kind, text)
		}
		if rows := strings.Split(strings.TrimSpace(tasktest.OK(t, "predict", at("m"))), "\n"); len(rows) != 61 || !strings.HasPrefix(rows[0], map[string]string{"numbers": `graph,id,"y","y known"`, "labels": `graph,id,"0","0 known"`}[tt.kind]) {
			t.Errorf("%s: %d rows, the first of which is %s", tt.kind, len(rows), rows[0])
		}
		folds := tasktest.Results(t, slices.Concat(args, []string{"--epochs", "2", "--folds", "3"})...)
		if f := folds[len(folds)-1]; f["test_"+tt.key+"_mean"] == nil || f[tt.extra] == nil || f["learns"] != tt.kind {
			t.Errorf("%s: the folds are %v", tt.kind, f)
		}
	}
	if _, stderr, status := tasktest.Gatbench(t, "eval", "nothing.safetensors"); status != cli.Failed || !strings.Contains(stderr, "nothing.safetensors") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// What a file says of a model that cannot be is an error, before memory is taken for it.
func TestHostileModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	write := func(model any) {
		t.Helper()
		text, err := json.Marshal(model)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := json.Marshal(map[string]map[string]string{"__metadata__": {"format": "edgewise", "version": "1", "model": string(text)}})
		if err == nil {
			err = os.WriteFile(path, tasktest.SavedOf(string(meta)), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	some := func(change func(n *graphs.Network)) *graphs.Network {
		n := &graphs.Network{Task: task.Graph, Recipe: graphs.GIN(), In: 3, Out: 2}
		n.Recipe.Dataset = "MUTAG"
		change(n)
		return n
	}
	for want, n := range map[string]*graphs.Network{
		"more than its":      some(func(n *graphs.Network) { n.Recipe.Hidden = 65536 }),
		"at most 65536":      some(func(n *graphs.Network) { n.Recipe.Hidden = 1 << 30 }),
		"it has scales of 0": some(func(n *graphs.Network) { n.Kind = task.SomeReals }),
		"nnconv without":     some(func(n *graphs.Network) { n.Recipe.Model = "nnconv" }),
		"rgcn without kinds": some(func(n *graphs.Network) { n.Recipe.Model = "rgcn" }),
		"gcn with 3":         some(func(n *graphs.Network) { n.Recipe.Model, n.Recipe.EdgeIn = "gcn", 3 }),
		"more than":          some(func(n *graphs.Network) { n.Recipe.Model, n.Recipe.Kinds = "rgcn", 60000 }),
		"it learns":          some(func(n *graphs.Network) { n.Kind = "wishes" }),
		"features and":       some(func(n *graphs.Network) { n.In = -1 }),
	} {
		write(n)
		for _, command := range []string{"train --task graph --resume"} {
			if _, stderr, status := tasktest.Gatbench(t, append(strings.Fields(command), path)...); status == cli.Succeeded || !strings.Contains(stderr, want) {
				t.Errorf("%s: status %d, %s, want %s", command, status, stderr, want)
			}
		}
	}
	r, err := node.NewRecipe("quick", "mlp", "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Hidden = 1
	write(&node.Network{Recipe: r, In: 10, Classes: 2, Kind: task.SomeReals, Scale: models.Scale{Mean: []float64{1}}})
	if _, stderr, status := tasktest.Gatbench(t, "train", "--resume", path); status == cli.Succeeded || !strings.Contains(stderr, "it has scales of 1 and 0 numbers, and gives 2") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Each node tests once.
func TestFoldsOfNodes(t *testing.T) {
	lines := tasktest.Results(t, "train", "--dataset", "karate", "--folds", "4", "--model", "gcn", "--epochs", "3", "--json")
	if o := lines[len(lines)-1]; o["event"] != "seeds" || o["seeds"] != 4.0 || len(lines) != 4*4+1 {
		t.Errorf("%d lines, the last of which is %v", len(lines), o)
	}
}

// Nodes of many graphs are learnt where the graphs say something of them: those of graphs
// that test are in no step.
func TestNodesOfGraphs(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		part := []string{"train", "train", "val", "test"}[i%4]
		fmt.Fprintf(&b, `{"x": [[%d, 1], [1, %d], [0, 0]], "edges": [[0, 1], [1, 2]], "directed": false, "node_y": [[%d, 1], [1, %d], [0, null]], "split": %q}`+"\n", i%2, i%3/2, i%2, i%3/2, part)
	}
	path := filepath.Join(t.TempDir(), "proteins.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	lines := tasktest.Results(t, "train", "--task", "node", "--dataset", path, "--model", "sage", "--epochs", "60", "--json", "--batch", "20")
	if s := lines[len(lines)-1]; s["learns"] != "labels" || s["test_micro_f1"].(float64) < 0.8 {
		t.Errorf("%v", s)
	}
}

// A class that only examples have which do not train is said, of nodes and of graphs; it ends
// no training.
func TestClassOfTheTestAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t_nodes.csv": "id,f,label,split\na,1,x,train\nb,2,y,train\nc,1,x,val\nd,2,y,val\ne,3,z,test\nf,1,x,test\n",
		"t_edges.csv": "source,target\na,b\nc,d\ne,f\na,c\nb,d\n",
		"g.jsonl": `{"x":[1],"label":"a","split":"train"}` + "\n" + `{"x":[2],"label":"b","split":"train"}` + "\n" +
			`{"x":[2],"label":"b","split":"val"}` + "\n" + `{"x":[3],"label":"c","split":"test"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"--model gcn --dataset t_edges.csv":        "no training node has class z; the validation and test parts have 1, about which no model",
		"--task graph --batch 2 --dataset g.jsonl": "no training graph has class c; the validation and test parts have 1, about which no model",
	} {
		line := append([]string{"train", "--epochs", "2"}, strings.Fields(strings.Replace(args, "--dataset ", "--dataset "+dir+"/", 1))...)
		if text := strings.Join(strings.Fields(tasktest.OK(t, line...)), " "); !strings.Contains(text, want) {
			t.Errorf("%s: %s", args, text)
		}
	}
	if text := tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "1"); strings.Contains(text, "that trains is of class") {
		t.Errorf("where each class trains: %s", text)
	}
}
