package main

import (
	"path/filepath"
	"strings"
	"testing"

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
	for _, f := range []form{formBinary, formRows} {
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

	file := filepath.Join(t.TempDir(), "m.safetensors")
	lines := results(t, "train", "--json", "--dataset", "karate", "--splits", "random", "--epochs", "5", "--encoding", "random-walk:4", "--save", file)
	s, e := lines[len(lines)-1], results(t, "eval", "--json", file)[0]
	for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
		if s[key] != e[key] {
			t.Errorf("%s was %v and is %v", key, s[key], e[key])
		}
	}
	if s["encoding"] != "random-walk:4" {
		t.Errorf("the summary says %v", s["encoding"])
	}
	if n, err := loadNetwork(file); err != nil || n.In != 34+4 {
		t.Errorf("the model is for %d features, error %v", n.In, err)
	}
	if rows := strings.Count(ok(t, "predict", file), "\n"); rows != 35 {
		t.Errorf("predict writes %d lines", rows)
	}
	if text := ok(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "2", "--encoding", "laplacian:3"); !strings.Contains(strings.ReplaceAll(text, "\n", " "), "and 3 columns of the laplacian encoding") || !strings.Contains(text, " --encoding laplacian:3") {
		t.Errorf("the page says\n%s", text)
	}
	if _, stderr, status := gatbench(t, "train", "--encoding", "walk:2"); status != misused || !strings.Contains(stderr, "--encoding walk: there is no such name") {
		t.Errorf("status %d, %s", status, stderr)
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
