package node

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Models of nodes read features or kinds of edges where the data has them: what only these tell
// is learnt, and by models that read none it is not. Saved ones say the same again.
func TestEdgesOfNodes(t *testing.T) {
	data := tasktest.Friends(t)
	train := func(model string, more ...string) map[string]any {
		args := []string{"train", "--dataset", data, "--column", "left=plain,right=plain", "--epochs", "20", "--hidden", "8", "--dropout", "0", "--lr", "0.02", "--weight-decay", "0", "--json", "--model", model}
		lines := tasktest.Results(t, append(args, more...)...)
		return lines[len(lines)-1]
	}
	for _, name := range models.Names(models.MayNumbers, models.WantsNumbers, models.MayKinds, models.WantsKinds) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.safetensors")
			epochs, rate := "20", "0.05"
			switch name { // these are slower
			case "gin", "monet":
				epochs, rate = "60", "0.02"
			case modelGPS:
				epochs, rate = "100", "0.01"
			}
			s := train(name, "--save", file, "--epochs", epochs, "--lr", rate)
			key := "edge_features"
			if slices.Contains(models.Names(models.MayKinds, models.WantsKinds), name) {
				key = "edge_kinds"
			}
			if s["test_accuracy"].(float64) < 0.9 || s[key] != 2.0 {
				t.Errorf("it ends with %v", s)
			}
			if e := tasktest.Results(t, "eval", "--json", file)[0]; e["test_accuracy"] != s["test_accuracy"] || e["test_loss"] == nil {
				t.Errorf("%v is trained, and %v read again", s, e)
			}
		})
	}
	for name, more := range map[string]string{"gcn": "--no-edge-features", "gatv2": "--no-edge-features"} {
		if s := train(name, more); s["test_accuracy"].(float64) > 0.65 || s["edge_features"] != nil {
			t.Errorf("%s %s ends with %v", name, more, s)
		}
	}
}

// What a network that reads edges gives on blocks, and on a part of the graph as explain has it, is
// what it gives on the whole.
func TestEdgesOnBlocks(t *testing.T) {
	data := tasktest.Friends(t)
	for _, name := range []string{"gatv2", "gin", "nnconv", "rgcn"} {
		k, err := OpenExamples("", data, false, Choice{Splits: source.SplitsOwn})
		if err != nil {
			t.Fatal(err)
		}
		standard := string(task.FormStandard)
		f := &Training{Flags: &task.Flags{SettingFlags: task.SettingFlags{Dataset: &data, Model: &name, Features: &standard}}}
		r, err := f.fresh()
		if err != nil {
			t.Fatal(err)
		}
		if r, err = f.settled(k, r); err != nil {
			t.Fatal(err)
		}
		r.Rows = RowsNeeded
		net, err := NewNetwork(r, k.Rows.Shape()[1], k.Goal.Outputs)
		if err != nil {
			t.Fatal(err)
		}
		whole := k.said(grad.NewEval(), net)
		seeds := []int32{7, 0, 191}
		part, err := graph.Neighbourhood(k.GraphOf(net.Network), seeds, 2)
		if err != nil {
			t.Fatal(err)
		}
		hop := models.Hop{Graph: part}
		if r.EdgeIn > 0 {
			hop.Edge = grad.Const(datasets.GatherRows(k.Edges, part.From().Edges))
		}
		for what, got := range map[string]*tensor.Dense{
			"a batch": net.Run(grad.NewEval(), batchOf(t, k, net, seeds)).Value(),
			"a part":  net.Run(grad.NewEval(), net.Whole(hop, grad.Const(datasets.GatherRows(k.Rows, part.From().Src)))).Value(),
		} {
			for i, v := range seeds {
				for j, want := range whole.Row(int(v)) {
					row := i
					if what == "a part" {
						row = slices.Index(part.From().Src, v)
					}
					if d := got.Row(row)[j] - want; d > 1e-4 || d < -1e-4 {
						t.Errorf("%s: %s gives node %d %v, the whole graph %v", name, what, v, got.Row(row), whole.Row(int(v)))
						break
					}
				}
			}
		}
	}
}

