package gatbench

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Every method explains a saved model, in text, JSON and files.
func TestExplain(t *testing.T) {
	defer func(usual int) { pgEpochs = usual }(pgEpochs)
	pgEpochs = 5
	dir := t.TempDir()
	model, scores, drawn := filepath.Join(dir, "m"), filepath.Join(dir, "s.csv"), filepath.Join(dir, "p.svg")
	tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "5", "--save", model)
	class := strings.Split(strings.Split(tasktest.OK(t, "predict", model, "--nodes", "2"), "\n")[1], ",")
	for _, method := range explainMethods {
		lines := tasktest.Results(t, "explain", model, "--node", "2", "--method", method, "--json", "--top", "3", "--csv", scores, "--picture", drawn)
		first := lines[0]
		if got := first["class"].(float64); strconv.Itoa(int(got)) != class[1] || first["method"] != method || first["node"] != "2" {
			t.Errorf("%s: %v, want class %s", method, first, class[1])
		}
		p, err := strconv.ParseFloat(class[3], 64)
		if got := first["probability"].(float64); err != nil || math.Abs(got-p) > 1e-4 {
			t.Errorf("%s: probability %v, want %v", method, got, p)
		}
		want := 1 + 3 + 3
		if method == "attention" || method == "pg" {
			want -= 3
		}
		if gap, has := first["completeness_gap"]; len(lines) != want || has != (method == "integrated") || has && gap.(float64) > 1e-2 {
			t.Errorf("%s: %d lines, want %d; %v", method, len(lines), want, first)
		}
		f, err := os.Open(scores)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		features := 34
		if method == "attention" || method == "pg" {
			features = 0
		}
		if edges := int(first["neighbourhood_edges"].(float64)); err != nil || len(rows) != 1+edges+features {
			t.Errorf("%s: %d rows for %d edges and %d features, %v", method, len(rows), edges, features, err)
		}
		if source := lines[1]["source"]; rows[1][1] != source {
			t.Errorf("%s: the best edge is from %s, in the file from %s", method, source, rows[1][1])
		}
		if text, err := os.ReadFile(drawn); err != nil || !strings.Contains(string(text), ">2<") || !strings.Contains(string(text), "by "+method) {
			t.Errorf("%s: the picture does not name the node: %v", method, err)
		}
	}
	text := tasktest.OK(t, "explain", model, "--node", "2", "--method", "integrated", "--top", "4")
	for _, want := range []string{"GAT, 8 heads of width 8, then 1 of width 2 on Karate", "node 2: ", "the best 4 edges", "the best 4 features", "add up to the change of the logit"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// The seed fixes all, and a person is called by name.
func TestExplainSeed(t *testing.T) {
	defer func(usual int) { pgEpochs = usual }(pgEpochs)
	pgEpochs = 5
	model := filepath.Join(t.TempDir(), "m")
	tasktest.OK(t, "train", "--dataset", "karate", "--splits", "random", "--epochs", "5", "--save", model)
	args := []string{"explain", model, "--node", "0", "--top", "2", "--method", "pg"}
	a, b := tasktest.OK(t, args...), tasktest.OK(t, args...)
	if a != b || !strings.Contains(a, "; its label is Mr. Hi") {
		t.Errorf("got\n%s\nand\n%s", a, b)
	}
}

// Rows are called by their ids, also where nothing is known of their classes.
func TestExplainNamesRows(t *testing.T) {
	dir := t.TempDir()
	model, next := filepath.Join(dir, "m"), filepath.Join(dir, "next_edges.csv")
	tasktest.OK(t, "train", "../../datasets/testdata/shop_edges.csv", "--label", "churned", "--column", "email=none", "--epochs", "2", "--save", model)
	nodes, err := os.ReadFile("../../datasets/testdata/shop_nodes.csv")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for line := range strings.Lines(string(nodes)) { // without the columns churned and split
		words := strings.Split(strings.TrimSpace(line), ",")
		rows.WriteString(strings.Join(words[:6], ",") + "\n")
	}
	edges, err := os.ReadFile("../../datasets/testdata/shop_edges.csv")
	if err == nil {
		err = errors.Join(os.WriteFile(next, edges, 0o666), os.WriteFile(filepath.Join(dir, "next_nodes.csv"), []byte(rows.String()), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]string{nil, {"--dataset", next}} {
		picture := filepath.Join(dir, "p.svg")
		text := tasktest.OK(t, append([]string{"explain", model, "--node", "c000", "--method", "saliency", "--plot", "--picture", picture}, data...)...)
		drawn, err := os.ReadFile(picture)
		if err != nil || !strings.Contains(string(drawn), ">c000<") || !strings.Contains(text, "\nnode c000: why ") || !strings.Contains(text, "\n└ c") || !strings.Contains(text, "\nnext: gatbench explain "+model+" --node c000") {
			t.Errorf("%v: error %v, %s", data, err, text)
		}
	}
}

func TestExplainMisuse(t *testing.T) {
	dir := t.TempDir()
	gcn := filepath.Join(dir, "gcn")
	tasktest.OK(t, "train", "--model", "gcn", "--epochs", "2", "--save", gcn)
	tests := []struct {
		args   string
		status int
		want   string
	}{
		{gcn, cli.Misused, "missing flags: --node=ID; gatbench explain --help lists what it takes"},
		{gcn + " --node 2708", cli.Misused, "--node 2708: there is no node 2708: they are numbered from 0 to 2707"},
		{gcn + " --node=-1", cli.Misused, "--node -1: there is no node -1: they are numbered from 0 to 2707"},
		{gcn + " --node 1 --method attention", cli.Misused, "--method attention: GCN has no attention; these models have it: gat, gatv2, transformer"},
		{gcn + " --node 1 --method salient", cli.Misused, "--method salient: there is no such name; did you mean \"saliency\"? The choices are attention, saliency, integrated, gnnexplainer, pg"},
		{gcn + " --node 1 --top 0", cli.Misused, "--top 0: it must be at least 1"},
		{gcn + " --node 1 --threads=-1", cli.Misused, "--threads -1: it must be at least 1, or 0 for all processors"},
		{gcn + " --node 1 --picture a.gif", cli.Misused, "--picture a.gif: its name must end in .svg or .png"},
		{gcn + " --node 1 --csv " + dir, cli.Misused, "--out " + dir + ": it is a folder; name a file"},
		{gcn + " --node 1 --csv " + gcn, cli.Misused, "--out " + gcn + ": it would be written over the file that the model reads: name another"},
		{gcn + " --node 1 --dataset karate", cli.Failed, gcn + " (trained on Cora), used on karate: nodes have 34 features, and the model was made for 1433: use data whose columns are those of its training"},
		{dir + "/none --node 1", cli.Failed, "none"},
	}
	for _, tt := range tests {
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"explain"}, strings.Fields(tt.args)...)...)
		if status != tt.status || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("explain %s: status %d, output %q, error\n%swant %d and\n%s", tt.args, status, stdout, stderr, tt.status, tt.want)
		}
	}
}
