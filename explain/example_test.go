package explain_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Node 0 hears three others and has the class whose column has the larger sum.
func Example() {
	g := graph.Must(graph.New(4, []int32{1, 2, 3}, []int32{0, 0, 0}))
	x := tensor.Of([]tensor.Float{0, 0, 3, 0, 1, 0, 0, 2}, 4, 2)
	model := func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		m := message.U(x)
		if weight != nil {
			m = m.Mul(message.E(weight))
		}
		return message.UpdateAll(g, m, message.Sum)
	}
	c, err := explain.New(model, g, x, explain.Node{Number: 0, Hops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("class %d, probability %.2f\n", c.Class, c.Probability())
	e := c.Integrated(0)
	for _, edge := range e.TopEdges(2) {
		fmt.Printf("node %d: %+.1f\n", c.Graph.From().Src[c.Graph.In().Cols[edge]], e.Edges[edge])
	}
	f := c.Fidelity(e, explain.Part{Edges: 1})
	fmt.Printf("without the first %.2f, with it alone %.2f\n", f.Probability-f.Plus, f.Probability-f.Minus)
	// Output:
	// class 0, probability 0.88
	// node 1: +3.0
	// node 2: +1.0
	// without the first 0.27, with it alone 0.95
}

// Nodes 0, 3 and 6 hear two others each, of which one says which class they have. What was
// learnt of the first two tells which of the third's edges it is.
func ExamplePGExplainer() {
	g := graph.Must(graph.New(9, []int32{1, 2, 4, 5, 7, 8}, []int32{0, 0, 3, 3, 6, 6}))
	x := tensor.New(9, 2)
	for _, v := range []int{1, 4, 7} {
		x.Row(v)[0], x.Row(v + 1)[1] = 3, 0.1
	}
	model := func(t *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		m := message.U(x)
		if weight != nil {
			m = m.Mul(message.E(weight))
		}
		return message.UpdateAll(g, m, message.Sum)
	}
	var cases []*explain.Case
	for _, v := range []int32{0, 3, 6} {
		c, err := explain.New(model, g, x, explain.Node{Number: v, Hops: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		cases = append(cases, c)
	}
	l := &explain.PGExplainer{LR: 0.02}
	if err := l.Fit(x, cases[:2]); err != nil { // the model has learnt nothing but the features
		fmt.Println(err)
		return
	}
	e := l.Explain(cases[2])
	best := cases[2].Graph.In().Cols[e.TopEdges(1)[0]]
	fmt.Println("the first edge comes from node", cases[2].Graph.From().Src[best])
	// Output: the first edge comes from node 7
}