// A training that reads edges is resumed, explained and used as any other, and what cannot be is
// refused with a remedy.
func TestEdgesOfNodesRefused(t *testing.T) {
	data, dir := tasktest.Friends(t), t.TempDir()
	half, file := filepath.Join(dir, "half"), filepath.Join(dir, "m")
	base := []string{"train", "--dataset", data, "--model", "nnconv", "--json"}
	run := func(more ...string) map[string]any {
		lines := tasktest.Results(t, append(slices.Clone(base), more...)...)
		return lines[len(lines)-1]
	}
	whole := run("--epochs", "6", "--save", file, "--batch", "50")
	run("--epochs", "3", "--batch", "50", "--checkpoint", half)
	if rest := tasktest.Results(t, "train", "--resume", half, "--epochs", "6", "--json"); rest[len(rest)-1]["val_accuracy"] != whole["val_accuracy"] || rest[len(rest)-1]["edge_features"] != 2.0 {
		t.Errorf("a run that was resumed ends with %v, one that was not with %v", rest[len(rest)-1], whole)
	}
	if rows := tasktest.Results(t, "predict", "--json", file); len(rows) != 200 {
		t.Errorf("%d predictions", len(rows))
	}
	if text := tasktest.OK(t, "explain", file, "--node", "3", "--method", "saliency"); !strings.Contains(text, "NNConv") {
		t.Errorf("explain says %s", text)
	}
	run("--inductive", "--epochs", "1")
	for line, want := range map[string]string{
		"train --model gcn --dataset " + data: "--model gcn: it reads no features of edges, and those of friends have 2: gat, gatv2, gin,",
		"train --model nnconv":                "--model nnconv: it reads the features of edges, and there are none: take gat",
		"train --model rgcn":                  "--model rgcn: it reads the kinds of edges, one of each, and those of Cora have none: a table of edges says them in a column of words that is called relation",
		"train --task node --dataset ../../../datasets/testdata/club_edges.csv --label relation": "the column of --label is one of its edges: use --task edge",
		"train --no-edge-features":                                   "--no-edge-features: the edges of Cora have none: leave it out",
		"table --datasets cora --models nnconv --seeds 1 --epochs 1": "--model nnconv: it reads the features of edges, and there are none: take gat",
		"eval " + file + " --splits random --dataset karate":         "nodes have 34 features, and the model was made for 2: use data whose columns are those of its training",
		"train --resume " + half + " --no-edge-features --epochs 9":  "leave the flag out",
	} {
		if _, stderr, status := tasktest.Gatbench(t, strings.Fields(line)...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}

// A table has the models that read edges as train has them, and says of the others that they do not.
func TestTableReadsEdges(t *testing.T) {
	data := tasktest.Friends(t)
	with := func(command string, more ...string) []map[string]any {
		return tasktest.Results(t, append([]string{command, "--json", "--epochs", "20", "--preset", "quick", "--features", "standard"}, more...)...)
	}
	trained := with("train", "--dataset", data, "--model", "gat")
	cells := with("table", "--datasets", data, "--models", "gat,gcn", "--seeds", "1")
	want := trained[len(trained)-1]["test_accuracy"].(float64)
	if got := cells[0]["test_accuracy_mean"].(float64); len(cells) != 2 || got != want {
		t.Errorf("gat in the table %v, trained %v: %v", got, want, cells)
	}
	left := with("table", "--datasets", data, "--models", "gat", "--seeds", "1", "--no-edge-features")
	if got := left[0]["test_accuracy_mean"].(float64); got == want {
		t.Errorf("gat without features of edges is as good, %v", got)
	}
	out, stderr, status := tasktest.Gatbench(t, "table", "--datasets", data, "--models", "gat,gcn", "--seeds", "1", "--epochs", "1", "--preset", "quick")
	if status != cli.Succeeded || !strings.Contains(out, "edge features of friends: not read by gcn") || strings.Contains(out, "not read by gat") {
		t.Errorf("status %d, error %q, output\n%s", status, stderr, out)
	}
	for args, says := range map[string]string{
		"--models nnconv --datasets cora":                 "--model nnconv: it reads the features of edges, and there are none",
		"--models gat --no-edge-features --datasets cora": "--no-edge-features: the edges of Cora have none",
	} {
		_, stderr, status := tasktest.Gatbench(t, append([]string{"table", "--seeds", "1", "--epochs", "1"}, strings.Fields(args)...)...)
		if status != cli.Misused || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d, error %q", args, status, stderr)
		}
	}
}

// Words that are codes, of nodes and of edges, are learnt; a training goes on to the same bits, and a model that was saved says the same.
func TestCodesOfNodes(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(4, 4)), t.TempDir()
	var nodes, edges strings.Builder
	nodes.WriteString("id,zone,age,label\n")
	edges.WriteString("source,target,channel\n")
	for v := range 300 {
		zone := rng.IntN(30)
		fmt.Fprintf(&nodes, "%d,z%d,%d,%s\n", v, zone, rng.IntN(60), []string{"no", "yes"}[(zone*7%5+tasktest.Btoi(v%40 == 0))%2])
		fmt.Fprintf(&edges, "%d,%d,c%d\n", v, rng.IntN(300), rng.IntN(25))
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"d/nodes.csv": nodes.String(), "d/edges.csv": edges.String()} {
		if err := os.MkdirAll(at("d"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"train", "--dataset", at("d"), "--column", "zone=code", "--column", "channel=code", "--model", "transformer", "--splits", "60/20/20", "--hidden", "4", "--dropout", "0", "--json"}
	whole := tasktest.Results(t, slices.Concat(args, []string{"--epochs", "40", "--save", at("m"), "--checkpoint", at("whole")})...)
	sum := whole[len(whole)-1]
	if sum["test_accuracy"].(float64) < 0.9 {
		t.Errorf("the codes are not learnt: %v", sum)
	}
	tasktest.Results(t, slices.Concat(args, []string{"--epochs", "15", "--checkpoint", at("part")})...)
	on := tasktest.Results(t, "train", "--resume", at("part"), "--epochs", "40", "--json")
	if got := on[len(on)-1]; got["test_accuracy"] != sum["test_accuracy"] || got["best_epoch"] != sum["best_epoch"] {
		t.Errorf("a training that goes on ends in %v, want %v", got, sum)
	}
	if s := tasktest.Results(t, "eval", at("m"), "--json"); s[len(s)-1]["test_accuracy"] != sum["test_accuracy"] {
		t.Errorf("the model that was saved says %v, in training %v", s, sum)
	}
}
