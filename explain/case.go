package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Model returns the logits of the nodes of g, a column for each class. x is their
// features. weight is E×1, or nil for 1 everywhere: what an edge carries is
// multiplied by it, after all normalisation, so that 0 leaves the edge out and
// changes no other. The convolutions of package layers do so by their In.Weight; of
// those that normalise, pass the rows of [layers.SymmetricWeights] times weight, and
// layers.NormNone. g.From() leads to the edges and nodes of the graph that [New] was
// given, from which such rows come. A model must drop nothing: its tape records.
type Model func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var

// Node is what is asked about.
type Node struct {
	Number int32
	Hops   int // over how many edges the model looks: its layers, where each looks at neighbours only
}

// Case is a question, such as why a node has its class, the class, and all that it depends on.
type Case struct {
	Model    Model
	Graph    *graph.Graph  // the neighbourhood, whose first nodes are those in question; From leads to the whole graph
	Features *tensor.Dense // of the neighbourhood's nodes
	Class    int           // that of the largest logit; set it to ask about another

	open  []int32 // edges that can be left out: no loops, and the class depends on them
	about []int32 // the nodes in question
}

// New returns the case of a node of g with the features x, dense or sparse. The
// error names a node that is not there, or a logit that is no number. It panics with a
// [*tensor.ShapeError] unless x has a row for each node.
func New(m Model, g *graph.Graph, x tensor.Array, at Node) (*Case, error) {
	return near("explain.New", m, g, x, []int32{at.Number}, at.Hops)
}

// NewLink returns the case of a pair of nodes of g, such as a link that is predicted. The
// neighbourhood is that of both: its nodes 0 and 1 are the source and the destination, and
// the model's row 0 is the answer, so a model whose only answer is one number z returns the
// logits of two classes, 0 and z. To ask about an edge of g, leave it out of g.
func NewLink(m Model, g *graph.Graph, x tensor.Array, src, dst int32, hops int) (*Case, error) {
	return near("explain.NewLink", m, g, x, []int32{src, dst}, hops)
}

// NewGraph returns the case of a whole graph, such as a molecule, whose class is the model's
// row 0. Every edge but self-loops can be left out.
func NewGraph(m Model, g *graph.Graph, x tensor.Array) (*Case, error) {
	fits("explain.NewGraph", m, g, x)
	all := make([]int32, g.NumNodes())
	for v := range all {
		all[v] = int32(v)
	}
	whole, err := graph.Subgraph(g, all) // From leads to g
	if err != nil {
		return nil, err
	}
	c := &Case{Model: m, Graph: whole, Features: rowsOf(x, all), about: all}
	to := whole.Destinations()
	for e, u := range whole.In().Cols {
		if u != to[e] {
			c.open = append(c.open, int32(e))
		}
	}
	return c.classified("the graph")
}

// fits panics unless there is a model, and x has a row for each node of g.
func fits(op string, m Model, g *graph.Graph, x tensor.Array) {
	switch {
	case m == nil || g == nil || x == nil:
		panic(&grad.TapeError{Op: op, Why: "the model, the graph or the features are nil"})
	case g.Bipartite():
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumSrc(), g.NumDst()}}, Why: "the graph is bipartite, and the model reads the nodes of one graph"})
	case len(x.Shape()) != 2 || x.Shape()[0] != g.NumNodes():
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("the features have %d rows, and the graph %d nodes: want a row for each", x.Shape()[0], g.NumNodes())})
	}
}

// near returns the case of some nodes.
func near(op string, m Model, g *graph.Graph, x tensor.Array, about []int32, hops int) (*Case, error) {
	fits(op, m, g, x)
	for _, v := range about {
		if v < 0 || int(v) >= g.NumNodes() {
			return nil, fmt.Errorf("explain: there is no node %d: the graph has the nodes 0 to %d", v, g.NumNodes()-1)
		}
	}
	if hops < 0 {
		return nil, fmt.Errorf("explain: a neighbourhood of %d hops, want 0 or more", hops)
	}
	around, err := graph.Neighbourhood(g, about, hops)
	if err != nil {
		return nil, err
	}
	c := &Case{Model: m, Graph: around, Features: rowsOf(x, around.From().Src), open: open(around, len(about), hops)}
	for i := range about {
		c.about = append(c.about, int32(i))
	}
	return c.classified(fmt.Sprintf("node %d", about[0]))
}

