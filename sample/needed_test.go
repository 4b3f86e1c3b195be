package sample

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

func TestNeeded(t *testing.T) {
	g := graph.Ring(100, 1, 2)
	blocks, err := Needed(g, []int32{50}, 2)
	if err != nil || len(blocks) != 2 || !slices.Equal(blocks[0].From().Src, []int32{50, 48, 49, 46, 47}) {
		t.Fatal(err, blocks)
	}
	var half []int32
	for v := int32(0); v < 100; v += 2 {
		half = append(half, v)
	}
	blocks, err = Needed(g, half, 1)
	if err != nil || len(blocks) != 1 || blocks[0].NumSrc() != 100 || !slices.Equal(blocks[0].From().Src, g.DstRows()) {
		t.Fatal("features that nearly all are read should stay where they are:", err, blocks)
	}
	if blocks, err = Needed(g, g.DstRows(), 2); err != nil || blocks != nil {
		t.Fatal("all nodes need the whole graph:", err, blocks)
	}
	if _, err = Needed(g, []int32{1, 1}, 2); err == nil {
		t.Fatal("a repeated node is taken")
	}
}
