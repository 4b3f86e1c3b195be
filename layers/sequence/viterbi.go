package sequence

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// Decode returns the likeliest tagging, a tag a node, and its s(y) for each sequence of
// g, by Viterbi's algorithm. Of taggings that score alike it is the one with the lower
// tag at the last node where they differ. Where all are forbidden the score is −Inf and
// the tags mean nothing.
func (l *CRF) Decode(g *graph.Graph, x *grad.Var) (tags []int32, scores []float64) {
	p := l.check(g, x)
	v := &viterbi{potentials: l.potentials(), paths: p, tags: make([]int32, x.Dim(0)), each: make([]float64, p.len())}
	v.walk = walk{potentials: v.potentials, x: x.Value()}
	par.Run(len(p.parts)-1, v)
	scores = make([]float64, p.sequences)
	for c, s := range v.each {
		scores[p.member[c]] += s
	}
	return v.tags, scores
}

// viterbi is one run of Decode.
type viterbi struct {
	*potentials
	*paths
	walk walk // with x alone
	tags []int32
	each []float64 // the score of each chain
}

// Chunk does the chains of a part.
func (v *viterbi) Chunk(i int) {
	w := v.walk
	rows, back := make([]float64, 2*v.k), make([]int32, v.longest*v.k)
	for c := v.parts[i]; c < v.parts[i+1]; c++ {
		w.nodes = v.chain(c)
		v.each[c] = v.follow(&w, rows[:v.k], rows[v.k:], back)
	}
}

// follow finds the best tagging of a chain. back is the best tag before each.
func (v *viterbi) follow(w *walk, best, before []float64, back []int32) float64 {
	k := v.k
	for i := range w.nodes {
		if i == 0 {
			copy(best, v.begin)
			w.add(best, i)
			continue
		}
		best, before = before, best
		for j := range best {
			best[j] = math.Inf(-1)
			back[i*k+j] = 0
		}
		for z, s := range before {
			for j, n := range v.next[z*k : z*k+k] {
				if s+n > best[j] {
					best[j], back[i*k+j] = s+n, int32(z)
				}
			}
		}
		w.add(best, i)
	}
	top, tag := math.Inf(-1), int32(0)
	for z, s := range best {
		if s+v.end[z] > top {
			top, tag = s+v.end[z], int32(z)
		}
	}
	for i := len(w.nodes) - 1; i >= 0; i-- {
		v.tags[w.nodes[i]] = tag
		tag = back[i*k+int(tag)]
	}
	return top
}
