package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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
		_, stderr, status := gatbench(t, args...)
		if status != misused || !strings.Contains(stderr, "more than 2e+09 pairs") && !strings.Contains(stderr, "all pairs of 46341 nodes, 2e+09, and at most 2e+09 can be: take --model transformer or gat") {
			t.Errorf("%s: status %d, error %q", args, status, stderr)
		}
	}
	r := &recipe{Model: modelGPS}
	if says := r.manyPairs(40000); !strings.Contains(says, "all pairs of 40000 nodes, 2e+09, in each layer") || r.manyPairs(20000) != "" || (&recipe{Model: "gat"}).manyPairs(40000) != "" {
		t.Errorf("it says %q", says)
	}
}
