package gatbench

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// column returns the column of a terminal in which a part of a line begins, −1 if it is
// not there.
func column(line, part string) int {
	i := strings.Index(line, part)
	if i < 0 {
		return -1
	}
	return plain.Width(line[:i])
}

// Every row of the table has its columns where the others have theirs, however long a name
// is and however far apart the accuracies lie.
func TestTableAligns(t *testing.T) {
	long := "/data/" + strings.Repeat("my own ", 9) + "graph.npz"
	var out strings.Builder
	c := &tableCommand{Models: []string{"gat", "transformer"}, Seeds: 3, Datasets: []string{"Cora", "texas", long, "神经网络.npz"}}
	at := newAccuracyTable(c, report.NewPrinter(&out), nil, nil)
	for _, one := range []struct {
		name string
		cell report.Cell
	}{
		{"Cora", report.Cell{Model: "gat", Dataset: "cora", Splits: source.SplitsOwn, Mean: 0.829, Std: 0.008, Low: 0.824, High: 0.835}},
		{"Cora", report.Cell{Model: "transformer", Dataset: "cora", Mean: 0.5, Std: 0.1, Low: 0.05, High: 1}},
		{"WebKB Texas", report.Cell{Model: "gat", Dataset: "texas", Mean: 1, Low: 1, High: 1}},
		{"my own my own my own my own my own graph", report.Cell{Model: "gat", Mean: 0.09996, Std: 0.7071, Low: 0, High: 0.99949}},
		{"神经网络", report.Cell{Model: "transformer", Mean: 0.999499, Std: 0.0001, Low: 0.99, High: 0.9996, TotalMS: 12345678}},
	} {
		one.cell.Seeds = 3
		if err := at.print(one.name, one.cell); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	here, paper, pyg := column(lines[0], "here"), column(lines[0], "paper"), column(lines[0], "PyG")
	for i, line := range lines[1:] {
		if i := column(line, "±"); i != here+5 {
			t.Errorf("± is in column %d, want %d", i, here+5)
		}
		if i := column(line, "["); i != here+12 {
			t.Errorf("[ is in column %d, want %d", i, here+12)
		}
		first := "–"
		if i == 0 {
			first = "83.0 ± 0.7"
		}
		if got := column(line, first); got != paper {
			t.Errorf("%q is in column %d, want %d", first, got, paper)
		}
		if i := plain.Width(line[:strings.LastIndex(line, "–")]); i != pyg {
			t.Errorf("the last dash is in column %d, want %d", i, pyg)
		}
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
}

// So have the rows of confusions, of names and counts of any width.
func TestConfusionAligns(t *testing.T) {
	names := []string{"A", strings.Repeat("a very long name of a class ", 5), "神经网络", "esc\x1b[2J"}
	const n = 123457
	logits, labels := tensor.New(n, 5), make([]int32, n)
	for i := range n {
		logits.Row(i)[2] = 1
	}
	labels[0] = 3
	var out strings.Builder
	p := report.NewPrinter(&out)
	p.Confusion(5, names, train.NewConfusion(logits, labels))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines {
		if plain.Width(line) != plain.Width(lines[0]) || plain.Text(line) != line {
			t.Errorf("%d columns, want %d: %q", plain.Width(line), plain.Width(lines[0]), line)
		}
	}
	if len(lines) != 6 || !strings.Contains(lines[1], " 123456 ") {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
}
