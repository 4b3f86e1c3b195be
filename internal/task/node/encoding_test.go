package node

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
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Networks on nodes get an encoding beside the features, in training and wherever the model is
// used; it is not brought into the features' form.
func TestNodeEncoding(t *testing.T) {
	k, r := taskOf(t, "gcn")
	width := k.Features.Shape()[1]
	r.Encoding = "degree:4"
	for _, r.Features = range []task.Form{task.FormBinary, task.FormRows} {
		f := r.Features
		if err := k.Suit(&r); err != nil {
			t.Fatal(err)
		}
		x := k.Rows.(*sparse.CSR)
		degrees := k.Graph.InDegrees()
		for v := range x.NumRows {
			cols, values := x.Row(v)
			if last := len(cols) - 1; x.NumCols != width+5 || int(cols[last]) != width+min(int(degrees[v]), 4) || values[last] != 1 {
				t.Fatalf("features as %s: node %d of degree %d has %v in column %d of %d", f, v, degrees[v], values[last], cols[last], x.NumCols)
			}
		}
	}
	r.Encoding = ""
	if err := k.Suit(&r); err != nil || k.Rows.Shape()[1] != width {
		t.Errorf("without it again there are %d columns, error %v", k.Rows.Shape()[1], err)
	}

	for list, width := range map[string]int{"random-walk:4": 4, "core,pagerank,louvain:3,degree:2": 1 + 1 + 3 + 3} {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		args := []string{"train", "--json", "--dataset", "karate", "--splits", "random", "--encoding", list, "--seed", "5"}
		lines := tasktest.Results(t, append(args, "--epochs", "5", "--save", file)...)
		s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
			if s[key] != e[key] {
				t.Errorf("%s was %v and is %v", key, s[key], e[key])
			}
		}
		if s["encoding"] != list {
			t.Errorf("the summary says %v", s["encoding"])
		}
		if n, err := Open(file); err != nil || n.In != 34+width {
			t.Errorf("the model is for %d features, error %v", n.In, err)
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `\"Encoding\":\"`+list+`\"`) {
			t.Errorf("the file does not say %s, as earlier files do; error %v", list, err)
		}
		if rows := strings.Count(tasktest.OK(t, "predict", file), "\n"); rows != 35 {
			t.Errorf("predict writes %d lines", rows)
		}
		tasktest.OK(t, "explain", file, "--node", "3")

		cut := filepath.Join(t.TempDir(), "c.safetensors")
		tasktest.Results(t, append(args, "--epochs", "3", "--checkpoint", cut)...)
		again := tasktest.Results(t, "train", "--json", "--resume", cut, "--epochs", "5")
		for key, was := range s {
			if last := again[len(again)-1]; key != "saved" && key != "checkpoint" && !reflect.DeepEqual(last[key], was) {
				t.Errorf("%s: %s of the run that was resumed is %v, want %v", list, key, last[key], was)
			}
		}
	}
	text := tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "2", "--encoding", "laplacian:3,core,louvain:2")
	if says := ", 3 columns of the laplacian encoding, core numbers and the 2 largest communities"; !strings.Contains(strings.Join(strings.Fields(text), " "), says) || !strings.Contains(text, " --encoding laplacian:3,core,louvain:2") {
		t.Errorf("the page says\n%s", text)
	}
}

// The columns of a list stand in its order, and are what their comments say.
func TestEncodingColumns(t *testing.T) {
	g := datasets.Karate().Graph
	b := graph.Batch(g, graph.Must(graph.New(2, []int32{0}, []int32{1})), g)
	all, err := task.EncodingsOf("core,louvain:3,pagerank,degree:1")
	if err != nil {
		t.Fatal(err)
	}
	x, err := all.Of(b)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := all.Of(g)
	if err != nil || x.Dim(1) != 1+3+1+2 {
		t.Fatalf("%d columns, error %v", x.Dim(1), err)
	}
	of, ranks := analysis.Communities(rand.New(rand.NewPCG(0, 0)), g, 1), analysis.PageRank(g, 0.85)
	smaller := 0
	for v, k := range analysis.CoreNumbers(g) {
		rank, want := ranks[v], make([]tensor.Float, 7)
		want[0], want[4], want[6] = tensor.Float(math.Log(1+float64(k))), tensor.Float(math.Log(rank)), 1
		if of[v] < 3 {
			want[1+of[v]] = 1
		} else {
			smaller++
		}
		for _, row := range [][]tensor.Float{alone.Row(v), x.Row(v), x.Row(36 + v)} {
			compare.Near(t, fmt.Sprint("node ", v), row, want, compare.Off(1e-6, 0))
		}
	}
	if smaller == 0 {
		t.Error("no node is in a fourth community: the test says nothing of it")
	}
}

// Networks on graphs and on edges get a list, too, and their files keep it.
func TestGraphAndEdgeEncoding(t *testing.T) {
	edges := filepath.Join(t.TempDir(), "e.csv")
	var text strings.Builder
	text.WriteString("source,target,kind\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d,%c\n", i%13, (i*i+1)%17+13, 'a'+i%2)
	}
	if err := os.WriteFile(edges, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--dataset", tasktest.Molecules(t), "--splits", "random", "--hidden", "4", "--epochs", "3"},
		{"--task", "edge", "--dataset", edges, "--label", "kind", "--epochs", "3"},
	} {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		lines := tasktest.Results(t, append([]string{"train", "--json", "--encoding", "louvain:2,pagerank", "--save", file}, args...)...)
		s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		if s["train_accuracy"] != e["train_accuracy"] || s["val_accuracy"] != e["val_accuracy"] || s["encoding"] != nil && s["encoding"] != "louvain:2,pagerank" {
			t.Errorf("%v: %v, and again %v", args, s, e)
		}
	}
}

// Steps of --inductive read the encoding of the graph that they see.
func TestInductiveEncoding(t *testing.T) {
	k := NewExamples(tasktest.Gaussian(t, 60, 3))
	k.Called = "gaussian"
	if err := k.setSplit(Choice{Splits: source.SplitsRandom}); err != nil {
		t.Fatal(err)
	}
	r := undropped(t, "gat")
	r.Encoding, r.Inductive = "degree:5", true
	if err := k.Suit(&r); err != nil {
		t.Fatal(err)
	}
	seen, err := k.training(&r)
	if err != nil {
		t.Fatal(err)
	}
	trains, x := map[int32]bool{}, seen.Rows.(*tensor.Dense)
	for _, v := range k.Parts.Train {
		trains[v] = true
	}
	for i, v := range k.Parts.Train {
		degree := 0
		for _, u := range k.Graph.Sources(int(v)) {
			degree += tasktest.Btoi(trains[u])
		}
		if at := x.Dim(1) - 6 + min(degree, 5); x.Row(i)[at] != 1 {
			t.Errorf("node %d hears %d nodes that train, and its encoding is %v", v, degree, x.Row(i)[x.Dim(1)-6:])
		}
	}
}
