package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Folds cuts the graphs that have a class into k parts of about as many of each class, or,
// where there are no classes, all graphs into k parts, and returns k splits: split i tests
// on part i and trains on the others. It draws the same for the same rng. The error says so
// if there are fewer graphs than k.
func (d *Graphs) Folds(rng *rand.Rand, k int) ([]Split, error) {
	parts, n := cutEvenly(rng, d.Len(), d.Labels, d.Classes, k)
	if k < 2 || k > n {
		return nil, fmt.Errorf("%d folds of the %d graphs of %s that have a class; want at least 2, and a graph for each", k, n, d.Name)
	}
	folds := make([]Split, k)
	for f := range folds {
		folds[f] = Split{Train: others(parts, f, f), Test: parts[f]}
	}
	return folds, nil
}

// Folds cuts the nodes that have a class into k parts of about as many of each class, or,
// where there are no classes, all nodes into k parts, and returns k splits: split i tests on
// part i, validates on the next and trains on the others. It draws the same for the same
// rng. The error says so if k is less than 3, or there are fewer nodes.
func (d *Dataset) Folds(rng *rand.Rand, k int) ([]Split, error) {
	parts, n := cutEvenly(rng, d.Graph.NumNodes(), d.Labels, d.Classes, k)
	if k < 3 || k > n {
		return nil, fmt.Errorf("%d folds of the %d nodes of %s that can be learnt from; want at least 3, one of which tests and one validates, and a node for each", k, n, d.Name)
	}
	folds := make([]Split, k)
	for f := range folds {
		next := (f + 1) % k
		folds[f] = Split{Train: others(parts, f, next), Val: parts[next], Test: parts[f]}
	}
	return folds, nil
}

// cutEvenly cuts n things into k parts of about as many of each class, and returns how many
// there are; those without a class are left out. Without labels all are of one class.
func cutEvenly(rng *rand.Rand, n int, labels []int32, classes, k int) (parts [][]int32, all int) {
	byClass := make([][]int32, max(1, classes))
	for _, i := range rng.Perm(n) {
		c := int32(0)
		if labels != nil {
			c = labels[i]
		}
		if c >= 0 {
			byClass[c] = append(byClass[c], int32(i))
			all++
		}
	}
	if k < 1 {
		return nil, all
	}
	parts = make([][]int32, k)
	next := 0
	for _, ids := range byClass {
		for _, i := range ids { // one after the other, so that parts differ by one of a class, and by one in all
			parts[next] = append(parts[next], i)
			next = (next + 1) % k
		}
	}
	for _, p := range parts {
		slices.Sort(p)
	}
	return parts, all
}

// others returns what is in neither of two parts, ascending.
func others(parts [][]int32, a, b int) []int32 {
	var ids []int32
	for i, p := range parts {
		if i != a && i != b {
			ids = append(ids, p...)
		}
	}
	slices.Sort(ids)
	return ids
}
