package node

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
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

// edgeArgs trains on a column of edges.
func edgeArgs(path string, more ...string) []string {
	args := append([]string{"train", "--json", "--dataset"}, strings.Fields(path)...)
	args = append(args, "--model", "sage", "--hidden", "16", "--dropout", "0", "--lr", "0.02", "--epochs", "40")
	return append(args, more...)
}

// What only the groups of both ends say is learnt. The saved model is as good, says the same of an
// edge in both directions, and goes on where it stopped.
func TestEdgeTask(t *testing.T) {
	data, file := tasktest.Neighbourhoods(t, false)+" --label kind --undirected --column year=none", filepath.Join(t.TempDir(), "m.safetensors")
	lines := tasktest.Results(t, edgeArgs(data, "--task", "edge", "--save", file)...)
	s := lines[len(lines)-1]
	if accuracy := s["test_accuracy"].(float64); accuracy < 0.85 || accuracy < s["test_majority"].(float64)+0.15 {
		t.Errorf("%v", s)
	}
	scored := tasktest.Results(t, "eval", "--json", file)[0]
	for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy", "test_macro_f1", "test_auc"} {
		if scored[key] != s[key] {
			t.Errorf("%s is %v, and of the saved model %v", key, s[key], scored[key])
		}
	}
	right, said := 0, strings.Split(strings.TrimSpace(tasktest.OK(t, "predict", file)), "\n") // a line for each of the table
	for _, line := range said[1:] {
		f := strings.Split(line, ",")
		if f[2] == f[5] {
			right++
		}
	}
	// Of each five edges three train, one validates and one tests, but for each second of these, of which nothing is known.
	want := (180*scored["train_accuracy"].(float64) + 60*scored["val_accuracy"].(float64) + 30*scored["test_accuracy"].(float64))
	if said[0] != "source,target,class,name,probability,label,p_across,p_inside" || len(said) != 301 || float64(right) != want {
		t.Errorf("%s, %d lines, %d right, want %v", said[0], len(said), right, want)
	}
	if some := tasktest.OK(t, "predict", file, "--nodes", "n3,n4", "--json"); !strings.Contains(some, `"source":"n3"`) || strings.Contains(some, `"source":"n5","target":"n6",`) {
		t.Errorf("%s", some)
	}
	batches := tasktest.Results(t, edgeArgs(data, "--epochs", "2", "--batch", "50", "--fanout", "9,9")...)
	if last := batches[len(batches)-1]; last["batch"].(float64) != 50 || last["train_accuracy"].(float64) < 0.6 {
		t.Errorf("in batches: %v", last)
	}
	seeds := tasktest.Results(t, edgeArgs(data, "--epochs", "1", "--splits", "random", "--seeds", "2")...)
	if a, b := seeds[1], seeds[3]; a["test_accuracy"] == b["test_accuracy"] || seeds[4]["seeds"].(float64) != 2 {
		t.Errorf("two seeds: %v and %v", a, b)
	}
	run := filepath.Join(t.TempDir(), "run")
	tasktest.Results(t, edgeArgs(data, "--epochs", "20", "--checkpoint", run)...)
	rest := tasktest.Results(t, "train", "--json", "--resume", run, "--epochs", "40")
	if a, b := rest[len(rest)-1], s; a["test_accuracy"] != b["test_accuracy"] || rest[len(rest)-2]["loss"] != lines[len(lines)-2]["loss"] {
		t.Errorf("resumed %v, and at once %v", a, b)
	}
}

// What edges that test are is never read: where it is the opposite, all is learnt and said as before.
func TestEdgeLabelsAreNotRead(t *testing.T) {
	var said [2]string
	for i := range said {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		tasktest.Results(t, edgeArgs(tasktest.Neighbourhoods(t, i == 1), "--label", "kind", "--undirected", "--column", "year=none", "--model", "gat", "--epochs", "3", "--save", file)...)
		if n, err := Open(file); err != nil || !n.Recipe.Residual || n.Task != task.Edge {
			t.Errorf("%+v, error %v: an attention that forgets the node itself learns little of edges", n, err)
		}
		for line := range strings.Lines(tasktest.OK(t, "predict", file, "--json")) {
			said[i] += line[:strings.Index(line, `"label"`)]
		}
	}
	if said[0] != said[1] {
		t.Error("the labels of edges that test are read")
	}
}

