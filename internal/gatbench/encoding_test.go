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
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Networks on nodes get an encoding beside the features, in training and wherever the model is
// used; it is not brought into the features' form.
func TestNodeEncoding(t *testing.T) {
	k, _ := taskOf(t, "gcn")
	width := k.Features.Shape()[1]
	if err := k.encode("degree:4"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []featureForm{formBinary, formRows} {
		if err := k.use(f); err != nil {
			t.Fatal(err)
		}
		x := k.rows.(*sparse.CSR)
		degrees := k.Graph.InDegrees()
		for v := range x.NumRows {
			cols, values := x.Row(v)
			if last := len(cols) - 1; x.NumCols != width+5 || int(cols[last]) != width+min(int(degrees[v]), 4) || values[last] != 1 {
				t.Fatalf("features as %s: node %d of degree %d has %v in column %d of %d", f, v, degrees[v], values[last], cols[last], x.NumCols)
			}
		}
	}
	if err := k.encode(""); err != nil || k.rows.Shape()[1] != width {
		t.Errorf("without it again there are %d columns, error %v", k.rows.Shape()[1], err)
	}

	for list, width := range map[string]int{"random-walk:4": 4, "core,pagerank,louvain:3,degree:2": 1 + 1 + 3 + 3} {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		args := []string{"train", "--json", "--dataset", "karate", "--splits", "random", "--encoding", list, "--seed", "5"}
		lines := results(t, append(args, "--epochs", "5", "--save", file)...)
		s, e := lines[len(lines)-1], results(t, "eval", "--json", file)[0]
		for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
			if s[key] != e[key] {
				t.Errorf("%s was %v and is %v", key, s[key], e[key])
			}
		}
		if s["encoding"] != list {
			t.Errorf("the summary says %v", s["encoding"])
		}
		if n, err := openNetwork(file); err != nil || n.In != 34+width {
			t.Errorf("the model is for %d features, error %v", n.In, err)
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `\"Encoding\":\"`+list+`\"`) {
			t.Errorf("the file does not say %s, as earlier files do; error %v", list, err)
		}
		if rows := strings.Count(ok(t, "predict", file), "\n"); rows != 35 {
			t.Errorf("predict writes %d lines", rows)
		}
		ok(t, "explain", file, "--node", "3")

		cut := filepath.Join(t.TempDir(), "c.safetensors")
		results(t, append(args, "--epochs", "3", "--checkpoint", cut)...)
		again := results(t, "train", "--json", "--resume", cut, "--epochs", "5")
		for key, was := range s {
			if last := again[len(again)-1]; key != "saved" && key != "checkpoint" && !reflect.DeepEqual(last[key], was) {
				t.Errorf("%s: %s of the run that was resumed is %v, want %v", list, key, last[key], was)
			}
		}
	}
	text := ok(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "2", "--encoding", "laplacian:3,core,louvain:2")
	if says := ", 3 columns of the laplacian encoding, core numbers and the 2 largest communities"; !strings.Contains(strings.Join(strings.Fields(text), " "), says) || !strings.Contains(text, " --encoding laplacian:3,core,louvain:2") {
		t.Errorf("the page says\n%s", text)
	}
}

// The columns of a list stand in its order, and are what their comments say.
func TestEncodingColumns(t *testing.T) {
	g := datasets.Karate().Graph
	b := graph.Batch(g, graph.Must(graph.New(2, []int32{0}, []int32{1})), g)
	all, err := encodingsOf("core,louvain:3,pagerank,degree:1")
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
	of, err := graph.Communities(rand.New(rand.NewPCG(0, 0)), g, 1)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := graph.PageRank(g, 0.85)
	if err != nil {
		t.Fatal(err)
	}
	smaller := 0
	for v, k := range graph.CoreNumbers(g) {
		rank, want := ranks[v], make([]tensor.Float, 7)
		want[0], want[4], want[6] = tensor.Float(math.Log(1+float64(k))), tensor.Float(math.Log(rank)), 1
		if of[v] < 3 {
			want[1+of[v]] = 1
		} else {
			smaller++
		}
		for _, row := range [][]tensor.Float{alone.Row(v), x.Row(v), x.Row(36 + v)} {
			for j, w := range want {
				if math.Abs(float64(row[j]-w)) > 1e-6 {
					t.Fatalf("node %d has %v, want %v", v, row, want)
				}
			}
		}
	}
	if smaller == 0 {
		t.Error("no node is in a fourth community: the test says nothing of it")
	}
}