// classified returns c with the class of the largest logit.
func (c *Case) classified(what string) (*Case, error) {
	logits := c.logits(nil, grad.Const(c.Features), nil).Value().Data
	if i := slices.IndexFunc(logits, func(v tensor.Float) bool { return v-v != 0 }); i >= 0 {
		return nil, fmt.Errorf("explain: the model's logit %d of %s is %v", i, what, logits[i])
	}
	for j, v := range logits {
		if v > logits[c.Class] {
			c.Class = j
		}
	}
	return c, nil
}

// number returns a node's number in the whole graph.
func (c *Case) number(v int32) int32 { return c.Graph.From().Src[v] }

// rowsOf returns some rows of features, dense.
func rowsOf(x tensor.Array, rows []int32) *tensor.Dense {
	out := tensor.New(len(rows), x.Shape()[1])
	for i, v := range rows {
		row := out.Row(i)
		switch x := x.(type) {
		case *tensor.Dense:
			copy(row, x.Row(int(v)))
		case *sparse.CSR:
			cols, values := x.Row(int(v))
			for k, j := range cols {
				if values == nil {
					row[j]++
				} else {
					row[j] += values[k]
				}
			}
		}
	}
	return out
}

// open returns the edges into nodes that are fewer than that many hops from one of the
// first nodes, but for self-loops.
func open(g *graph.Graph, about, hops int) []int32 {
	reached := make([]bool, g.NumNodes())
	var inner []int32
	for v := range about {
		reached[v] = true
		inner = append(inner, int32(v))
	}
	for first := 0; hops > 1 && first < len(inner); hops-- {
		last := len(inner)
		for _, v := range inner[first:last] {
			for _, u := range g.Sources(int(v)) {
				if !reached[u] {
					reached[u] = true
					inner = append(inner, u)
				}
			}
		}
		first = last
	}
	var edges []int32
	if hops < 1 {
		return edges
	}
	to := g.Destinations()
	for e, u := range g.In().Cols {
		if v := to[e]; u != v && reached[v] {
			edges = append(edges, int32(e))
		}
	}
	return edges
}

// Edges returns the edges of Graph that can be left out, ascending: those that the
// class depends on, without self-loops. They must not be modified.
func (c *Case) Edges() []int32 { return c.open }

// logits returns those of the node, 1×classes.
func (c *Case) logits(t *grad.Tape, x, weight *grad.Var) *grad.Var {
	y := c.Model(t, c.Graph, x, weight)
	if y == nil || c.Class < 0 || c.Class >= y.Dim(-1) {
		panic(&grad.TapeError{Op: "explain.Case", Why: fmt.Sprintf("Class is %d, and the model returns no logit for it", c.Class)})
	}
	return y.Rows([]int32{0})
}

// logit returns that of the class, one element.
func (c *Case) logit(t *grad.Tape, x, weight *grad.Var) *grad.Var {
	return c.logits(t, x, weight).Columns(c.Class, c.Class+1).Sum()
}

// weights returns E×1 weights: v for the edges that can be left out, 1 for others.
func (c *Case) weights(v float64) *tensor.Dense {
	w := tensor.New(c.Graph.NumEdges(), 1)
	w.Fill(1)
	for _, e := range c.open {
		w.Data[e] = tensor.Float(v)
	}
	return w
}

// Probability returns the model's probability of the class.
func (c *Case) Probability() float64 { return c.probability(c.Features, c.weights(1)) }

// probability returns that of the class with other features and weights.
func (c *Case) probability(x, weight *tensor.Dense) float64 {
	p, _ := c.chance(x, weight)
	return p
}

// chance returns the probability of the class for such features and weights of edges, and whether
// it is the likeliest: of equal ones the lowest is.
func (c *Case) chance(x, weight *tensor.Dense) (p float64, likeliest bool) {
	row := c.logits(nil, grad.Const(x), grad.Const(weight)).Value().Data
	sum, best := 0.0, 0
	for k, v := range row {
		sum += math.Exp(float64(v) - float64(row[c.Class]))
		if v > row[best] {
			best = k
		}
	}
	return 1 / sum, best == c.Class
}
