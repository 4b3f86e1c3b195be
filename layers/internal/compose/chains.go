package compose

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ChainOf returns the number of the chain of each node of g, chains of any lengths.
func ChainOf(g *graph.Graph) []int32 { return graph.Membership(g).Destinations() }

type endsKey struct{ last bool }

// FirstNodes returns the graph from the first node of each chain of g to the chain. An empty
// chain hears nothing.
func FirstNodes(g *graph.Graph) *graph.Graph { return chainEnds(g, false) }

// LastNodes is FirstNodes of the last node of each chain.
func LastNodes(g *graph.Graph) *graph.Graph { return chainEnds(g, true) }

func chainEnds(g *graph.Graph, last bool) *graph.Graph {
	return graph.Derive(g, endsKey{last}, func() *graph.Graph {
		nodes := g.Roots()
		if last {
			nodes = g.Sinks()
		}
		of, dst := ChainOf(g), make([]int32, len(nodes))
		for i, v := range nodes {
			dst[i] = of[v]
		}
		return graph.Must(graph.NewBipartite(g.NumNodes(), len(g.NodeOffsets())-1, nodes, dst))
	})
}

// Vocabulary is the tokens that a layer op reads on a side, those of a table of so many rows as a
// field says. Begin is no row of it: NoBegin where every token is.
type Vocabulary struct {
	Op, Side, Field string
	Size            int
	Begin           int32
}

// NoBegin is where no token stands for the beginning.
const NoBegin = math.MinInt32

// Want panics unless each node of g has a token, and each token is of the vocabulary.
func (v Vocabulary) Want(g *graph.Graph, tokens []int32) {
	WantGraph(v.Op, g)
	if g.Bipartite() {
		BadGraph(v.Op, g, "the "+v.Side+" graph is bipartite, and its nodes are the tokens")
	}
	if len(tokens) != g.NumNodes() {
		v.bad(tokens, fmt.Sprintf("the %s graph has %d nodes, want a token for each", v.Side, g.NumNodes()))
	}
	v.WantEach(tokens)
}

// WantEach panics unless each token is of the vocabulary.
func (v Vocabulary) WantEach(tokens []int32) {
	for i, w := range tokens {
		if w != v.Begin && (w < 0 || int(w) >= v.Size) {
			v.bad(tokens, fmt.Sprintf("%s token %d is %d, and %s is %d; encode the text with the vocabulary that the network was made for", v.Side, i, w, v.Field, v.Size))
		}
	}
}

func (v Vocabulary) bad(tokens []int32, why string) {
	panic(&tensor.ShapeError{Op: v.Op, Shapes: [][]int{{len(tokens)}}, Why: why})
}
