package compose

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The layer that checks is op, and errors name it.

// BadShape panics with a [*tensor.ShapeError] about x.
func BadShape(op string, x *grad.Var, why string) {
	panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: why})
}

// BadGraph panics with a [*tensor.ShapeError] about the sides of g.
func BadGraph(op string, g *graph.Graph, why string) {
	panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumSrc(), g.NumDst()}}, Why: why})
}

// WantWidth panics unless the input of some name is as wide as the layer's field says.
func WantWidth(op, name string, x *grad.Var, want int, field string) {
	if n := x.Dim(-1); n != want {
		BadShape(op, x, fmt.Sprintf("%s has %d columns, %s is %d", name, n, field, want))
	}
}

// WantGraph panics if there is no graph.
func WantGraph(op string, g *graph.Graph) {
	if g == nil {
		panic(&grad.TapeError{Op: op, Why: "the graph is nil"})
	}
}

// WantVar panics if there is no input of some name.
func WantVar(op, name string, x *grad.Var) {
	if x == nil {
		panic(&grad.TapeError{Op: op, Why: name + " is nil"})
	}
}

// WantNodes panics unless g is a graph of nodes, and x a matrix with a row for each.
func WantNodes(op string, g *graph.Graph, x *grad.Var) {
	WantGraph(op, g)
	WantVar(op, "x", x)
	switch {
	case g.Bipartite():
		BadGraph(op, g, "the graph is bipartite, and the layer reads and returns rows of the same nodes")
	case x.Dim(0) != g.NumNodes():
		BadShape(op, x, fmt.Sprintf("the graph has %d nodes, want a row for each", g.NumNodes()))
	}
	WantMatrix(op, "x", x)
}

// WantMatrix panics unless the input of some name has two axes.
func WantMatrix(op, name string, x *grad.Var) {
	if n := len(x.Shape()); n != 2 {
		BadShape(op, x, fmt.Sprintf("%s has %d axes, want a matrix", name, n))
	}
}

// WantDense panics if the input of some name is sparse, and says what to do instead.
func WantDense(op, name string, x *grad.Var, instead string) {
	if x.IsSparse() {
		BadShape(op, x, fmt.Sprintf("%s is sparse; %s", name, instead))
	}
}

// WantRows panics unless x, each of whose rows goes through a layer without a
// graph, is there and as wide as that wants it.
func WantRows(op string, x *grad.Var, want int, field string) {
	WantVar(op, "x", x)
	WantWidth(op, "x", x, want, field)
}

// WantInit panics unless Init has made p, for a layer whose fields want a matrix
// of so many columns now.
func WantInit(op string, p *grad.Param, columns int) {
	WantMade(op, "weights", p != nil && p.Value != nil)
	if n := p.Value.Dim(-1); n != columns || n == 0 {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(p.Value.Shape())},
			Why: fmt.Sprintf("the weights have %d columns, and the layer's fields say %d: set Out and the others first, then call Init", n, columns)})
	}
}

// SetBefore panics since a field says now what Init has not made.
func SetBefore(op, field string) {
	panic(&grad.TapeError{Op: op, Why: field + " was changed after Init: set it first, then call Init"})
}

// WantParam panics if there is to be p, and Init has not made it.
func WantParam(op string, p *grad.Param, wanted bool) {
	WantMade(op, "Params", !wanted || p != nil && p.Value != nil)
}

// WantMade panics unless Init has made what the layer needs, such as its Params.
func WantMade(op, what string, made bool) {
	if !made {
		panic(&grad.TapeError{Op: op, Why: "it has no " + what + "; was Init called?"})
	}
}
