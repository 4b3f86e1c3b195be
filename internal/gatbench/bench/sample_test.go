package bench

import "testing"

// The family runs on the graph that was chosen.
func TestSample(t *testing.T) {
	g, err := GraphOfSize("3000x20000")
	if err != nil {
		t.Fatal(err)
	}
	all := sampleBenchmarks(1, sparseChoice{graphs: []*Graph{g}})
	if len(all) != len(sampledRows) {
		t.Fatalf("%d benchmarks, want one of each of %d", len(all), len(sampledRows))
	}
	for _, b := range all {
		if b.params["nodes"] != 3000 || b.params["batch"] != 1024 {
			t.Errorf("%s: %v", b.name, b.params)
		}
		line, err := NewTimer("test", quick).Time(t.Context(), &b)
		if err != nil || !(line.MedianMS > 0) {
			t.Errorf("%s: %+v, %v", b.name, line, err)
		}
	}
}
