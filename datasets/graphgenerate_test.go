package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/analysis"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

func TestCSL(t *testing.T) {
	d := CSL(seeded(), 3)
	if d.Len() != 30 || d.Graph.NumNodes() != 30*41 || d.Graph.NumEdges() != 30*41*4 || !d.Graph.Symmetric() {
		t.Errorf("%d graphs, %v", d.Len(), d.Graph)
	}
	for v, n := range d.Graph.InDegrees() {
		if n != 4 {
			t.Fatalf("node %d has %d neighbours", v, n)
		}
	}
	// Walks tell the classes apart and not the graphs of one class, nor their nodes.
	x, err := analysis.ReturnProbabilities(d.Graph, 16)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int32{}
	for v, at, i := 0, d.Graph.NodeOffsets(), 0; i < d.Len(); i++ {
		for ; v < at[i+1]; v++ {
			row := ""
			for _, p := range x.Row(v) {
				row += fmt.Sprintf(" %.4f", p)
			}
			if c, ok := of[row]; ok && c != d.Labels[i] {
				t.Fatalf("node %d of class %d walks as one of class %d", v, d.Labels[i], c)
			}
			of[row] = d.Labels[i]
		}
	}
	if len(of) != 10 {
		t.Errorf("%d kinds of walks, want 10", len(of))
	}
}

func TestCycles(t *testing.T) {
	d := Cycles(seeded(), 20, 4)
	for i := range d.Len() {
		b := d.Batch([]int32{int32(i)})
		n, _ := analysis.Components(b.Graph)
		if want := int(d.Labels[i]) + 1; n != want || b.Graph.NumNodes() != 8 || b.Graph.NumEdges() != 16 || d.Labels[i] != int32(i%2) {
			t.Errorf("graph %d: %d components, want %d; %v", i, n, want, b.Graph)
		}
	}
}

func TestTreeNeighbours(t *testing.T) {
	const depth, leaves = 3, 8
	d := TreeNeighbours(seeded(), 50, depth)
	classes := map[int32]bool{}
	for i := range d.Len() {
		first := d.Graph.NodeOffsets()[i]
		asked := slices.Index(d.Features.Row(first)[:leaves], 1)
		answer := -1
		for v := first + leaves - 1; v < first+2*leaves-1; v++ {
			if d.Graph.InDegree(v) != 0 {
				t.Fatalf("leaf %d hears others", v)
			}
			if row := d.Features.Row(v); row[asked] == 1 {
				answer = slices.Index(row[leaves:], 1)
			}
		}
		if d.Graph.InDegree(first) != 2 || int(d.Labels[i]) != answer {
			t.Errorf("tree %d: the answer is %d, and the label %d", i, answer, d.Labels[i])
		}
		classes[d.Labels[i]] = true
	}
	if d.Graph.NumNodes() != 50*15 || d.Graph.NumEdges() != 50*14 || len(classes) < 6 {
		t.Errorf("%v, %d classes", d.Graph, len(classes))
	}
}

// joinedShares returns how many of the pairs of a kind are joined.
func joinedShares(d *Graphs, kind func(u, v int) int) (share [3]float64) {
	var joined, pairs [3]float64
	at := d.Graph.NodeOffsets()
	for i := range d.Len() {
		for v := at[i]; v < at[i+1]; v++ {
			for u := at[i]; u < at[i+1]; u++ {
				if u != v {
					pairs[kind(u, v)]++
				}
			}
			for _, u := range d.Graph.Sources(v) {
				joined[kind(int(u), v)]++
			}
		}
	}
	for k := range share {
		share[k] = joined[k] / max(1, pairs[k])
	}
	return share
}

func TestBlocks(t *testing.T) {
	same := func(d *Graphs) func(u, v int) int {
		return func(u, v int) int { return btoi(d.NodeLabels[u] == d.NodeLabels[v]) }
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%s: %v, want about %v", name, got, want)
		}
	}
	sbm := SBM(seeded(), 20, Blocks{Count: 3, Least: 10, Most: 12, Inside: 0.6, Across: 0.1})
	s := joinedShares(sbm, same(sbm))
	near("SBM inside", s[1], 0.6)
	near("SBM across", s[0], 0.1)
	for _, n := range sbm.Sizes() {
		if n < 30 || n > 36 {
			t.Errorf("SBM of %d nodes", n)
		}
	}
	cluster := Cluster(seeded(), 10)
	s = joinedShares(cluster, same(cluster))
	near("CLUSTER inside", s[1], 0.55)
	near("CLUSTER across", s[0], 0.25)
	said := make([]int, 7)
	for v, c := range cluster.NodeLabels {
		k := slices.Index(cluster.Features.Row(v), 1)
		if said[k]++; k > 0 && int(c) != k-1 {
			t.Errorf("node %d says %d, and is of block %d", v, k-1, c)
		}
	}
	if !slices.Equal(said[1:], slices.Repeat([]int{10}, 6)) {
		t.Errorf("blocks are said %v times in 10 graphs", said[1:])
	}
	pattern := Pattern(seeded(), 10)
	s = joinedShares(pattern, func(u, v int) int { return int(pattern.NodeLabels[u] + pattern.NodeLabels[v]) })
	near("PATTERN's own", s[2], 0.5)
	near("PATTERN to others", s[1], 0.5)
	if n := len(pattern.NodeLabels); s[0] < 0.36 || s[0] > 0.41 || n < 10*45 {
		t.Errorf("background joined with %v, %d nodes", s[0], n)
	}
	for i, at := 0, pattern.Graph.NodeOffsets(); i < pattern.Len(); i++ {
		n := 0
		for _, c := range pattern.NodeLabels[at[i]:at[i+1]] {
			n += int(c)
		}
		if n != 20 {
			t.Errorf("graph %d: a pattern of %d nodes", i, n)
		}
	}
	for range 2 {
		if again := Pattern(seeded(), 10); !slices.Equal(again.Graph.In().Cols, pattern.Graph.In().Cols) {
			t.Error("the same rng gives other graphs")
		}
	}
}
