package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// Split says what the nodes are used for, or the edges or graphs. Ids ascend in each part; a node may
// be in none.
type Split struct{ Train, Val, Test []int32 }

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

// ReadSplit is the first of [ReadSplits].
func ReadSplit(path string, n int) (Split, error) {
	splits, err := ReadSplits(path, n)
	if err != nil {
		return Split{}, err
	}
	return splits[0], nil
}

// ReadSplits reads one or more splits of n nodes from an .npz: train, val and test, or
// train_idx and so on, which hold nodes, or train_mask, val_mask and test_mask, which
// hold for each node whether it is in that part. Masks of two axes are several splits: a
// row each, as in train_masks, or a column each, as PyG has it. A part may be missing. The
// error names the file and the first thing that is wrong.
func ReadSplits(path string, n int) ([]Split, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	splits, err := splitsOf(z, n, "node")
	if err == nil && len(splits[0].Train) == 0 {
		err = fmt.Errorf("%s: the split has no training nodes: want an array train or train_mask", path)
	}
	if err != nil {
		return nil, err
	}
	return splits, nil
}

// splitsOf reads the parts that are there, of n of what noun says; without, there is one
// empty split.
func splitsOf(z archive, n int, noun string) ([]Split, error) {
	splits, from := []Split{{}}, "" // the array that said how many
	for _, p := range []struct {
		name string
		part func(s *Split) *[]int32
	}{
		{"train", func(s *Split) *[]int32 { return &s.Train }},
		{"val", func(s *Split) *[]int32 { return &s.Val }},
		{"test", func(s *Split) *[]int32 { return &s.Test }},
	} {
		name := z.first(p.name, p.name+"_idx", p.name+"_mask", p.name+"_masks")
		if name == "" {
			continue
		}
		lists, err := z.parts(name, n)
		if err != nil {
			return nil, err
		}
		if from == "" {
			splits, from = make([]Split, len(lists)), name
		}
		if len(lists) != len(splits) {
			return nil, z.wrong(name, "it has %d splits, %q has %d", len(lists), from, len(splits))
		}
		for k, ids := range lists {
			*p.part(&splits[k]) = ids
		}
	}
	for k, s := range splits {
		if err := s.check(n, noun); err != nil && len(splits) > 1 {
			return nil, fmt.Errorf("%s: split %d: %w", z.path, k, err)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", z.path, err)
		}
	}
	return splits, nil
}

// parts reads one part of each split: nodes, or masks of n.
func (z archive) parts(name string, n int) ([][]int32, error) {
	if !strings.Contains(name, "_mask") {
		ids, err := z.nodes(name)
		return [][]int32{ids}, err
	}
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	count, rows := 1, true
	if len(a.Shape) == 2 {
		count, rows = a.Shape[0], a.Shape[1] == n
		if turned := a.Shape[0] == n && strings.HasSuffix(name, "_mask"); turned || !rows {
			count, rows = a.Shape[1], false
		}
		if !rows && a.Shape[0] != n || count < 1 || count > splitsMost {
			return nil, z.wrong(name, "its shape is %v, want 1 to %d splits of %d nodes", a.Shape, splitsMost, n)
		}
		a.Shape = []int{a.Len()}
	}
	is, err := elements(z, name, a, (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	if len(is) != count*n {
		return nil, z.wrong(name, "%d elements for %d nodes", len(is), n)
	}
	return z.masks(name, is, count, rows)
}

// splitsMost is how many splits a file may hold.
const splitsMost = 100

// masks returns which nodes each of count masks means, a row each or a column each.
func (z archive) masks(name string, is []int32, count int, rows bool) ([][]int32, error) {
	lists, n := make([][]int32, count), max(1, len(is)/count)
	at := func(i int) (split, node int) {
		if rows {
			return i / n, i % n
		}
		return i % count, i / count
	}
	sizes := make([]int, count)
	for i, b := range is {
		k, _ := at(i)
		sizes[k] += int(b & 1)
	}
	for k, size := range sizes {
		if err := z.Keep(size, 4); err != nil {
			return nil, err
		}
		if size > 0 {
			lists[k] = make([]int32, 0, size)
		}
	}
	for i, b := range is {
		k, v := at(i)
		switch b {
		case 0:
		case 1:
			lists[k] = append(lists[k], int32(v))
		default:
			return nil, z.wrong(name, "element %d is %d, want 0 or 1: nodes themselves go into %q", i, b, name[:strings.Index(name, "_mask")])
		}
	}
	return lists, nil
}

// nodes reads a list of nodes, in any order.
func (z archive) nodes(name string) ([]int32, error) {
	ids, err := vector(z, name, (*npy.Array).Int32s)
	slices.Sort(ids)
	return ids, err
}
