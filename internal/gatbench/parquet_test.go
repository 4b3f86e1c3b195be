package gatbench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// The command reads tables in Parquet where it reads those in CSV.
func TestParquetTables(t *testing.T) {
	words := func(texts ...string) *form.Words { return &form.Words{Texts: texts} }
	dir := t.TempDir()
	for name, table := range map[string]*form.Table{
		"shop_nodes.parquet": {Rows: 3, IDs: words("ann", "bob", "eve"), Columns: []form.Column{{Name: "churned", Type: form.Word, Words: words("yes", "no", "no")}, {Name: "age", Type: form.Number, Numbers: []float64{1, 2, 3}}}},
		"shop_edges.parquet": {Rows: 2, Columns: []form.Column{{Name: "source", Type: form.Word, Words: words("ann", "bob")}, {Name: "target", Type: form.Word, Words: words("bob", "eve")}}},
	} {
		var b bytes.Buffer
		if err := parquet.Write(&b, table); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "shop_edges.parquet")} {
		out, errOut, status := tasktest.Gatbench(t, "data", "describe", path, "--label", "churned")
		if status != cli.Succeeded || !strings.Contains(out, "nodes     3\nedges     2 directed") || !strings.Contains(out, "0: 2 nodes  no") {
			t.Errorf("%s: status %d\n%s%s", path, status, out, errOut)
		}
	}
}
