package datasets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// Split says what the nodes are used for. Ids ascend in each part; a node may
// be in none.
type Split struct{ Train, Val, Test []int32 }

// Check returns an error that names the first node of a split of n nodes that is
// out of range, out of order, or in two parts; and one if there are nodes to
// validate or test with, but none to train on.
func (s Split) Check(n int) error {
	part := make([]string, n)
	for _, p := range s.parts() {
		last := int32(-1)
		for i, v := range p.ids {
			switch {
			case v < 0 || int(v) >= n:
				return fmt.Errorf("%s node %d is %d; the nodes are 0 to %d", p.name, i, v, n-1)
			case v <= last:
				return fmt.Errorf("%s node %d is %d, after %d; want ascending nodes", p.name, i, v, last)
			case part[v] != "":
				return fmt.Errorf("node %d is in two parts of the split, %s and %s", v, part[v], p.name)
			}
			part[v], last = p.name, v
		}
	}
	if len(s.Train) == 0 && len(s.Val)+len(s.Test) > 0 {
		return errors.New("the split has no training nodes")
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

// ReadSplit reads a split of n nodes from an .npz of train, val and test, which
// hold nodes, or of train_mask, val_mask and test_mask, which hold for each node
// whether it is in that part. A part may be missing. The error names the file and
// the first thing that is wrong.
func ReadSplit(path string, n int) (Split, error) {
	z, err := openArchive(path)
	if err != nil {
		return Split{}, err
	}
	defer z.Close()
	s, err := splitOf(z, n)
	if err == nil && len(s.Train) == 0 {
		err = fmt.Errorf("%s: the split has no training nodes: want an array train or train_mask", path)
	}
	return s, err
}

// splitOf reads the parts that are there.
func splitOf(z archive, n int) (s Split, err error) {
	for _, p := range []struct {
		name string
		into *[]int32
	}{{"train", &s.Train}, {"val", &s.Val}, {"test", &s.Test}} {
		switch mask := p.name + "_mask"; {
		case z.Has(p.name):
			*p.into, err = z.nodes(p.name)
		case z.Has(mask):
			*p.into, err = z.mask(mask, n)
		}
		if err != nil {
			return Split{}, err
		}
	}
	if err := s.Check(n); err != nil {
		return Split{}, fmt.Errorf("%s: %w", z.path, err)
	}
	return s, nil
}

// nodes reads a list of nodes, in any order.
func (z archive) nodes(name string) ([]int32, error) {
	ids, err := vector(z, name, (*npy.Array).Int32s)
	slices.Sort(ids)
	return ids, err
}

// mask reads which of n nodes are meant.
func (z archive) mask(name string, n int) ([]int32, error) {
	is, err := vector(z, name, (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	if len(is) != n {
		return nil, z.wrong(name, "%d elements for %d nodes", len(is), n)
	}
	var ids []int32
	for v, b := range is {
		switch b {
		case 0:
		case 1:
			ids = append(ids, int32(v))
		default:
			return nil, z.wrong(name, "element %d is %d, want 0 or 1: nodes themselves go into %q", v, b, name[:len(name)-len("_mask")])
		}
	}
	return ids, nil
}
