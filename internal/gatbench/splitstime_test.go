package gatbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// datedTables writes tables of papers, the years of which ascend, in two topics that cite among
// themselves, and of when.
func datedTables(t *testing.T) string {
	t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,year,words,topic\n")
	edges.WriteString("source,target,cited_at\n")
	for v := range 60 {
		fmt.Fprintf(&nodes, "p%02d,%d,%d,%s\n", v, 2010+v/6, max(v%2, v%10/4%2), []string{"graphs", "trees"}[v%2]) // words alone do not tell
		for _, back := range []int{2, 4, 6} {
			if v >= back {
				fmt.Fprintf(&edges, "p%02d,p%02d,%d-06-01\n", v, v-back, 2010+v/6)
			}
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"papers_nodes.csv": nodes.String(), "papers_edges.csv": edges.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "papers_edges.csv")
}

// Nodes and links are divided by time, in training and of the saved model.
func TestSplitsByTime(t *testing.T) {
	data, dir := datedTables(t), t.TempDir()
	file := filepath.Join(dir, "m.safetensors")
	text := tasktest.OK(t, "train", "--dataset", data, "--label", "topic", "--column", "year=none", "--undirected", "--model", "gcn", "--no-edge-features", "--splits", "time:year:2016,2017", "--epochs", "3", "--save", file)
	if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, "train 42 ") || !strings.Contains(got, "validation 6 ") || !strings.Contains(got, "test 12 ") {
		t.Errorf("the page says %s", text)
	}
	if e := tasktest.Results(t, "eval", "--json", file)[0]; e["test_accuracy"] == nil {
		t.Errorf("eval says %v", e)
	}
	npz := filepath.Join(dir, "papers.npz") // the compact form knows the columns too
	tasktest.OK(t, "data", "convert", data, "--label", "topic", "--undirected", "-o", npz)
	again := tasktest.Results(t, "train", "--dataset", npz, "--model", "gcn", "--no-edge-features", "--splits", "time", "--epochs", "1", "--json")
	if s := again[len(again)-1]; s["event"] != "summary" {
		t.Errorf("it ends with %v", s)
	}
	link := filepath.Join(dir, "l.safetensors")
	text = tasktest.OK(t, "train", "--task", "link", "--dataset", data, "--column", "cited_at=none", "--splits", "time:2016,2017", "--epochs", "2", "--save", link)
	if !strings.Contains(text, "split: time:2016,2017\nlinks: 114 for training, 18 for validation and 36 for testing") {
		t.Errorf("the page says %s", text)
	}
	s := tasktest.Results(t, "train", "--task", "link", "--dataset", data, "--splits", "time:cited_at:2016-12,2017-12-31", "--epochs", "2", "--json")
	if e := tasktest.Results(t, "eval", "--json", link)[0]; e["test_auc"] == nil || s[len(s)-1]["event"] != "summary" {
		t.Errorf("eval says %v, the training %v", e, s)
	}
	for line, want := range map[string]string{
		"--splits time:year:2016":                  "--splits time:year:2016: want where training and where validation ends",
		"--splits time:month":                      `--splits time:month: no column "month" says when its nodes came; there are "year"`,
		"--splits time:year:2040,2050":             `column "year" goes from 2010 to 2019, and of its nodes none is left to validate`,
		"--task link --splits time:year":           `no column "year" says when its edges came; there are "cited_at"`,
		"--task link --splits random":              "--splits random: the seed divides the links",
		"--dataset karate --splits time":           "nothing says when its nodes came",
		"--task graph --splits time --dataset csl": "--splits time: ",
	} {
		args := append([]string{"train", "--dataset", data, "--epochs", "1"}, strings.Fields(line)...)
		if !strings.Contains(line, "--task") {
			args = append(args, "--label", "topic")
		}
		if strings.Contains(line, "--dataset") {
			args = append([]string{"train", "--epochs", "1"}, strings.Fields(line)...)
		}
		if _, stderr, status := tasktest.Gatbench(t, args...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}

// A link without a time is in no part of the split, but it is there: it is not recommended.
func TestUndatedLinkIsKnown(t *testing.T) {
	data, dir := datedTables(t), t.TempDir()
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, append(text, "p59,p00,\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"gae", "lightgcn"} {
		link := filepath.Join(dir, model+".safetensors")
		tasktest.OK(t, "train", "--task", "link", "--dataset", data, "--column", "cited_at=none", "--model", model, "--splits", "time:2016,2017", "--epochs", "1", "--save", link)
		for _, args := range [][]string{{"--nodes", "p00"}, {"--nodes", "p00", "--known"}} {
			lines := tasktest.Results(t, append([]string{"predict", "--json", link, "--top", "60"}, args...)...)
			known := map[any]any{}
			for _, l := range lines {
				known[l["target"]] = l["known"]
			}
			// p00 is linked to p02, p04, p06 and p59.
			if all := len(args) == 3; all && (len(lines) != 59 || known["p59"] != "unused" || known["p02"] != "train") || !all && len(lines) != 55 {
				t.Errorf("%s, %v: %d lines, p59 is %v", model, args, len(lines), known["p59"])
			}
		}
	}
}
