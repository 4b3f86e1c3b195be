package sequence

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// CRF gives the tags of a chain one probability together, so that a tag depends on the
// one before it: a linear-chain conditional random field, behind any layer that scores
// the tags of each node.
//
//	s(y) = Begin_y1 + Σ_i x_i,yi + Σ_i Trans_yi−1,yi + End_yn
//	p(y) = exp(s(y)) / Z,   Z = Σ_y' exp(s(y'))
//
// of Lafferty, McCallum and Pereira, "Conditional Random Fields: Probabilistic Models for
// Segmenting and Labeling Sequence Data", ICML 2001. x is N×Tags, and g is chains of any
// lengths, in either direction; a node that is alone is a chain of one. Any other graph
// panics. A chain without nodes has one tagging, which costs nothing.
//
// All sums run along the chains in float64 and in log space, one operation for the whole
// batch. What is found for a chain does not depend, to the bit, on the others.
//
// [CRF.Marginals] has a gradient of its own: with two tags, chosen or not, it is the
// weight of linear-chain attention (Kim and others, "Structured Attention Networks", 2017).
type CRF struct {
	Tags   int
	Forbid []Transition `json:",omitempty"` // what no tagging contains

	Trans *grad.Param `json:"-"` // Tags×Tags, from the row's tag to the column's
	Begin *grad.Param `json:"-"` // Tags
	End   *grad.Param `json:"-"` // Tags
}

// ChainEnd is, in a [Transition], what comes before the first tag and after the last.
const ChainEnd = -1

// Transition is a tag and the one that follows it.
type Transition struct{ From, To int32 }

// Init makes the Params: uniform up to 0.1.
func (l *CRF) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Trans, l.Begin, l.End = grad.NewParam(l.Tags, l.Tags), grad.NewParam(l.Tags), grad.NewParam(l.Tags)
	for _, p := range []*grad.Param{l.Trans, l.Begin, l.End} {
		p.Value.Uniform(rng, -0.1, 0.1)
	}
}

// Loss returns the mean of [CRF.NLL] over the sequences of g; of none zero.
func (l *CRF) Loss(t *grad.Tape, g *graph.Graph, x *grad.Var, tags []int32) *grad.Var {
	nll := l.NLL(t, g, x, tags)
	return nll.Sum().Scale(1 / float64(max(1, nll.Dim(0))))
}

// NLL returns −log p(tags) of each sequence of g, the members of [graph.Graph.NodeOffsets].
// It panics with a [*tensor.ShapeError] unless each node has a tag, and none that Forbid
// rules out there: such a loss would be infinite.
func (l *CRF) NLL(t *grad.Tape, g *graph.Graph, x *grad.Var, tags []int32) *grad.Var {
	p := l.check(g, x)
	l.checkTags(p, x, tags)
	return l.cost(t, p, x, tags)
}

// LogPartition returns log Z of each sequence of g: −Inf if all its taggings are forbidden.
func (l *CRF) LogPartition(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.cost(t, l.check(g, x), x, nil)
}

// check returns the chains of g, and panics unless Init has made the layer as its fields
// say, and it can read x on g.
func (l *CRF) check(g *graph.Graph, x *grad.Var) *paths {
	const op = "sequence.CRF"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "its rows are scores of tags, such as a Linear's result")
	compose.WantMade(op, "scores", l.Trans != nil && l.Trans.Value != nil && l.Begin != nil && l.End != nil)
	if s := l.Trans.Value.Shape(); s[0] != l.Tags || s[1] != l.Tags {
		l.bad(s, fmt.Sprintf("the scores are not of Tags %d: set Tags first, then call Init", l.Tags))
	}
	if s := x.Shape(); s[1] != l.Tags {
		l.bad(s, fmt.Sprintf("x wants a column for each of %d Tags", l.Tags))
	}
	for _, f := range l.Forbid {
		if f.From < ChainEnd || f.To < ChainEnd || int(max(f.From, f.To)) >= l.Tags || f.From == ChainEnd && f.To == ChainEnd {
			l.bad([]int{l.Tags}, fmt.Sprintf("Forbid has the transition from %d to %d: tags are 0 to %d, and one of the two may be ChainEnd", f.From, f.To, l.Tags-1))
		}
	}
	return pathsOf(op, g)
}

// checkTags panics unless tags are a tagging that is not forbidden.
func (l *CRF) checkTags(p *paths, x *grad.Var, tags []int32) {
	if len(tags) != x.Dim(0) {
		l.bad([]int{len(tags)}, fmt.Sprintf("there are %d nodes, want a tag for each", x.Dim(0)))
	}
	for v, y := range tags {
		if y < 0 || int(y) >= l.Tags {
			l.bad(x.Shape(), fmt.Sprintf("tag %d of node %d is none of 0 to %d", y, v, l.Tags-1))
		}
	}
	if len(l.Forbid) == 0 {
		return
	}
	forbidden := make(map[Transition]bool, len(l.Forbid))
	for _, f := range l.Forbid {
		forbidden[f] = true
	}
	for c := range p.len() {
		before := int32(ChainEnd)
		for _, v := range p.chain(c) {
			if forbidden[Transition{before, tags[v]}] {
				l.bad(x.Shape(), fmt.Sprintf("node %d has tag %d after %d, which Forbid rules out; %d is the chain's end", v, tags[v], before, ChainEnd))
			}
			before = tags[v]
		}
		if forbidden[Transition{before, ChainEnd}] {
			l.bad(x.Shape(), fmt.Sprintf("a chain ends with tag %d, which Forbid rules out", before))
		}
	}
}

func (l *CRF) bad(shape []int, why string) {
	panic(&tensor.ShapeError{Op: "sequence.CRF", Shapes: [][]int{slices.Clone(shape)}, Why: why})
}