// Edges between the same two nodes are in one part, those of each class in all parts, and what is
// not known in none. Where direction means nothing a pair counts once, with the mean of its features.
func TestEdgeSplits(t *testing.T) {
	var src, dst []int32
	for v := range int32(20) {
		src, dst = append(src, v, (v+1)%20, v), append(dst, (v+1)%20, v, (v+5)%20)
	}
	d := &datasets.Dataset{Graph: graph.Must(graph.New(20, src, dst)), Classes: 2}
	d.Features, d.EdgeLabels = tensor.New(20, 1), make([]int32, 60)
	for e, u := range d.Graph.In().Cols {
		d.EdgeLabels[e] = (u + d.Graph.Destinations()[e]) % 3 / 2
	}
	d.EdgeLabels[7] = -1
	g := task.GoalOf(d)
	p, err := models.NewPairing(d, &g.Goal, false)
	if err != nil || p.Mirrored {
		t.Fatal(p, err)
	}
	part, classes := map[[2]int32]int{}, [3][2]int{}
	split := fifthsOfEdges(p, g, 1)
	for i, list := range [][]int32{split.Train, split.Val, split.Test} {
		for _, e := range list {
			u, v := d.Graph.In().Cols[e], d.Graph.Destinations()[e]
			if was, ok := part[[2]int32{min(u, v), max(u, v)}]; ok && was != i || e == 7 {
				t.Errorf("edge %d from %d to %d is in two parts, or not known", e, u, v)
			}
			part[[2]int32{min(u, v), max(u, v)}] = i
			classes[i][d.EdgeLabels[e]]++
		}
	}
	for _, of := range classes {
		if of[0] == 0 || of[1] == 0 {
			t.Errorf("classes %v", classes)
		}
	}

	both := d.Undirected()
	both.EdgeLabels = make([]int32, both.Graph.NumEdges())
	g = task.GoalOf(both)
	if p, err = models.NewPairing(both, &g.Goal, true); err != nil || !p.Mirrored || len(p.Edge) != 40 {
		t.Fatal(p, err)
	}
	back := int32(slices.IndexFunc(p.Of, func(pair int32) bool { return pair == p.Of[0] })) // edge 0, and its reverse after it
	for e := range p.Of {
		if p.Of[e] == p.Of[0] {
			back = int32(e)
		}
	}
	if s := together(p, datasets.Split{Train: []int32{back}, Test: []int32{0, 5}}, g); len(s.Train) != 1 || len(s.Test) != 1 || p.Of[s.Train[0]] != p.Of[0] {
		t.Errorf("edges 0 and %d are one: %v", back, s)
	}
	x := tensor.New(both.Graph.NumEdges(), 1)
	x.Data[0], x.Data[back] = 1, 4
	if p.Describe(x); p.Own.Row(int(p.Of[0]))[0] != 2.5 {
		t.Errorf("features %v", p.Own.Data)
	}
	if from := p.From[p.Of[0]]; p.Some([]int32{back}, []int32{9, from}).From[0] != 1 {
		t.Errorf("node %d is not row 1 of its list", from)
	}
}

// A step that computes only the rows of nodes that its edges end at, or reads a batch of edges, has the
// loss of one that computes all.
func TestNeededRowsOfEdges(t *testing.T) {
	k, err := openTaskOf(task.Edge, "", tasktest.Neighbourhoods(t, false), false, Choice{Splits: source.SplitsOwn, Tables: source.Columns{Label: "kind", Column: "year=none"}})
	if err != nil {
		t.Fatal(err)
	}
	k.Parts.Train = k.Parts.Train[:3]
	r, err := NewRecipe("quick", "sage", "town")
	if err != nil {
		t.Fatal(err)
	}
	r.Layers, r.Dropout = 1, 0
	if err := k.Suit(&r); err != nil {
		t.Fatal(err)
	}
	net, err := k.network(r)
	if err != nil {
		t.Fatal(err)
	}
	few, all := k.Needed(net), k.Every(net)
	if few.Hops[0].Graph == all.Hops[0].Graph {
		t.Fatal("all rows are needed")
	}
	loader := k.loader(net)
	loader.Size, loader.Ordered = 3, true
	b := batchAt(t, loader, 1)
	losses := map[string]*grad.Var{"the rows that are needed": k.lossOf(net)(tape()), "a batch": k.lossOfBatch(net, &b)(tape())}
	want := k.Goal.LossOf("", k.Parts.Train)(net.Run(tape(), all)).Value().Data[0]
	for what, loss := range losses {
		if got := loss.Value().Data[0]; math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("%s: loss %v, and of all rows %v", what, got, want)
		}
	}
}

// Numbers of edges and several labels of them are learnt as those of nodes are, some parts by time,
// and what is learnt is written beside what is known.
func TestEdgeGoals(t *testing.T) {
	var edges strings.Builder
	edges.WriteString("source,target,price,late,lost,year\n")
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 120 {
		u, v := i%20, (i/20*3+1+i)%20
		price := fmt.Sprintf("%.2f", float64(u%2)-float64(v%2)+rng.NormFloat64()/20)
		if i == 119 {
			price = ""
		}
		fmt.Fprintf(&edges, "%d,%d,%s,%d,%d,%d\n", u, v, price, u%2, v%2, 2000+i)
	}
	nodes := "id,odd\n"
	for v := range 20 {
		nodes += fmt.Sprintf("%d,%d\n", v, v%2)
	}
	data, file := tasktest.Tables(t, nodes, edges.String()), filepath.Join(t.TempDir(), "m.safetensors")
	for column, key := range map[string]string{" --label price --column odd=plain,late=none,lost=none": "test_r2", " --label late,lost --column odd=plain,price=none": "test_micro_f1"} {
		lines := tasktest.Results(t, edgeArgs(data+column+",year=none", "--splits", "time:year:2070,2090", "--save", file)...)
		s := lines[len(lines)-1]
		if s[key].(float64) < 0.9 {
			t.Errorf("%s: %v", column, s)
		}
		if scored := tasktest.Results(t, "eval", "--json", file)[0]; math.Abs(scored[key].(float64)-s[key].(float64)) > 1e-6 { // the answers that eval measures are rounded to float32
			t.Errorf("%s: %v, and of the saved model %v", column, s[key], scored[key])
		}
		said := strings.Split(tasktest.OK(t, "predict", file), "\n")
		want := `source,target,"price","price known"`
		if key == "test_micro_f1" {
			want = `source,target,"late","late known","lost","lost known"`
		}
		if said[0] != want || len(said) != 122 {
			t.Errorf("%s: %d lines, %s, want %s", column, len(said), said[0], want)
		}
	}
}

