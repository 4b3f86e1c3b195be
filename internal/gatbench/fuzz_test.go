package gatbench

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/fact"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// What a file says of its model is refused, or the model is built and its Params are missed.
func FuzzSavedModels(f *testing.F) {
	links := link.Kipf()
	links.Features, links.Hidden, links.Out = task.FormRaw, 2, 2
	rows, plain, pooled := link.LightGCN(), graphs.GIN(), graphs.GIN()
	plain.Hidden = 4
	pooled.Hidden, pooled.Layers, pooled.Pool, pooled.Readout, pooled.Model = 2, 2, "topk", "set2set", "gat"
	facts := fact.RotatE("rotate")
	facts.Hidden = 2
	plainNode, err := node.NewRecipe("paper", "mlp", "cora")
	if err != nil {
		f.Fatal(err)
	}
	plainNode.Hidden = 2
	for _, model := range []any{
		&graphs.Network{Task: task.Graph, Recipe: pooled, In: 2, Out: 2}, &graphs.Network{Task: task.Graph, Recipe: plain, In: 1, Out: 1, Kind: task.SomeReals, Scale: models.Scale{Mean: []float64{1}, Dev: []float64{2}}},
		&link.Autoencoder{Task: task.Link, Recipe: links, In: 3}, &link.Autoencoder{Task: task.Link, Recipe: rows, In: 5, Users: 2},
		&fact.Network{Task: task.Facts, Recipe: facts, Count: 4, Relations: 2}, &node.Network{Recipe: plainNode, In: 2, Classes: 2},
		&node.Network{Task: task.Edge, Recipe: plainNode, In: 2, Classes: 2, Head: &models.Pairs{In: 2, Own: 1}},
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
		path := tasktest.FileWith(t, "m.safetensors", string(tasktest.SavedOf(string(meta)+strings.Repeat(" ", 1<<14)))) // so long that small models are believed
		for what, open := range map[string]func() (any, func(), error){
			"graphs": func() (any, func(), error) { n, err := graphs.Open(path); return n, n.Build, err },
			"links":  func() (any, func(), error) { n, err := link.Open(path); return n, n.Build, err },
			"facts":  func() (any, func(), error) { n, err := fact.Open(path); return n, n.Build, err },
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
		if _, err := task.OpenFile(path, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("nodes: error %v", err)
		}
	})
}
