package datasets_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// TestPlantedRules holds the facts to the rules that they are said to follow.
func TestPlantedRules(t *testing.T) {
	k, err := datasets.PlantedRules(rand.New(rand.NewPCG(1, 2)), 5, 8)
	if err != nil {
		t.Fatal(err)
	}
	tail := [6]map[int32]int32{}
	for r := range tail {
		tail[r] = map[int32]int32{}
	}
	for _, g := range []*graph.Graph{k.Train, k.Val, k.Test} {
		for e, v := range g.Destinations() {
			tail[g.Kinds()[e]][g.In().Cols[e]] = v
		}
	}
	for v := range int32(40) {
		next, back, second, third, opposite, across := tail[0], tail[1], tail[2], tail[3], tail[4], tail[5]
		for rule, ok := range map[string]bool{
			"each entity has a fact of each relation": len(next)+len(back)+len(second)+len(third)+len(opposite)+len(across) == 240,
			"previous": back[next[v]] == v,
			"second":   second[v] == next[next[v]],
			"third":    third[v] == second[next[v]],
			"opposite": opposite[opposite[v]] == v && opposite[v] != v,
			"across":   across[v] == opposite[next[v]],
		} {
			if !ok {
				t.Errorf("entity %d: %s does not hold", v, rule)
			}
		}
	}
	if k.Val.NumEdges() != 5*4 || k.Test.NumEdges() != 5*4 || k.Train.NumEdges() != 200 || k.Relations() != 6 {
		t.Errorf("%v train, %v validate, %v test", k.Train, k.Val, k.Test)
	}
	if slices.Contains(k.Test.Kinds(), 0) || slices.Contains(k.Val.Kinds(), 0) {
		t.Error("a fact that no rule tells is asked for")
	}
	for _, n := range [][2]int{{0, 8}, {1, 6}, {1, 9}, {1 << 23, 8}} {
		if _, err := datasets.PlantedRules(rand.New(rand.NewPCG(1, 2)), n[0], n[1]); err == nil {
			t.Errorf("%d families of %d members are no error", n[0], n[1])
		}
	}
}

// TestPlantedRelations reads each label off the edge of relation 0.
func TestPlantedRelations(t *testing.T) {
	d, err := datasets.PlantedRelations(rand.New(rand.NewPCG(1, 2)), 50, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	class := d.Features.(*sparse.CSR).Cols
	for v := range 50 {
		var kinds []int32
		for e, u := range d.Graph.Sources(v) {
			kinds = append(kinds, d.Graph.Kinds()[e])
			if d.Graph.Kinds()[e] == 0 && d.Labels[v] != class[u] || u == int32(v) {
				t.Errorf("node %d has label %d and hears class %d of node %d", v, d.Labels[v], class[u], u)
			}
		}
		if slices.Sort(kinds); !slices.Equal(kinds, []int32{0, 1, 2, 3}) {
			t.Errorf("node %d has relations %v", v, kinds)
		}
	}
	if len(d.Split.Train) != 30 || len(d.Split.Val) != 10 || len(d.Split.Test) != 10 {
		t.Errorf("the split is %v", d.Split)
	}
	for _, n := range [][3]int{{4, 1, 2}, {5, 0, 2}, {5, 1, 1}, {1 << 20, 1 << 9, 2}} {
		if _, err := datasets.PlantedRelations(rand.New(rand.NewPCG(1, 2)), n[0], n[1], n[2]); err == nil {
			t.Errorf("%v is no error", n)
		}
	}
}
