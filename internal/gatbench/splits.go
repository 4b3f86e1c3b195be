package gatbench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/models"
)

// What --splits names, beside files.
const (
	splitsOwn    = "planetoid" // the dataset's own, which ownSplits says too
	ownSplits    = "own"
	splitsRandom = "random"          // drawn from the seed
	splitsShchur = "shchur"          // drawn from the seed as Shchur and others do
	splitsFolds  = models.SplitFolds // before a number: so many, as --folds cuts
	splitsColumn = "column:"         // before a column's name: its words say which part a row is in
)

// drawn reports whether a split is another one for each seed.
func drawn(splits string) bool {
	return splits == splitsRandom || splits == splitsShchur || models.IsShares(splits)
}

// isColumn reports whether a split is that of a column.
func isColumn(splits string) bool { return strings.HasPrefix(splits, splitsColumn) }

// noFile reports whether --splits names no file.
func noFile(splits string) bool {
	return own(splits) || drawn(splits) || isFolds(splits) || models.IsByTime(splits) || isColumn(splits)
}

// takeFolds makes --splits folds:K what it stands for, --folds K, unless one of the folds is meant.
func (c *trainFlags) takeFolds() error {
	if c.Splits == nil || !isFolds(*c.Splits) || c.SplitNumber != nil || c.Resume != "" {
		return nil
	}
	k, err := strconv.Atoi(strings.TrimPrefix(*c.Splits, splitsFolds))
	switch {
	case err != nil:
		return cli.Misuse("--splits %.40s: want a number of folds after the colon, such as %s5", *c.Splits, splitsFolds)
	case k < 3:
		return cli.Misuse("--splits %s: there must be at least 3 folds, because one tests and another validates", *c.Splits)
	case c.Folds != nil:
		return cli.Misuse("--folds %d and --splits %s: they say the same: leave one of the two flags out", *c.Folds, *c.Splits)
	}
	c.Folds, c.Splits = &k, nil
	return nil
}

// partsOf returns the column of --splits column:NAME, perhaps with an equals sign and which of its words mean which part.
func partsOf(splits string) (column string, words map[string]string, err error) {
	column, list, said := strings.Cut(strings.TrimPrefix(splits, splitsColumn), "=")
	if column == "" {
		return "", nil, cli.Misuse("--splits %.60s: want a column after the colon, such as column:part, or column:region=val:north,test:south", splits)
	}
	if !said {
		return column, nil, nil
	}
	words = map[string]string{}
	for one := range strings.SplitSeq(list, ",") {
		part, word, ok := strings.Cut(one, ":")
		if !ok || word == "" || !slices.Contains([]string{"train", "val", "test"}, part) {
			return "", nil, cli.Misuse("--splits %.60s: %.40q says of no word which part it means: write train, val or test, a colon and the word, such as val:north", splits, one)
		}
		words[word] = part
	}
	return column, words, nil
}

// isFolds reports whether a split is one of those that --folds cuts.
func isFolds(splits string) bool { return strings.HasPrefix(splits, splitsFolds) }

// splitsEach is the --split-number that takes for each seed another of several splits.
const splitsEach = "each"

// choice says which split of a dataset is meant.
type choice struct {
	splits string // --splits
	number string // which of several; empty: 0
	seed   uint64

	columns chosenColumns
	ways    bool // edges between rows of tables lead both ways, unless the columns say otherwise
}

// choice is that of the recipe.
func (r *recipe) choice() choice {
	return choice{splits: r.Splits, number: r.SplitNumber, seed: r.Seed, columns: r.Columns}
}

// fresh is c for a run that begins, in whose settings the data has a say.
func (c choice) fresh(begins bool) choice {
	c.ways = begins
	return c
}

// from is c with the split where it is now, which may be another place than where it
// was when the recipe was written.
func (c choice) from(splits string) choice {
	c.splits = splits
	return c
}

// setNumber takes what --split-number was given.
func (r *recipe) setNumber(flag *string) {
	cli.Set(&r.SplitNumber, flag)
	if r.SplitNumber == "0" {
		r.SplitNumber = "" // as in recipes that were written when there was no such setting
	}
}

