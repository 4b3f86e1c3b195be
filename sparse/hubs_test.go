package sparse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
)

// hubs returns the structure of a graph with a destination of 5000 in-edges, which are
// several parts, a source of as many out-edges, loops, parallel edges, and nodes without any.
func hubs(t testing.TB, rng *rand.Rand) *sparse.CSR {
	const nodes, hub = 700, 5000
	var r, c []int32
	put := func(v, u int32) { r, c = append(r, v), append(c, u) }
	for range hub {
		put(3, rng.Int32N(600))
		put(rng.Int32N(600), 5)
	}
	for i := range int32(600) {
		put(i, i)
		put(rng.Int32N(600), rng.Int32N(600))
	}
	a, _, err := sparse.FromCOO(nodes, nodes, r, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
