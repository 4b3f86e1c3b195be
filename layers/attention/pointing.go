package attention

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
)

// Pointing is what a [Pointer] is to say of a batch of sets, as graphs.
type Pointing struct {
	Sets   *graph.Graph // the points, a chain for each set
	Steps  *graph.Graph // the steps of the answers, a chain for each set
	Pairs  *graph.Graph // points → steps: an edge from each that the step may choose; the last source is ⇒
	Chosen []int32      // of each step, the edge of Pairs that it is to choose

	fed []int32 // of each step, the row of the points that its decoder reads
}

// Pointing returns the steps of the answers to sets. answers[i] are places in set i, from
// 0; with End a step that chooses ⇒ follows of itself. The error names an answer that l
// cannot give.
func (l *Pointer) Pointing(sets *graph.Graph, answers [][]int32) (*Pointing, error) {
	l.check()
	if err := checkSets(sets); err != nil {
		return nil, err
	}
	ends := sets.NodeOffsets()
	if n := len(ends) - 1; n != len(answers) {
		return nil, fmt.Errorf("attention: %d answers for %d sets: give each its own", len(answers), n)
	}
	b := pointings{choices: choices{Pointer: l}, points: sets.NumNodes()}
	for i, answer := range answers {
		if why := b.add(answer, ends[i], ends[i+1]-ends[i]); why != "" {
			return nil, fmt.Errorf("attention: the answer to set %d, %s", i, why)
		}
	}
	return &Pointing{
		Sets: sets, Steps: graph.Chains(b.lengths...), Chosen: b.chosen, fed: b.fed,
		Pairs: graph.Must(graph.NewBipartite(l.sources(b.points), len(b.fed), b.src, b.dst)),
	}, nil
}

// pointings puts a Pointing together, an answer at a time.
type pointings struct {
	choices
	points      int // of all sets
	src, dst    []int32
	chosen, fed []int32
	lengths     []int // steps of each answer
}

// add adds the steps of an answer to the set of n points that begin at from, or says why it
// is none.
func (b *pointings) add(answer []int32, from, n int) (why string) {
	switch {
	case len(answer) > b.longest(n):
		return fmt.Sprintf("of %d points, has %d places: %d is the most", n, len(answer), b.longest(n))
	case len(answer) == 0 && !b.End:
		return "which has no places, wants a Pointer with End"
	}
	b.begin(n)
	last := b.points // the row of Start
	for k, j := range answer {
		if j < 0 || int(j) >= n {
			return fmt.Sprintf("place %d, is %d: its %d points are 0 to %d", k, j, n, n-1)
		}
		if !b.may(j) {
			return fmt.Sprintf("place %d, is %d, which NoRepeat does not allow again", k, j)
		}
		b.step(j, from, last)
		last = from + int(j)
	}
	steps := len(answer)
	if b.End {
		b.step(int32(n), from, last)
		steps++
	}
	b.lengths = append(b.lengths, steps)
	return ""
}

// step adds a step that chooses j and reads row last.
func (b *pointings) step(j int32, from, last int) {
	at, want := len(b.src), int32(from)+j
	if int(j) == len(b.taken) {
		want = int32(b.points)
	}
	b.src = b.edges(b.src, from, b.points)
	for e := at; e < len(b.src); e++ {
		if b.src[e] == want {
			b.chosen = append(b.chosen, int32(e))
		}
		b.dst = append(b.dst, int32(len(b.fed)))
	}
	b.fed = append(b.fed, int32(last))
	b.take(j)
}
