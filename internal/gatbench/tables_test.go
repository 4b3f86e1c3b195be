package gatbench

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// What docs/use/tables.md says works: tables as they come are trained on, and a model that is saved
// finds them and their columns again.
func TestTablesOfTheGuide(t *testing.T) {
	tasktest.Nowhere(t)
	shop := strings.Fields("../../datasets/testdata/shop_edges.csv --label churned --column email=none")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	stdout, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--features", "standard", "--epochs", "100", "--save", model, "--undirected", "--dataset"}, shop...)...)
	if status != cli.Succeeded || !strings.Contains(stdout, "test           125    8") {
		t.Fatalf("status %d, error %q, output\n%s", status, stderr, stdout)
	}
	out, stderr, status := tasktest.Gatbench(t, "eval", model)
	if status != cli.Succeeded || !strings.Contains(out, "test           125    8") {
		t.Errorf("status %d, error %q, output\n%s", status, stderr, out)
	}
	_, stderr, status = tasktest.Gatbench(t, append([]string{"train", "--column", "nobody=none", "--dataset"}, shop...)...)
	if status != cli.Failed || !strings.Contains(stderr, `shop_nodes.csv: there is no column "nobody"; there are "town", "age"`) {
		t.Errorf("status %d, error %q", status, stderr)
	}
}
