package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// GPS refuses more pairs than attention numbers, before a row of memory is taken for them; and says
// of very many that they take long.
func TestPairsOfGPS(t *testing.T) {
	var edges, nodes strings.Builder
	edges.WriteString("source,target\n0,1\n")
	nodes.WriteString("id,x,label,split\n")
	const n = 46341 // n² is the first square beyond 2³¹−1
	for v := range n {
		nodes.WriteString(strconv.Itoa(v) + "," + strconv.Itoa(v%3) + "," + strconv.Itoa(v%2) + "," + []string{"train", "val", "test"}[v%3] + "\n")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"big_edges.csv": edges.String(), "big_nodes.csv": nodes.String(), "big.jsonl": `{"num_nodes":46341,"edges":[[0,1]],"y":0}` + "\n" + `{"num_nodes":3,"edges":[[0,1]],"y":1}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"train", "--epochs", "1", "--dataset", "big_edges.csv"}, {"table", "--seeds", "1", "--models", "gps", "--datasets", "big_edges.csv"}, {"train", "--epochs", "1", "--dataset", "big.jsonl"}} {
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
		if args[0] == "train" {
			args = append(args, "--model", "gps")
		}
		_, stderr, status := tasktest.Gatbench(t, args...)
		if status != cli.Misused || !strings.Contains(stderr, "more than 2e+09 pairs") && !strings.Contains(stderr, "all pairs of 46341 nodes, 2e+09, and at most 2e+09 can be: take --model transformer or gat") {
			t.Errorf("%s: status %d, error %q", args, status, stderr)
		}
	}
	r := &Recipe{Model: modelGPS}
	if says := r.manyPairs(40000); !strings.Contains(says, "all pairs of 40000 nodes, 2e+09, in each layer") || r.manyPairs(20000) != "" || (&Recipe{Model: "gat"}).manyPairs(40000) != "" {
		t.Errorf("it says %q", says)
	}
}

// H2GCN refuses a hub whose neighbours are more pairs than a graph has edges; other models do not ask.
func TestRingsOfH2GCN(t *testing.T) {
	if err := (&Recipe{Model: "gcn"}).checkRings(graph.Star(50000)); err != nil {
		t.Error(err)
	}
	if err := (&Recipe{Model: modelH2GCN}).checkRings(graph.Star(2000)); err != nil {
		t.Error(err)
	}
	if !testing.Short() && os.Getenv("EDGEWISE_FULL") != "" { // some ten seconds
		err := (&Recipe{Model: modelH2GCN}).checkRings(graph.Star(50000))
		if err == nil || !strings.Contains(err.Error(), "--model h2gcn: graph: AtDistance 2: there are 2499850002 pairs of nodes") {
			t.Errorf("error %v", err)
		}
	}
}