// What cannot be learnt, and flags that edges have no use for, are refused with what to do.
func TestEdgeMisuse(t *testing.T) {
	nodes := "id,x,side\na,1,l\nb,2,r\nc,3,l\nd,4,r\n"
	data := tasktest.Tables(t, nodes, "source,target,kind,one,two,split\na,b,x,1,1,train\nb,a,y,1,2,test\nb,c,x,1,1,val\nc,d,y,1,2,test\n")
	late := tasktest.Tables(t, nodes, "source,target,kind,split\na,b,x,test\nb,c,y,val\n")
	gap := tasktest.Tables(t, nodes, "source,target,kind,split\na,b,x,train\nb,c,y,test\n")
	far := tasktest.Tables(t, nodes, "source,target,kind,km,cost\na,b,x,1,2\na,c,x,1,2\na,d,x,1,2\nb,c,y,1,2\nb,d,y,1,2\nc,d,y,1,2\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	tasktest.Results(t, edgeArgs(data, "--label", "kind", "--epochs", "1", "--save", model)...)
	for args, want := range map[string]string{
		"train --task edge --dataset cora":                                   "its edges have no classes, labels or numbers to predict: name the column to predict, in the table of edges, with --label COLUMN",
		"train --task edge --dataset " + data + " --label side":              "its edges have no classes",
		"train --task node --dataset " + data + " --label kind":              "the column of --label is one of its edges: use --task edge",
		"train --dataset " + data + " --label side,kind":                     "are of nodes and of edges: one of these is learnt",
		"train --dataset " + data + " --label one":                           "all its edges are of one class, so there is nothing to learn",
		"train --dataset " + data + " --label kind --undirected":             `of the edge between "a" and "b" "x" is learnt in one direction, and "y" in the other: correct one of them, or leave undirected out`,
		"train --undirected --dataset " + data + " --label kind":             "in one direction, and",
		"train --dataset " + late + " --label kind":                          "the split has no training edges",
		"train --dataset " + gap + " --label kind":                           "too few edges to be divided: something to learn is known of 1",
		"train --dataset " + data + " --label kind --splits shchur":          "--splits shchur: it takes as many nodes of each class, and here edges have classes: take 60/20/20",
		"train --dataset " + data + " --label kind --folds 5":                task.Named(task.Edge).About().Refuses["folds"],
		"train --dataset " + data + " --label kind --inductive":              task.Named(task.Edge).About().Refuses["inductive"],
		"train --dataset " + data + " --label kind --splits time":            "nothing says when its edges came",
		"eval " + model + " --dataset karate":                                "its edges have no classes",
		"eval " + model + " --splits random --dataset " + far:                `there is no column "two", which the model reads as a number`,
		"train --model rgcn --dataset " + data + " --label kind":             "it reads the kinds of edges, one of each, and those of town have none",
		"explain --node 0 " + model:                                          "is a model of edges, and explain needs a model of nodes",
		"predict " + model + " --pairs x.csv":                                "--pairs: it is for models of links: leave it out",
		"predict " + model + " --nodes 4":                                    `there is no node with the id "4"`,
		"table --datasets " + data + " --label kind --models sage --seeds 1": "the column of --label is one of its edges",
	} {
		if _, stderr, status := tasktest.Gatbench(t, strings.Fields(args)...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
	for flag, remedy := range task.Named(task.Edge).About().Refuses {
		value := map[string]string{"inductive": "--task=edge", "readout": "max", "pool": "sag", "picture": "x.svg", "attention": "x.csv"}[flag]
		_, stderr, status := tasktest.Gatbench(t, "train", "--task", "edge", "--dataset", data, "--label", "kind", "--"+flag, cmp.Or(value, "5"))
		if status != cli.Misused || !strings.Contains(stderr, remedy) {
			t.Errorf("--%s: status %d, %s, want %s", flag, status, stderr, remedy)
		}
	}
}

// tape returns the tape of a first step.
func tape() *grad.Tape {
	t := grad.NewTape(0)
	t.Reset()
	return t
}
