package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Split says what the nodes are used for, or the edges or graphs. Ids ascend in each part; a node may
// be in none.
type Split struct{ Train, Val, Test []int32 }

// The parts of a split that a row may be in.
const (
	inNone = iota
	inTrain
	inVal
	inTest
)

// Check returns an error that names the first node of a split of n nodes that is
// out of range, out of order, or in two parts; and one if there are nodes to
// validate or test with, but none to train on.
func (s Split) Check(n int) error { return s.check(n, "node") }

// check is Check of a split of what noun calls them.
func (s Split) check(n int, noun string) error {
	part := make([]string, n)
	for _, p := range s.parts() {
		last := int32(-1)
		for i, v := range p.ids {
			switch {
			case v < 0 || int(v) >= n:
				return fmt.Errorf("%s %s %d is %d; the %ss are 0 to %d", p.name, noun, i, v, noun, n-1)
			case v <= last:
				return fmt.Errorf("%s %s %d is %d, after %d; want ascending %ss", p.name, noun, i, v, last, noun)
			case part[v] != "":
				return fmt.Errorf("%s %d is in two parts of the split, %s and %s", noun, v, part[v], p.name)
			}
			part[v], last = p.name, v
		}
	}
	if len(s.Train) == 0 && len(s.Val)+len(s.Test) > 0 {
		return fmt.Errorf("the split has no training %ss", noun)
	}
	return nil
}

// part is one part of a split, for messages.
type part struct {
	name string
	ids  []int32
}

func (s Split) parts() []part {
	return []part{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}}
}

// RandomSplit draws a split: perClass training nodes of each class, then val and
// test nodes of those that are left and have a class. A test of −1 takes all that
// are left. It draws the same for the same rng. The error says what there is too
// little of.
func (d *Dataset) RandomSplit(rng *rand.Rand, perClass, val, test int) (Split, error) {
	if d.Labels == nil {
		return Split{}, fmt.Errorf("%s has no classes to split by", d.Name)
	}
	if perClass < 1 || val < 0 || test < -1 {
		return Split{}, fmt.Errorf("a split of %d nodes a class, %d validation and %d test nodes; want at least 1, 0 and 0 (or -1 for what is left)", perClass, val, test)
	}
	var s Split
	var rest []int32
	taken := make([]int, d.Classes)
	for _, v := range rng.Perm(len(d.Labels)) {
		switch c := d.Labels[v]; {
		case c < 0:
		case taken[c] < perClass:
			taken[c]++
			s.Train = append(s.Train, int32(v))
		default:
			rest = append(rest, int32(v))
		}
	}
	for c, n := range taken {
		if n < perClass {
			return Split{}, fmt.Errorf("class %d of %s has %d nodes, fewer than the %d a class that are to train", c, d.Name, n, perClass)
		}
	}
	if test < 0 {
		test = max(0, len(rest)-val)
	}
	if val > len(rest) || test > len(rest)-val {
		return Split{}, fmt.Errorf("%s has %d nodes left after training, fewer than the %d to validate and the %d to test with", d.Name, len(rest), val, test)
	}
	s.Val, s.Test = rest[:val:val], rest[val:val+test:val+test]
	for _, p := range s.parts() {
		slices.Sort(p.ids)
	}
	return s, nil
}

// SplitOf returns one of the splits that a dataset has, counted from 0. The error says
// how many there are.
func (d *Dataset) SplitOf(k int) (Split, error) {
	all := d.Splits
	if len(all) == 0 {
		all = []Split{d.Split}
	}
	if k < 0 || k >= len(all) {
		return Split{}, fmt.Errorf("%s has no split %d; it has %s", d.Name, k, numbered(len(all)))
	}
	return all[k], nil
}

// numbered says how many splits there are and how they are counted.
func numbered(n int) string {
	if n == 1 {
		return "one, number 0"
	}
	return fmt.Sprintf("%d, numbers 0 to %d", n, n-1)
}

// setSplits takes the splits of a file, of which the first is the one in use.
func (d *Dataset) setSplits(splits []Split) {
	d.Splits = nil
	if len(splits) > 1 {
		d.Splits = splits
	}
	d.Split = splits[0]
}

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
