package sparse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// communities returns a graph of groups of equal size whose nodes have shuffled
// numbers, and the group of each.
func communities(rng *rand.Rand, groups, size, degree int) (a *sparse.CSR, group []int) {
	n := groups * size
	ids := rng.Perm(n)
	group = make([]int, n)
	var r, c []int32
	for i := range n {
		group[ids[i]] = i / size
		for range degree {
			j := i/size*size + rng.IntN(size)
			if rng.IntN(5) == 0 {
				j = rng.IntN(n)
			}
			r, c = append(r, int32(ids[i])), append(c, int32(ids[j]))
		}
	}
	a, _, err := sparse.FromCOO(n, n, r, c, nil)
	if err != nil {
		panic(err)
	}
	return a, group
}

// breaks counts the neighbours in an order that are of different groups.
func breaks(perm []int32, group []int) int {
	n := 0
	for i := 1; i < len(perm); i++ {
		if group[perm[i]] != group[perm[i-1]] {
			n++
		}
	}
	return n
}

func TestReorder(t *testing.T) {
	a, group := communities(rand.New(rand.NewPCG(41, 41)), 40, 50, 10)
	perm := sparse.Reorder(a)
	sorted := slices.Clone(perm)
	slices.Sort(sorted)
	for i, v := range sorted {
		if int(v) != i {
			t.Fatalf("%v is not a permutation", perm)
		}
	}
	if got := breaks(perm, group); got > 2*40 {
		t.Errorf("%d breaks between groups, want about 39", got)
	}
	for _, threads := range []int{1, 3} {
		undo := par.SetThreads(threads)
		fresh, err := sparse.New(a.NumRows, a.NumCols, a.Offsets, a.Cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sparse.Reorder(fresh), perm) {
			t.Errorf("another order on %d threads", threads)
		}
		undo()
	}
	empty, _, err := sparse.FromCOO(3, 3, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := sparse.Reorder(empty); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("without nonzeros: %v", got)
	}
	oblong := random(rand.New(rand.NewPCG(42, 42)), 3, 4, 5, false)
	if _, ok := tensor.Try(func() { sparse.Reorder(oblong) }).(*tensor.ShapeError); !ok {
		t.Error("no ShapeError of a matrix that is not square")
	}
}
