package gatbench

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// fileWith writes a file of that name, and returns its path.
func fileWith(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func FuzzSplitFile(f *testing.F) {
	f.Add(`{"train": [3, 1], "val": [2], "test": [32, 7]}`)
	f.Add(`{"train": [0, 33], "val": [-1], "test": []} {`)
	d := datasets.Karate()
	d.Labels[33] = -1
	g := goalOf(d)
	f.Fuzz(func(t *testing.T, text string) {
		path := fileWith(t, "x.json", text)
		s, err := splitOf(d, g, choice{splits: path})
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

func FuzzPairs(f *testing.F) {
	f.Add("source,target\n3,4\n", uint8(0))
	f.Add("ann\tkettle\nbert\tteapot\n", uint8(3))
	f.Add("a;\"b\n", uint8(1))
	names := []string{"ann", "bert", "cy", "kettle", "teapot", "pot"}
	f.Fuzz(func(t *testing.T, text string, users uint8) {
		path := fileWith(t, "pairs.csv", text)
		d := &datasets.Dataset{NodeNames: names}
		if users == 0 {
			d.NodeNames = nil
		}
		p := &linkAnswers{savedLinks: &savedLinks{net: &autoencoder{LinkNetwork: &models.LinkNetwork{}}, data: d, users: min(int(users), 5)}, rows: tensor.New(len(names), 1)}
		if err := p.pairs(path); err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		for _, l := range p.lines {
			known := names
			if users == 0 {
				known = []string{"0", "1", "2", "3", "4", "5"}
			}
			u, v := slices.Index(known, l.Source), slices.Index(known, l.Target)
			if u < 0 || v < 0 || users > 0 && (u >= p.users || v < p.users) {
				t.Fatalf("of %d users: %+v", p.users, l)
			}
		}
		if err := p.write(io.Discard, true); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzQuestions(f *testing.F) {
	f.Add("head\trelation\ttail\n3\tnext\t?\n?\topposite\t7\n")
	f.Add("3,next,4\n?,next,?\n")
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(0, 7)), 10, 12)
	if err != nil {
		f.Fatal(err)
	}
	r := rotateRecipe(modelDistMult)
	r.Hidden = 2
	dir := f.TempDir()
	file := filepath.Join(dir, "m")
	if err := save(file, newFactNet(k, &r).trained(k), r, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := fileWith(t, "q.tsv", text)
		m := &factModel{&savedFlags{File: file, dataFlags: dataFlags{Dataset: new(string)}}}
		*m.Dataset = planted
		write, err := m.Predict(cli.Env{Ctx: t.Context(), ErrOut: io.Discard}, &questions{Queries: path, Known: true})
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := write(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// What a file says of its model is refused, or the model is built and its Params are missed.
func FuzzSavedModels(f *testing.F) {
	links := kipfRecipe()
	links.Features, links.Hidden, links.Out = formRaw, 2, 2
	rows, plain, pooled := lightRecipe(), ginRecipe(), ginRecipe()
	plain.Hidden = 4
	pooled.Hidden, pooled.Layers, pooled.Pool, pooled.Readout, pooled.Model = 2, 2, "topk", "set2set", "gat"
	facts := rotateRecipe(modelRotatE)
	facts.Hidden = 2
	node, err := newRecipe("paper", "mlp", "cora")
	if err != nil {
		f.Fatal(err)
	}
	node.Hidden = 2
	for _, model := range []any{
		&graphNet{Task: taskGraph, Recipe: pooled, In: 2, Out: 2}, &graphNet{Task: taskGraph, Recipe: plain, In: 1, Out: 1, Kind: someReals, Scale: scale{Mean: []float64{1}, Dev: []float64{2}}},
		&autoencoder{Task: taskLink, Recipe: links, In: 3}, &autoencoder{Task: taskLink, Recipe: rows, In: 5, Users: 2},
		&factNet{Task: taskFacts, Recipe: facts, Count: 4, Relations: 2}, &network{Recipe: node, In: 2, Classes: 2},
		&network{Task: taskEdge, Recipe: node, In: 2, Classes: 2, Head: &models.Pairs{In: 2, Own: 1}},
	} {
		text, err := json.Marshal(model)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, model string) {
		if !utf8.ValidString(model) {
			t.Skip()
		}
		meta, err := json.Marshal(map[string]map[string]string{"__metadata__": {"format": "edgewise", "version": "1", "model": model}})
		if err != nil {
			t.Fatal(err)
		}
		path := fileWith(t, "m.safetensors", string(savedOf(string(meta)+strings.Repeat(" ", 1<<14)))) // so long that small models are believed
		for what, open := range map[string]func() (any, func(), error){
			"graphs": func() (any, func(), error) { n, err := openGraphNet(path); return n, n.build, err },
			"links":  func() (any, func(), error) { n, err := openAutoencoder(path); return n, n.build, err },
			"facts":  func() (any, func(), error) { n, err := openFactNet(path); return n, n.build, err },
		} {
			n, build, err := open()
			if err == nil {
				build()
				err = train.Load(path, n)
			}
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v", what, err)
			}
		}
		if _, err := modelFile(path, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("nodes: error %v", err)
		}
	})
}
