package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// bonds writes 40 rings of four nodes, whose edges have a number and a kind, and of which one
// or both tell the classes apart.
func bonds(t *testing.T, member string) string {
	t.Helper()
	var b strings.Builder
	for i := range 40 {
		edges := []string{"1, 1, 0, 0", "1, 0, 1, 0"}[i%2]
		fmt.Fprintf(&b, `{"x": [[1, 0], [1, 1], [1, 0], [1, 1]], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "directed": false, `+member+`, "label": %d}`+"\n", edges, i%2)
	}
	path := filepath.Join(t.TempDir(), "bonds.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every model trains on graphs, is saved, and says the same of them when it is read again; those
// that read edges learn what these alone tell.
func TestModelsOfGraphs(t *testing.T) {
	files := map[models.EdgesRead]string{models.MayNumbers: bonds(t, `"edge_attr": [%s]`), models.MayKinds: bonds(t, `"edge_type": [%s]`)}
	files[models.WantsNumbers], files[models.WantsKinds] = files[models.MayNumbers], files[models.MayKinds]
	bare := strings.NewReplacer("[%s]", "[]")
	files[models.ReadsNone] = bonds(t, bare.Replace(`"name": "%s"`))
	for _, name := range models.GraphNames() {
		edges := (&Recipe{Model: name}).model().Graphs.Edges
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.safetensors")
			epochs := "20"
			switch {
			case edges == models.ReadsNone: // has nothing to learn
				epochs = "1"
			case name == "monet" || name == modelGPS || name == "nnconv": // are slow to learn
				epochs = "40"
			}
			args := []string{"train", "--task", "graph", "--dataset", files[edges], "--model", name, "--splits", "random", "--epochs", epochs, "--batch", "8", "--hidden", "8", "--layers", "3", "--dropout", "0", "--lr", "0.02", "--json", "--save", file}
			lines := tasktest.Results(t, args...)
			s := lines[len(lines)-1]
			if s["model"] != name || edges != models.ReadsNone && s["train_accuracy"] != 1.0 {
				t.Errorf("it ends with %v", s)
			}
			if e := tasktest.Results(t, "eval", "--json", file)[0]; e["test_accuracy"] != s["test_accuracy"] || e["model"] != name {
				t.Errorf("%v is trained, and %v read again", s, e)
			}
		})
	}
}

// What a model cannot read of edges is refused by name, not left out.
func TestEdgesThatModelsCannotRead(t *testing.T) {
	numbers, both := bonds(t, `"edge_attr": [%s]`), bonds(t, `"edge_type": [%s], "edge_attr": [0.5, 1, 1, 1]`)
	for line, want := range map[string]string{
		"--model gcn --dataset " + numbers:                               "--model gcn: it reads no features of edges, and those of bonds have 1: gin, nnconv,",
		"--model gatedgraph --dataset " + numbers:                        "--model gatedgraph: it reads the kinds of edges alone, and those of bonds have 1 numbers and no kinds; --no-edge-features leaves them out",
		"--model rgcn --dataset " + numbers:                              "--model rgcn: it reads the kinds of edges, one of each, and those of bonds have none: edge_type in lines of JSON",
		"--model monet --no-edge-features --dataset " + numbers:          "--model monet: it reads the features of edges, and there are none: take gin",
		"--model lstm --dataset " + numbers:                              "--model lstm: there is no such name; the choices are gin, nnconv, gatedgraph",
		"--model rgcn --no-edge-features --task graph --dataset " + both: "it reads the kinds of edges, one of each",
	} {
		if _, stderr, status := tasktest.Gatbench(t, append([]string{"train"}, strings.Fields(line)...)...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
	small := []string{"train", "--splits", "random", "--epochs", "1", "--hidden", "4", "--layers", "2", "--dataset", both}
	if text := tasktest.OK(t, append(small, "--model", "rgcn")...); !strings.Contains(text, "; 2 kinds of edges, without their other features") || !strings.Contains(text, "320 edges") {
		t.Errorf("the page says %s", text)
	}
	if text := tasktest.OK(t, append(small, "--model", "gat", "--no-edge-features")...); !strings.Contains(text, "320 edges") { // without its loops
		t.Errorf("the page says %s", text)
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	tasktest.OK(t, append(small, "--model", "gatedgraph", "--save", file)...)
	if _, stderr, status := tasktest.Gatbench(t, "eval", file, "--dataset", numbers); status == cli.Succeeded || !strings.Contains(stderr, `there is no column "edge_type", which the model reads as a category of 2 words`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}
