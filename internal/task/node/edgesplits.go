package node

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
)

// fifthsOfEdges is a random split: of the edges of each class, or of all if there are none, three fifths
// train, a fifth validates and a fifth tests. Edges between the same two nodes, in either
// direction, are in the same part; what is not known is in none.
func fifthsOfEdges(p *models.Pairing, g *task.Goal, seed uint64) (s datasets.Split) {
	strata := make([][][]int32, max(1, g.Outputs))
	for _, bundle := range p.Bundles(g.All()) {
		class := 0
		if g.Learns == task.OneClass {
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

// together is s without edges of which nothing is known. A mirrored pair counts once, in the first
// part that one of its two edges is in, as links do.
func together(p *models.Pairing, s datasets.Split, g *task.Goal) (out datasets.Split) {
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
