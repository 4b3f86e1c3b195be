package node

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// Choice says which split of a dataset is meant.
type Choice struct {
	Splits string // --splits
	number string // which of several; empty: 0
	Seed   uint64

	Tables source.Columns
	ways   bool // edges between rows of tables lead both ways, unless the columns say otherwise
}

// Choice is that of the recipe.
func (r *Recipe) Choice() Choice {
	return Choice{Splits: r.Splits, number: r.SplitNumber, Seed: r.Seed, Tables: r.Columns}
}

// Fresh is c for a run that begins, in whose settings the data has a say.
func (c Choice) Fresh(begins bool) Choice {
	c.ways = begins
	return c
}

// from is c with the split where it is now, which may be another place than where it
// was when the recipe was written.
func (c Choice) from(splits string) Choice {
	c.Splits = splits
	return c
}

// SetNumber takes what --split-number was given.
func (r *Recipe) SetNumber(flag *string) {
	cli.Set(&r.SplitNumber, flag)
	if r.SplitNumber == "0" {
		r.SplitNumber = "" // as in recipes that were written when there was no such setting
	}
}

// bySeed reports whether each seed has a split of its own.
func (c Choice) bySeed() bool { return source.Drawn(c.Splits) || c.number == source.SplitsEach }

// check returns an error for a number that cannot be.
func (c Choice) check() error {
	if c.number == "" {
		return nil
	}
	if source.Drawn(c.Splits) {
		return cli.Misuse("--split-number %.40s and --splits %s: a random split follows from the seed: leave the number out", c.number, c.Splits)
	}
	if _, err := strconv.ParseUint(c.number, 10, 31); err != nil && c.number != source.SplitsEach {
		return cli.Misuse("--split-number %.40s: want a number from 0, or each", c.number)
	}
	return nil
}

// index returns which of n splits is meant. The number has been checked.
func (c Choice) index(n int) int {
	if c.number == source.SplitsEach {
		return int(c.Seed % uint64(max(1, n)))
	}
	k, _ := strconv.Atoi(c.number) // the first, of none
	return k
}

// of returns the split that is meant of those that there are.
func (c Choice) of(d *datasets.Dataset) (datasets.Split, error) {
	s, err := d.SplitOf(c.index(len(d.Splits)))
	if err != nil {
		return s, cli.Misuse("--split-number %s: %v", c.number, err)
	}
	return s, nil
}

// How many nodes a random split takes, where there are enough.
const (
	TrainPerClass = 20
	randomVal     = 500
	randomTest    = 1000
	ValPerClass   = 30 // of Shchur's
)

// splitOf returns the split that a file has.
func splitOf(d *datasets.Dataset, g *task.Goal, c Choice) (datasets.Split, error) {
	name := c.Splits
	s, err := c.File(d, g)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, source.NoSuchSplit(name, source.OwnSplits, models.SplitUsual, source.SplitsRandom, source.SplitsShchur, source.SplitsFolds+"5", models.SplitTime, source.SplitsColumn+"NAME")
	case errors.As(err, new(cli.UsageError)):
		return s, err
	case err != nil:
		return s, fmt.Errorf("--splits %s: %w", name, err)
	}
	return s, nil
}

// divided returns the split that is chosen: one of the data's own, one that is drawn for a seed, one by time, a fold, or that of a file.
func (k *Examples) divided(c Choice) (out *models.Division, err error) {
	d, rule := *k.Dataset, c.Splits
	out = &models.Division{Rule: c.Splits}
	switch {
	case c.Splits == source.SplitsShchur && (k.Pairing != nil || k.Goal.Learns != task.OneClass):
		return nil, cli.Misuse("--splits shchur: it takes as many nodes of each class, and here %ss have %s: take %s", k.Goal.Example, k.Goal.Noun(), models.SplitUsual)
	case c.Splits == source.SplitsShchur:
		out.Split = shchurSplit(k.Dataset, c.Seed)
		return out, nil
	case c.Splits == source.SplitsRandom && k.Pairing != nil:
		out.Split = together(k.Pairing, fifthsOfEdges(k.Pairing, k.Goal, c.Seed), k.Goal)
		return out, nil
	case c.Splits == source.SplitsRandom && k.Goal.Learns != task.OneClass:
		out.Split = fifths(k.Goal, c.Seed)
		return out, nil
	case c.Splits == source.SplitsRandom:
		out.Split = randomSplit(k.Dataset, c.Seed)
		return out, nil
	case !source.NoFile(c.Splits):
		if out.Split, err = splitOf(k.Dataset, k.Goal, c); err == nil && k.Pairing != nil {
			out.Split = together(k.Pairing, out.Split, k.Goal)
		}
		return out, err
	case c.Splits == source.SplitsOwn || c.Splits == source.OwnSplits || source.IsColumn(c.Splits):
		if d.Split, err = c.of(k.Dataset); err != nil {
			return nil, err
		}
		if rule = models.SplitOwn; source.IsColumn(c.Splits) && len(d.Split.Train) == 0 {
			return nil, cli.Misuse("--splits %.60s: no %s is in its training part", c.Splits, k.Goal.Example)
		}
	case source.IsFolds(c.Splits):
		if n, err := strconv.ParseUint(c.number, 10, 31); err == nil {
			c.Seed = n
		} else if c.number == "" {
			c.Seed = 0
		}
	}
	if out, err = models.Divide(&k.Goal.Goal, &d, rule, c.Seed); err != nil {
		if rule == models.SplitOwn {
			return nil, cli.Misuse("--dataset %s: %w", k.Called, err)
		}
		return nil, cli.Misuse("--splits %.100s: %w", c.Splits, err)
	}
	if out.Rule == models.SplitOwn {
		out.Rule = c.Splits
	}
	return out, nil
}