// bySeed reports whether each seed has a split of its own.
func (c choice) bySeed() bool { return drawn(c.splits) || c.number == splitsEach }

// check returns an error for a number that cannot be.
func (c choice) check() error {
	if c.number == "" {
		return nil
	}
	if drawn(c.splits) {
		return cli.Misuse("--split-number %.40s and --splits %s: a random split follows from the seed: leave the number out", c.number, c.splits)
	}
	if _, err := strconv.ParseUint(c.number, 10, 31); err != nil && c.number != splitsEach {
		return cli.Misuse("--split-number %.40s: want a number from 0, or each", c.number)
	}
	return nil
}

// index returns which of n splits is meant. The number has been checked.
func (c choice) index(n int) int {
	if c.number == splitsEach {
		return int(c.seed % uint64(max(1, n)))
	}
	k, _ := strconv.Atoi(c.number) // the first, of none
	return k
}

// of returns the split that is meant of those that there are.
func (c choice) of(d *datasets.Dataset) (datasets.Split, error) {
	s, err := d.SplitOf(c.index(len(d.Splits)))
	if err != nil {
		return s, cli.Misuse("--split-number %s: %v", c.number, err)
	}
	return s, nil
}

// How many nodes a random split takes, where there are enough.
const (
	trainPerClass = 20
	randomVal     = 500
	randomTest    = 1000
	valPerClass   = 30 // of Shchur's
)

// splitOf returns the split that a file has.
func splitOf(d *datasets.Dataset, g *goal, c choice) (datasets.Split, error) {
	name := c.splits
	s, err := c.file(d, g)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, noSuchSplit(name, ownSplits, models.SplitUsual, splitsRandom, splitsShchur, splitsFolds+"5", models.SplitTime, splitsColumn+"NAME")
	case errors.As(err, new(cli.UsageError)):
		return s, err
	case err != nil:
		return s, fmt.Errorf("--splits %s: %w", name, err)
	}
	return s, nil
}

// divided returns the split that is chosen: one of the data's own, one that is drawn for a seed, one by time, a fold, or that of a file.
func (k *task) divided(c choice) (out *models.Division, err error) {
	named := k.goal.Goal
	named.Names = k.ClassNames
	d, rule := *k.Dataset, c.splits
	out = &models.Division{Rule: c.splits}
	switch {
	case c.splits == splitsShchur && (k.pairs != nil || k.goal.kind != oneClass):
		return nil, cli.Misuse("--splits shchur: it takes as many nodes of each class, and here %ss have %s: take %s", k.goal.example, k.goal.kind.noun(), models.SplitUsual)
	case c.splits == splitsShchur:
		out.Split = shchurSplit(k.Dataset, c.seed)
		return out, nil
	case c.splits == splitsRandom && k.pairs != nil:
		out.Split = k.pairs.together(k.pairs.fifths(k.goal, c.seed), k.goal)
		return out, nil
	case c.splits == splitsRandom && k.goal.kind != oneClass:
		out.Split = fifths(k.goal, c.seed)
		return out, nil
	case c.splits == splitsRandom:
		out.Split = randomSplit(k.Dataset, c.seed)
		return out, nil
	case !noFile(c.splits):
		if out.Split, err = splitOf(k.Dataset, k.goal, c); err == nil && k.pairs != nil {
			out.Split = k.pairs.together(out.Split, k.goal)
		}
		return out, err
	case c.splits == splitsOwn || c.splits == ownSplits || isColumn(c.splits):
		if d.Split, err = c.of(k.Dataset); err != nil {
			return nil, err
		}
		if rule = models.SplitOwn; isColumn(c.splits) && len(d.Split.Train) == 0 {
			return nil, cli.Misuse("--splits %.60s: no %s is in its training part", c.splits, k.goal.example)
		}
	case isFolds(c.splits):
		if n, err := strconv.ParseUint(c.number, 10, 31); err == nil {
			c.seed = n
		} else if c.number == "" {
			c.seed = 0
		}
	}
	if out, err = models.Divide(&named, &d, rule, c.seed); err != nil {
		if rule == models.SplitOwn {
			return nil, cli.Misuse("--dataset %s: %w", k.name, err)
		}
		return nil, cli.Misuse("--splits %.100s: %w", c.splits, err)
	}
	if out.Rule == models.SplitOwn {
		out.Rule = c.splits
	}
	return out, nil
}