// The encodings of a task on links are those of the graph of the links that train: the others
// must not be told by them. A saved model gets the same.
func TestLinkEncoding(t *testing.T) {
	r := kipfRecipe()
	r.Features, r.Encoding = formRaw, "degree:40,core"
	d := datasets.Karate()
	k, err := newLinkTask(linkData{Dataset: d}, &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, hidden := k.features.Sparse().Dense(), 0
	cores := graph.CoreNumbers(k.Train.Undirected())
	for v := range d.Graph.NumNodes() {
		degree := 0 // in the links that train
		for e, u := range k.Train.In().Cols {
			degree += btoi(int(u) == v) + btoi(int(k.Train.Destinations()[e]) == v)
		}
		row := x.Row(v)[34:]
		if len(row) != 42 || row[degree] != 1 || math.Abs(float64(row[41])-math.Log(1+float64(cores[v]))) > 1e-6 {
			t.Errorf("node %d has %d links that train and is in core %d, and its encoding is %v", v, degree, cores[v], row)
		}
		hidden += d.Graph.InDegree(v) - degree
	}
	if hidden == 0 {
		t.Error("no link is held back")
	}

	for list, width := range map[string]int{"": 0, "pagerank,louvain:4": 5} {
		file := filepath.Join(t.TempDir(), "links.safetensors")
		args := []string{"train", "--task", "link", "--json", "--dataset", "karate", "--encoding", list, "--seed", "3"}
		lines := results(t, append(args, "--epochs", "6", "--save", file)...)
		s, e := lines[len(lines)-1], results(t, "eval", "--json", file)[0]
		for _, key := range []string{"val_auc", "test_auc", "test_mrr"} {
			if s[key] != e[key] {
				t.Errorf("%q: %s was %v and is %v", list, key, s[key], e[key])
			}
		}
		if a, err := openAutoencoder(file); err != nil || a.In != 34+width || a.Recipe.Encoding != list {
			t.Errorf("%q: the model is for %d features and the encoding %q, error %v", list, a.In, a.Recipe.Encoding, err)
		}
		if text, err := os.ReadFile(file); err != nil || list == "" && strings.Contains(string(text), "Encoding") {
			t.Errorf("a file without an encoding is another than it was, error %v", err)
		}
		if rows := strings.Count(ok(t, "predict", file, "--nodes", "3"), "\n"); rows != 11 {
			t.Errorf("%q: predict writes %d lines", list, rows)
		}
		cut := filepath.Join(t.TempDir(), "c.safetensors")
		results(t, append(args, "--epochs", "3", "--checkpoint", cut)...)
		again := results(t, "train", "--task", "link", "--json", "--resume", cut, "--epochs", "6")
		if last := again[len(again)-1]; last["test_auc"] != s["test_auc"] || last["val_auc"] != s["val_auc"] {
			t.Errorf("%q: the run that was resumed ends at %v, want %v", list, last, s)
		}
	}
	if text := ok(t, "train", "--task", "link", "--dataset", "karate", "--epochs", "1", "--encoding", "core"); !strings.Contains(text, "features: raw and core numbers\n") {
		t.Errorf("the page says\n%s", text)
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
		{"--dataset", molecules(t), "--splits", "random", "--hidden", "4", "--epochs", "3"},
		{"--task", "edge", "--dataset", edges, "--label", "kind", "--epochs", "3"},
	} {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		lines := results(t, append([]string{"train", "--json", "--encoding", "louvain:2,pagerank", "--save", file}, args...)...)
		s, e := lines[len(lines)-1], results(t, "eval", "--json", file)[0]
		if s["train_accuracy"] != e["train_accuracy"] || s["val_accuracy"] != e["val_accuracy"] || s["encoding"] != nil && s["encoding"] != "louvain:2,pagerank" {
			t.Errorf("%v: %v, and again %v", args, s, e)
		}
	}
}

// Steps of --inductive read the encoding of the graph that they see.
func TestInductiveEncoding(t *testing.T) {
	k := newTask(gaussian(t, 60, 3))
	k.name = "gaussian"
	if err := k.setSplit(choice{splits: splitsRandom}); err != nil {
		t.Fatal(err)
	}
	if err := k.encode("degree:5"); err != nil {
		t.Fatal(err)
	}
	seen, err := k.training(&recipe{Inductive: true})
	if err != nil {
		t.Fatal(err)
	}
	trains, x := map[int32]bool{}, seen.rows.(*tensor.Dense)
	for _, v := range k.split.Train {
		trains[v] = true
	}
	for i, v := range k.split.Train {
		degree := 0
		for _, u := range k.Graph.Sources(int(v)) {
			degree += btoi(trains[u])
		}
		if at := x.Dim(1) - 6 + min(degree, 5); x.Row(i)[at] != 1 {
			t.Errorf("node %d hears %d nodes that train, and its encoding is %v", v, degree, x.Row(i)[x.Dim(1)-6:])
		}
	}
}
