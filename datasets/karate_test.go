package datasets

import (
	"errors"
	"os"
	"slices"
	"testing"
)

func TestKarate(t *testing.T) {
	d := Karate()
	symmetric(t, d)
	rowSums(t, d)
	if d.Graph.NumNodes() != 34 || d.Graph.NumEdges() != 156 || !slices.Equal(d.classSizes(), []int{17, 17}) {
		t.Errorf("%d nodes, %d edges, classes %v", d.Graph.NumNodes(), d.Graph.NumEdges(), d.classSizes())
	}
	in, degrees := d.Graph.In(), []int{}
	for v := range 34 {
		cols, _ := in.Row(v)
		degrees = append(degrees, len(cols))
	}
	want := []int{16, 9, 10, 6, 3, 4, 4, 4, 5, 2, 3, 1, 2, 5, 2, 2, 2, 2, 2, 3, 2, 2, 2, 5, 3, 3, 2, 4, 3, 4, 4, 6, 12, 17}
	if !slices.Equal(degrees, want) {
		t.Errorf("degrees %v, want %v", degrees, want)
	}
	within := 0
	for v := range 34 {
		cols, _ := in.Row(v)
		for _, u := range cols {
			if d.Labels[u] == d.Labels[v] {
				within++
			}
		}
	}
	if within != 2*(78-11) { // 11 friendships cross between the clubs
		t.Errorf("%d of 156 edges are within a club, want 134", within)
	}
	if s := d.Split; !slices.Equal(s.Train, []int32{0, 33}) || len(s.Val) != 0 || len(s.Test) != 32 || s.Test[31] != 32 {
		t.Errorf("split %v", s)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestDescribeReportsAFailedWrite(t *testing.T) {
	if Karate().Describe(full{}) == nil {
		t.Error("no error")
	}
}

func ExampleKarate() {
	if err := Karate().Describe(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// name      Karate
	// nodes     34
	// edges     156 directed, each in both directions, no self-loops
	//           PyG and DGL count as many
	// features  34 a node, sparse: 34 nonzeros, 2.94 %
	// classes   2, the majority class 50.0 %
	//           0: 17 nodes  Mr. Hi
	//           1: 17 nodes  Officer
	// homophily 0.72, over 156 edges: 1 if neighbours are always alike, 0 as by chance, less if they differ
	// split     2 train, 0 validation, 32 test
}
