package gatbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// A class, a relation or an entity that only the test has is measured and said, in training and
// by eval of what was saved.
func TestWhatOnlyTheTestHas(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ring := func(n int, each func(v int) string) (text string) {
		for v := range n {
			text += each(v) + "\n"
		}
		return text
	}
	const n = 12
	part := func(v int) string { return []string{"train", "train", "train", "val"}[v%4] }
	class := func(v int) string { return []string{"x", "y"}[v%2] }
	write("p_edges.csv", "u,v\n"+ring(n, func(v int) string { return fmt.Sprintf("%d,%d", v, (v+1)%n) }))
	nodes := write("p_nodes.csv", "id,a,label,split\n"+ring(n-1, func(v int) string { return fmt.Sprintf("%d,%d,%s,%s", v, v, class(v), part(v)) })+"11,3,z,test\n")
	graphs := write("g.jsonl", ring(n, func(v int) string {
		return fmt.Sprintf(`{"x": [%d, 1], "edges": [[0, 1]], "label": %q, "split": %q}`, v, class(v), part(v))
	})+`{"x": [1, 2], "edges": [[0, 1]], "label": "z", "split": "test"}`+"\n")
	write("facts/train.txt", ring(n, func(v int) string { return fmt.Sprintf("e%d\tnext\te%d", v, (v+1)%n) }))
	write("facts/valid.txt", "e0\tnext\te2\n")
	facts := filepath.Dir(write("facts/test.txt", "e0\tonly\te3\ne1\tnext\tnew\ne2\tnext\te5\n"))
	for _, c := range []struct {
		want, score string
		args        []string
	}{
		{"no training node has class z; the validation and test parts have 1", "test_accuracy", []string{"--dataset", nodes}},
		{"no training graph has class z; the validation and test parts have 1", "test_accuracy", []string{"--dataset", graphs}},
		{"2 have an entity or a relation that no training fact has", "test_mrr", []string{"--task", "link", "--dataset", facts, "--model", "distmult", "--hidden", "4"}},
	} {
		file := filepath.Join(dir, "m.safetensors")
		said := strings.Join(strings.Fields(tasktest.OK(t, append([]string{"train", "--epochs", "1", "--save", file}, c.args...)...)), " ")
		if !strings.Contains(said, c.want) {
			t.Errorf("train %v does not say %q:\n%s", c.args, c.want, said)
		}
		if said = strings.Join(strings.Fields(tasktest.OK(t, "eval", file)), " "); !strings.Contains(said, c.want) {
			t.Errorf("eval of %v does not say %q:\n%s", c.args, c.want, said)
		}
		if v, is := tasktest.Results(t, "eval", "--json", file)[0][c.score].(float64); !is || !(v >= 0 && v <= 1) {
			t.Errorf("eval of %v: %s is %v", c.args, c.score, v)
		}
	}
}
