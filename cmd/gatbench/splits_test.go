package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
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
		s, err := splitOf(d, goalOf(d), choice{splits: path})
		switch {
		case tt.want == "" && (err != nil || !slices.Equal(s.Train, []int32{1, 3}) || !slices.Equal(s.Test, []int32{7, 33})):
			t.Errorf("%s: %v, %v", tt.content, s, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "--splits "+path+": "+tt.want)):
			t.Errorf("%s: error %v, want %s", tt.content, err, tt.want)
		}
	}
	own := filepath.Join(filepath.Dir(path), "karate.npz")
	d.Split = datasets.Split{Train: []int32{1, 3}, Val: []int32{2}, Test: []int32{7, 33}}
	if err := d.WriteNPZ(own); err != nil {
		t.Fatal(err)
	}
	if s, err := splitOf(d, goalOf(d), choice{splits: own}); err != nil || !slices.Equal(s.Train, d.Split.Train) || !slices.Equal(s.Val, d.Split.Val) || !slices.Equal(s.Test, d.Split.Test) {
		t.Errorf("from .npz: %v, %v", s, err)
	}
	d.Labels[33] = -1
	if _, err := splitOf(d, goalOf(d), choice{splits: own}); err == nil || err.Error() != "--splits "+own+": node 33 has no class" {
		t.Errorf("a node without a class: %v", err)
	}
	if _, err := splitOf(d, goalOf(d), choice{splits: path + "no"}); !errors.As(err, new(usageError)) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A dataset in a file is trained on as one that is known by name.
func TestOwnDataset(t *testing.T) {
	dir := t.TempDir()
	file, model := filepath.Join(dir, "Mine.npz"), filepath.Join(dir, "model")
	ok(t, "data", "convert", "karate", "-o", file)
	flags := []string{"train", "--json", "--splits", "random", "--epochs", "10", "--lr", "0.05"}
	want := results(t, append(flags, "--dataset", "karate")...)
	got := results(t, append(flags, "--dataset", file, "--save", model)...)
	for _, key := range []string{"train_accuracy", "val_accuracy", "test_accuracy"} {
		if a, b := got[len(got)-1][key], want[len(want)-1][key]; a != b || key == "train_accuracy" && a.(float64) <= 0.5 {
			t.Errorf("%s is %v, of the karate club %v", key, a, b)
		}
	}
	if a, b := results(t, "eval", "--json", model)[0]["test_accuracy"], want[len(want)-1]["test_accuracy"]; a != b {
		t.Errorf("the saved model has %v, want %v", a, b)
	}
	t.Chdir(filepath.Dir(dir))
	if folder := results(t, append(flags, "--dataset", filepath.Base(dir))...); folder[len(folder)-1]["test_accuracy"] != want[len(want)-1]["test_accuracy"] {
		t.Errorf("of the folder, whose name is no path: %v", folder[len(folder)-1])
	}
	ok(t, "data", "convert", "karate", "-o", "my club.npz")
	if text, next := ok(t, "train", "--dataset", "my club.npz", "--splits", "random", "--epochs", "1"), "\nnext: gatbench train --dataset \"my club.npz\" --splits random --epochs 1 --seeds 10\n"; !strings.HasSuffix(text, next) {
		t.Errorf("no %q in\n%s", next, text)
	}
	missing := filepath.Join(dir, "Other.npz")
	if _, stderr, status := gatbench(t, "train", "--dataset", missing); status != failed || stderr != "gatbench: "+missing+": no such file or directory\n" {
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
