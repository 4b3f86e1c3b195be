package main

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
)

// splitEdges returns the split of a task on edges: its own, by time, random, or of a file.
func (k *task) splitEdges(c choice) (s datasets.Split, err error) {
	switch {
	case c.splits == splitsRandom:
		s = k.pairs.fifths(k.goal, c.seed)
	case isFolds(c.splits):
		return s, misuse("--folds: %s", remedies[taskEdge]["folds"])
	case c.splits == splitsShchur:
		return s, misuse("--splits %.40s: it is for nodes: take random, time, or the name of a .json or .npz file of the edges that train, validate and test", c.splits)
	case byTime(c.splits):
		s, err = edgesByTime(k.Dataset, c.splits)
	default:
		s, err = splitOf(k.Dataset, k.goal, c)
	}
	if err != nil {
		return s, err
	}
	return k.pairs.together(s, k.goal), nil
}

// fifths is a random split: of the edges of each class, or of all if there are none, three fifths
// train, a fifth validates and a fifth tests. Edges between the same two nodes, in either
// direction, are in the same part; what is not known is in none.
func (p *pairs) fifths(g *goal, seed uint64) (s datasets.Split) {
	strata := make([][][]int32, max(1, g.Outputs))
	for _, bundle := range p.bundles(g) {
		class := 0
		if g.kind == oneClass {
			class = int(g.Labels[bundle[0]])
		}
		strata[class] = append(strata[class], bundle)
	}
	rng := rand.New(rand.NewPCG(seed, 0x5711))
	for _, list := range strata {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		fifth := (len(list) + 2) / 5
		s.Val = append(s.Val, slices.Concat(list[:fifth]...)...)
		s.Test = append(s.Test, slices.Concat(list[fifth:2*fifth]...)...)
		s.Train = append(s.Train, slices.Concat(list[2*fifth:]...)...)
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// bundles returns the edges of which anything is known, those between the same two nodes
// together, in the order of the first of each.
func (p *pairs) bundles(g *goal) (list [][]int32) {
	number := map[[2]int32]int{}
	for e, pair := range p.Of {
		if !g.Known(int32(e)) {
			continue
		}
		key := [2]int32{min(p.From[pair], p.To[pair]), max(p.From[pair], p.To[pair])}
		i, ok := number[key]
		if !ok {
			i, number[key] = len(list), len(list)
			list = append(list, nil)
		}
		list[i] = append(list[i], int32(e))
	}
	return list
}

// together is s without edges of which nothing is known. A mirrored pair counts once, in the first
// part that one of its two edges is in, as links do.
func (p *pairs) together(s datasets.Split, g *goal) (out datasets.Split) {
	taken := make([]bool, len(p.Edge))
	for _, part := range []struct{ from, into *[]int32 }{{&s.Train, &out.Train}, {&s.Val, &out.Val}, {&s.Test, &out.Test}} {
		for _, e := range *part.from {
			if pair := p.Of[e]; g.Known(e) && !taken[pair] {
				taken[pair] = true
				*part.into = append(*part.into, p.Edge[pair])
			}
		}
		slices.Sort(*part.into)
	}
	return out
}

// splitNamed is the split that --splits names; where edges have none of their own, a random one.
func (k *task) splitNamed(splits string) string {
	if k.pairs != nil && splits == splitsOwn && len(k.Split.Train) == 0 {
		return splitsRandom
	}
	return splits
}
