package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// Reorder returns an order of the rows of a, which is square, that puts those of
// a cluster side by side: in the order, row i is row perm[i] of a. Products with
// tables that exceed the caches are faster where rows that are used together
// stand together.
//
// Clusters are found by label propagation: again and again each row takes the
// label that most of its neighbours have, of several the least, along nonzeros
// and against them. The order depends on the structure alone.
func Reorder(a *CSR) (perm []int32) {
	given("sparse.Reorder", a)
	if a.NumRows != a.NumCols {
		e := tensor.Mismatch("sparse.Reorder", a)
		e.Why = "want a square matrix"
		panic(e)
	}
	t := a.flipped().t
	c := clusters{matrices: [2]*CSR{a, t}, labels: make([]int32, a.NumRows), counts: make([]int32, a.NumRows)}
	for i := range c.labels {
		c.labels[i] = int32(i)
	}
	for range clusterRounds {
		if c.round() <= a.NumRows/100 {
			break
		}
	}
	perm, _ = sortByKey(a.NumRows, c.labels)
	return perm
}

// clusterRounds is the most rounds of propagation; labels hardly change after
// fewer.
const clusterRounds = 12

// clusters are the labels of rows.
type clusters struct {
	matrices [2]*CSR // whose rows are neighbours
	labels   []int32
	counts   []int32 // of each label, among the neighbours of the row at hand
}

// round gives each row a label and returns how many changed.
func (c *clusters) round() (changed int) {
	for i := range c.labels {
		best := c.common(i)
		if best != c.labels[i] {
			c.labels[i] = best
			changed++
		}
	}
	return changed
}

// common returns the label that most neighbours of row i have: its own if no
// other has more, else the least of those that have the most.
func (c *clusters) common(i int) int32 {
	best := c.labels[i]
	for _, m := range c.matrices {
		cols, _ := m.Row(i)
		for _, j := range cols {
			if int(j) == i {
				continue // a loop says nothing
			}
			c.counts[c.labels[j]]++
		}
	}
	most := c.counts[best]
	for _, m := range c.matrices {
		cols, _ := m.Row(i)
		for _, j := range cols {
			if l := c.labels[j]; c.counts[l] > most || c.counts[l] == most && l < best && best != c.labels[i] {
				best, most = l, c.counts[l]
			}
		}
	}
	for _, m := range c.matrices {
		cols, _ := m.Row(i)
		for _, j := range cols {
			c.counts[c.labels[j]] = 0
		}
	}
	return best
}