// named is what --splits is to say of a split that was divided as the data suggests, and sentence what was decided, with the flag that
// divides otherwise.
func (k *Examples) named(splits string) string {
	if source.OwnSplit(splits) && k.Division != nil {
		return k.Division.Rule
	}
	return splits
}

// fifths is a random split of examples that have no classes: three fifths of those of
// which anything is known train, a fifth validates and a fifth tests.
func fifths(g *task.Goal, seed uint64) datasets.Split {
	ids := g.All()
	rng := rand.New(rand.NewPCG(seed, 0x5711))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	fifth := len(ids) / 5
	s := datasets.Split{Val: ids[:fifth], Test: ids[fifth : 2*fifth], Train: ids[2*fifth:]}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// randomSplit trains on 20 nodes of each class, or half of a class that has
// fewer than 40, and takes of the others up to 500, but at most a third, to
// validate and up to 1,000 to test. Nodes without a class are left out.
func randomSplit(d *datasets.Dataset, seed uint64) datasets.Split {
	nodes := make([]int32, 0, len(d.Labels))
	size := make([]int, d.Classes)
	for v, c := range d.Labels {
		if c >= 0 {
			nodes = append(nodes, int32(v))
			size[c]++
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x5711))
	rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	var s datasets.Split
	taken, rest := make([]int, d.Classes), nodes[:0]
	for _, v := range nodes {
		if c := d.Labels[v]; taken[c] < min(TrainPerClass, size[c]/2) {
			taken[c]++
			s.Train = append(s.Train, v)
		} else {
			rest = append(rest, v)
		}
	}
	val := min(randomVal, len(rest)/3)
	s.Val = slices.Clone(rest[:val])
	s.Test = slices.Clone(rest[val:min(len(rest), val+randomTest)])
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// shchurSplit is a split of "Pitfalls of graph neural network evaluation": of the
// largest component 20 nodes of each class train, 30 validate, and all others test.
// A class of few nodes gives half of them to train and half of the rest to
// validate. The other components stay in the graph, where nothing comes from them.
func shchurSplit(d *datasets.Dataset, seed uint64) datasets.Split {
	of := make([][]int32, d.Classes)
	for _, v := range analysis.LargestComponent(d.Graph) {
		if c := d.Labels[v]; c >= 0 {
			of[c] = append(of[c], v)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x5c09))
	var s datasets.Split
	for _, nodes := range of {
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		train := min(TrainPerClass, len(nodes)/2)
		val := train + min(ValPerClass, (len(nodes)-train)/2)
		s.Train = append(s.Train, nodes[:train]...)
		s.Val = append(s.Val, nodes[train:val]...)
		s.Test = append(s.Test, nodes[val:]...)
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// File reads the split from an .npz file, or else from JSON.
func (c Choice) File(d *datasets.Dataset, g *task.Goal) (s datasets.Split, err error) {
	from := &datasets.Dataset{Name: c.Splits}
	if filepath.Ext(c.Splits) == ".npz" {
		from.Splits, err = datasets.LoadSplits(c.Splits, g.Len())
	} else {
		from.Split, err = task.ReadSplit(c.Splits, d.Name, g)
	}
	if err != nil {
		return s, err
	}
	if s, err = c.of(from); err != nil {
		return s, err
	}
	for _, v := range slices.Concat(s.Train, s.Val, s.Test) {
		if !g.Known(v) {
			return s, fmt.Errorf("%s %d has no %s", g.Example, v, g.Kind)
		}
	}
	return s, nil
}
