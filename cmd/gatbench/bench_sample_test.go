package main

import (
	"strings"
	"testing"
)

// The family runs on the graph that was chosen.
func TestBenchSample(t *testing.T) {
	g, err := graphOfSize("3000x20000")
	if err != nil {
		t.Fatal(err)
	}
	all := sampleBenchmarks(1, sparseChoice{graphs: []*benchGraph{g}})
	out, err := bench(t, benchCommand{all: all, JSON: true})
	if err != nil || strings.Count(out, "\n") != 3 {
		t.Fatalf("%v, lines\n%s", err, out)
	}
	for _, line := range objects(t, out) {
		p := line["params"].(map[string]any)
		if p["nodes"] != 3000.0 || p["fanout"] != 10.0 || p["batch"] != 1024.0 || !(line["median_ms"].(float64) > 0) {
			t.Errorf("got %v", line)
		}
	}
}
