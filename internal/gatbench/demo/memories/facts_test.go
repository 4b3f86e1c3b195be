package memories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A memory has each fact as a leaf, and the mean of the keys beneath as that of an inner node. With weights of which each
// outweighs those of all later bits, every question comes down to its leaf: in a set past all keys, in a tree past two a branch.
func TestFactsAreFound(t *testing.T) {
	n := newFactReader(rand.New(rand.NewPCG(1, 1)))
	clear(n.Key.W.Value.Data)
	clear(n.Query.W.Value.Data)
	for j := range keyBits {
		n.Key.W.Value.Row(j)[j], n.Query.W.Value.Row(j)[j] = tensor.Float(int(1)<<(keyBits-1-j)), 1
	}
	for _, tree := range []bool{false, true} {
		for _, size := range []int{1, 2, 7, 60} {
			f := factsIn(tree, 12, size, size, 5)
			right, looked := n.descend(f)
			if right < 1-1e-9 || !tree && looked < float64(size)-1e-9 || tree && size == 60 && looked > 2*keyBits {
				t.Errorf("tree %v, %d facts: %v of the questions are answered, with %v keys looked at", tree, size, right, looked)
			}
			base := 0
			for i, parents := range f.parents {
				leaves := f.leaves(i)
				if len(leaves) != size {
					t.Fatalf("tree %v: %d leaves for %d facts", tree, len(leaves), size)
				}
				if !slices.Contains(leaves, f.leaf[i]) || !slices.Equal(f.keys.Row(int(f.leaf[i])), f.asked.Row(i)) || !slices.Equal(f.values.Row(int(f.leaf[i])), f.answers.Row(i)) {
					t.Errorf("tree %v: what is asked for is not at node %d", tree, f.leaf[i])
				}
				for v := range parents {
					checkMean(t, f, base, parents, v, leaves)
				}
				base += len(parents)
			}
		}
	}
}

// checkMean compares a node's key with the mean of the leaves that come up to it.
func checkMean(t *testing.T, f *facts, base int, parents []int32, v int, leaves []int32) {
	t.Helper()
	mean, n := make([]float64, keyBits), 0
	for _, leaf := range leaves {
		for at := int(leaf) - base; at >= 0; at = int(parents[at]) {
			if at == v {
				for j, x := range f.keys.Row(int(leaf)) {
					mean[j] += float64(x)
				}
				n++
			}
		}
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	compare.Near(t, fmt.Sprintf("the key of node %d", v), f.keys.Row(base+v), mean, compare.Off(1e-5, 0))
}

// A chain has the facts, and then the key that is asked for.
func TestFactsAreHeard(t *testing.T) {
	f := factsIn(true, 5, 1, 9, 7)
	for i := range 5 {
		lo, hi := f.heard.Offsets[i], f.heard.Offsets[i+1]
		last := f.heard.X.Row(hi - 1)
		if last[0] != 1 || !slices.Equal(last[1:1+keyBits], f.asked.Row(i)) || f.heard.At[i] != int32(hi-1) {
			t.Errorf("chain %d ends with %v", i, last)
		}
		said := 0
		for r := lo; r < hi-1; r++ {
			row := f.heard.X.Row(r)
			if row[0] == 0 && slices.Equal(row[1:1+keyBits], f.asked.Row(i)) && slices.Equal(row[1+keyBits:], f.answers.Row(i)) {
				said++
			}
		}
		if said != 1 {
			t.Errorf("chain %d has its answer %d times", i, said)
		}
	}
}
