package sample

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// In an epoch every edge that trains is in one batch, whose seeds are the ends of its edges, each once.
func TestEdgesInBatches(t *testing.T) {
	l := loaderOf(t, 2)
	l.Nodes, l.Ends = nil, web(t, false)
	for e := range int32(l.Ends.NumEdges()) {
		if e%3 == 0 {
			l.Edges = append(l.Edges, e)
		}
	}
	var all []int32
	labels := slices.Clone(l.Ends.Destinations())
	for step := range uint64(l.Steps()) {
		b := at(t, l, step+1)
		all = append(all, b.Edges...)
		for i, e := range b.Edges {
			if u, v := b.Seeds[b.From[i]], b.Seeds[b.To[i]]; u != l.Ends.In().Cols[e] || v != l.Ends.Destinations()[e] || b.Of(labels)[i] != v {
				t.Fatalf("step %d: edge %d is from %d to %d", step+1, e, u, v)
			}
		}
		if sorted := slices.Sorted(slices.Values(b.Seeds)); len(slices.Compact(sorted)) != len(b.Seeds) || b.Blocks[0].NumDst() != len(b.Seeds) {
			t.Errorf("step %d: seeds %v", step+1, b.Seeds)
		}
	}
	if slices.Sort(all); !slices.Equal(all, l.Edges) || l.Steps() < 2 {
		t.Errorf("%d of %d edges in %d steps", len(all), len(l.Edges), l.Steps())
	}
	for want, spoil := range map[string]func(l *Loader){
		"edge 1 is twice among those that train": func(l *Loader) { l.Edges = []int32{1, 1} },
		"edge 0 of those that train is -1":       func(l *Loader) { l.Edges = []int32{-1} },
		"which has other nodes":                  func(l *Loader) { l.Ends = graph.Chains(3) },
		"no Nodes to train on, and no Edges":     func(l *Loader) { l.Edges = []int32{} },
	} {
		l := loaderOf(t, 2)
		l.Nodes, l.Edges = nil, []int32{0}
		spoil(l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
