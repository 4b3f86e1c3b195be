package main

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
	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// What --splits names, beside files.
const (
	splitsOwn    = "planetoid" // the dataset's own, which ownSplits says too
	ownSplits    = "own"
	splitsRandom = "random" // drawn from the seed
	splitsShchur = "shchur" // drawn from the seed as Shchur and others do
	splitsFolds  = "folds:" // before a number: so many, as --folds cuts
)

// drawn reports whether a split is another one for each seed.
func drawn(splits string) bool { return splits == splitsRandom || splits == splitsShchur }

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
}

// choice is that of the recipe.
func (r *recipe) choice() choice { return choice{r.Splits, r.SplitNumber, r.Seed, r.Columns} }

// from is c with the split where it is now, which may be another place than where it
// was when the recipe was written.
func (c choice) from(splits string) choice {
	c.splits = splits
	return c
}

// setNumber takes what --split-number was given.
func (r *recipe) setNumber(flag *string) {
	set(&r.SplitNumber, flag)
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
		return misuse("--split-number %.40s and --splits %s: a random split follows from the seed: leave the number out", c.number, c.splits)
	}
	if _, err := strconv.ParseUint(c.number, 10, 31); err != nil && c.number != splitsEach {
		return misuse("--split-number %.40s: want a number from 0, or each", c.number)
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
		return s, misuse("--split-number %s: %v", c.number, err)
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

// splitOf returns the split that is chosen: one of the dataset's own, a random one for a
// seed, or one of a file.
func splitOf(d *datasets.Dataset, g *goal, c choice) (datasets.Split, error) {
	switch {
	case c.splits == splitsOwn || c.splits == ownSplits:
		return c.of(d)
	case c.splits == splitsRandom && g.kind != oneClass:
		return fifths(g, c.seed), nil
	case c.splits == splitsRandom:
		return randomSplit(d, c.seed), nil
	case c.splits == splitsShchur && g.kind != oneClass:
		return datasets.Split{}, misuse("--splits shchur: it takes as many nodes of each class, and these have %s: take random", g.kind.noun())
	case c.splits == splitsShchur:
		return shchurSplit(d, c.seed), nil
	case isFolds(c.splits):
		return c.fold(d)
	case byTime(c.splits):
		return splitByTime(d, g, c.splits)
	}
	name := c.splits
	s, err := c.file(d, g)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, noSuchSplit(name, ownSplits, splitsRandom, splitsShchur, splitsTime)
	case errors.As(err, new(usageError)):
		return s, err
	case err != nil:
		return s, fmt.Errorf("--splits %s: %w", name, err)
	}
	return s, nil
}

// fold returns the fold that is meant: the cut is the same for all seeds.
func (c choice) fold(d *datasets.Dataset) (s datasets.Split, err error) {
	text := strings.TrimPrefix(c.splits, splitsFolds)
	k, err := strconv.Atoi(text)
	if err != nil {
		return s, misuse("--splits %.40s: want a number of folds after the colon", c.splits)
	}
	from := &datasets.Dataset{Name: d.Name}
	if from.Splits, err = d.Folds(rand.New(rand.NewPCG(0, 0xf01d)), k); err != nil {
		return s, misuse("--folds %d: %w", k, err)
	}
	return c.of(from)
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
