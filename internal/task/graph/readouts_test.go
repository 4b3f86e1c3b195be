package graph

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// Each readout trains, with each pooling, on graphs with features of edges, and is saved: what
// eval says of the model is what the training said.
func TestReadouts(t *testing.T) {
	data := tasktest.Rings(t)
	for i, o := range models.Readouts() {
		file := filepath.Join(t.TempDir(), "m.safetensors")
		args := []string{"train", "--dataset", data, "--splits", "random", "--epochs", "2", "--hidden", "6", "--layers", "3", "--batch", "5", "--readout", o, "--save", file, "--json"}
		if i > 0 {
			args = append(args, "--pool", models.Pools()[i%2])
		}
		var trained, saved struct {
			Val  float64 `json:"val_accuracy"`
			Test float64 `json:"test_accuracy"`
		}
		lines := strings.Split(strings.TrimSpace(tasktest.OK(t, args...)), "\n")
		for text, into := range map[string]any{lines[len(lines)-1]: &trained, tasktest.OK(t, "eval", file, "--json"): &saved} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		n, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := cmp.Or(n.Recipe.Readout, readSum); name != o || i > 0 && n.Recipe.Pool != models.Pools()[i%2] || trained != saved || saved.Val == 0 {
			t.Errorf("%s: the file says %s and %q; trained to %v, saved %v", o, name, n.Recipe.Pool, trained, saved)
		}
	}
	if out := tasktest.OK(t, "train", "--dataset", data, "--folds", "2", "--epochs", "1", "--hidden", "4", "--layers", "2", "--batch", "8", "--readout", "set2set", "--pool", "sag", "--json"); !strings.Contains(out, `"readout":"set2set","pool":"sag"`) {
		t.Errorf("the summary does not say how graphs are read: %s", out)
	}
	for want, args := range map[string][]string{
		"The choices are sum, mean, max, attention, set2set, sort": {"--dataset", data, "--readout", "median"},
		"the choices are topk, sag":                                {"--dataset", data, "--pool", "diff"},
		"--task graph: leave":                                      {"--readout", "mean"},
		"it is for --task grap":                                    {"--pool", "sag", "--task", "link"},
	} {
		if _, errOut, status := tasktest.Gatbench(t, append([]string{"train"}, args...)...); status == cli.Succeeded || !strings.Contains(strings.Join(strings.Fields(errOut), " "), want) {
			t.Errorf("%v: %s, want %q", args, errOut, want)
		}
	}
}

// A file that says it is a Set2Set of more numbers than it has takes no memory for them.
func TestReadoutFits(t *testing.T) {
	n := &Network{Recipe: GIN(), In: 1 << 20, Out: 2}
	n.Recipe.Hidden = 2
	if err := n.fits(1 << 26); err != nil {
		t.Fatal(err)
	}
	if n.Recipe.Readout = "set2set"; n.fits(1<<26) == nil {
		t.Error("an LSTM of 2⁴⁰ numbers fits into 64 MB")
	}
}
