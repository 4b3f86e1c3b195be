package bench

import "testing"

// The family runs on the graph that was chosen.
func TestSample(t *testing.T) {
	g, err := GraphOfSize("3000x20000")
	if err != nil {
		t.Fatal(err)
	}
	all := sampleBenchmarks(1, sparseChoice{graphs: []*Graph{g}})
	if len(all) != 3 {
		t.Fatalf("%d benchmarks, want a batch and two steps", len(all))
	}
	for _, b := range all {
		if b.params["nodes"] != 3000 || b.params["fanout"] != 10 || b.params["batch"] != 1024 {
			t.Errorf("%s: %v", b.name, b.params)
		}
		line, err := NewTimer("test", quick).Time(t.Context(), &b)
		if err != nil || !(line.MedianMS > 0) {
			t.Errorf("%s: %+v, %v", b.name, line, err)
		}
	}
}
