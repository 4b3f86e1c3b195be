package usage

import (
	"testing"
	"testing/fstest"
)

// Only nodes with processors count: a node may be memory alone.
func TestNodes(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	root := fstest.MapFS{
		"node0/cpulist": file("0-7\n"), "node1/cpulist": file("8-15\n"), "node2/cpulist": file("\n"),
		"node3/meminfo": file("0"), "nodes/cpulist": file("1"), "online": file("0-3\n"),
	}
	if n := nodesIn(root); n != 2 {
		t.Errorf("%d nodes", n)
	}
	if n := nodesIn(fstest.MapFS{}); n != 0 {
		t.Errorf("of nothing %d nodes", n)
	}
}

func TestCountIn(t *testing.T) {
	for list, want := range map[string]int{"0-15\n": 16, "0\n": 1, "0-3,8,10-11": 7, "": 0, "0-x": 0} {
		if n := countIn(list); n != want {
			t.Errorf("%q has %d, want %d", list, n, want)
		}
	}
}