// own reports whether a split is the data's, as it stands or where one of its parts is drawn from others.
func own(splits string) bool { return splits == splitsOwn || splits == ownSplits }

// named is what --splits is to say of a split that was divided as the data suggests, and sentence what was decided, with the flag that
// divides otherwise.
func (k *task) named(splits string) string {
	if own(splits) && k.division != nil {
		return k.division.Rule
	}
	return splits
}

// sentence says of a division what was decided, and which flag divides otherwise.
func sentence(d *models.Division) string {
	switch {
	case d == nil || d.Says == "":
		return ""
	case models.IsByTime(d.Rule):
		return d.Says + " (--splits " + models.SplitUsual + " draws them)"
	}
	return d.Says + " (--splits divides otherwise)"
}

// fifths is a random split of examples that have no classes: three fifths of those of
// which anything is known train, a fifth validates and a fifth tests.
func fifths(g *goal, seed uint64) datasets.Split {
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
		if c := d.Labels[v]; taken[c] < min(trainPerClass, size[c]/2) {
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
	for _, v := range d.Graph.LargestComponent() {
		if c := d.Labels[v]; c >= 0 {
			of[c] = append(of[c], v)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x5c09))
	var s datasets.Split
	for _, nodes := range of {
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		train := min(trainPerClass, len(nodes)/2)
		val := train + min(valPerClass, (len(nodes)-train)/2)
		s.Train = append(s.Train, nodes[:train]...)
		s.Val = append(s.Val, nodes[train:val]...)
		s.Test = append(s.Test, nodes[val:]...)
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// file reads the split from an .npz file, or else from JSON.
func (c choice) file(d *datasets.Dataset, g *goal) (s datasets.Split, err error) {
	from := &datasets.Dataset{Name: c.splits}
	if filepath.Ext(c.splits) == ".npz" {
		from.Splits, err = datasets.ReadSplits(c.splits, g.Len())
	} else {
		from.Split, err = readSplit(c.splits, d.Name, g)
	}
	if err != nil {
		return s, err
	}
	if s, err = c.of(from); err != nil {
		return s, err
	}
	for _, v := range slices.Concat(s.Train, s.Val, s.Test) {
		if !g.Known(v) {
			return s, fmt.Errorf("%s %d has no %s", g.example, v, g.kind.of())
		}
	}
	return s, nil
}

// readSplit reads {"train": […], "val": […], "test": […]}, the numbers of nodes.
func readSplit(path, name string, g *goal) (datasets.Split, error) {
	var s datasets.Split
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	const most = 1 << 30 // bytes
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return s, err
	}
	var lists struct{ Train, Val, Test []int32 }
	if err := jsonread.Strict(b, &lists); err != nil {
		return s, fmt.Errorf("it is no JSON object of the lists train, val and test: %w", err)
	}
	owner := map[int32]string{}
	for _, part := range []struct {
		name string
		from []int32
		into *[]int32
	}{{"train", lists.Train, &s.Train}, {"val", lists.Val, &s.Val}, {"test", lists.Test, &s.Test}} {
		for i, v := range part.from {
			switch {
			case v < 0 || int(v) >= g.Len():
				return s, fmt.Errorf("%s[%d] is %s %d; %s has the %ss 0 to %d", part.name, i, g.example, v, name, g.example, g.Len()-1)
			case owner[v] != "":
				return s, fmt.Errorf("%s[%d] is %s %d, which is in %s already", part.name, i, g.example, v, owner[v])
			case !g.Known(v):
				return s, fmt.Errorf("%s[%d] is %s %d, which has no %s", part.name, i, g.example, v, g.kind.of())
			}
			owner[v] = part.name
		}
		if len(part.from) == 0 {
			return s, fmt.Errorf("its list %s is empty", part.name)
		}
		*part.into = slices.Sorted(slices.Values(part.from))
	}
	return s, nil
}
