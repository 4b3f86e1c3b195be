package docs_test

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

var inf = math.Inf(1)

// odd is a graph with parallel edges, loops, a node that nobody hears and one that hears
// nobody.
func odd() *graph.Graph {
	src := []int32{0, 1, 1, 2, 3, 4, 5, 6, 0, 3, 2, 2, 6}
	dst := []int32{1, 2, 2, 2, 0, 0, 0, 0, 0, 5, 1, 3, 0}
	return graph.Must(graph.New(8, src, dst))
}

// param is a Param of random numbers.
func param(seed uint64, shape ...int) *grad.Param {
	p := grad.NewParam(shape...)
	p.Value.Normal(rand.New(rand.NewPCG(seed, 1)), 0, 1)
	return p
}

// vars is a constant of these numbers, and column one of a column of them.
func vars(shape []int, x ...float64) *grad.Var {
	d := tensor.New(shape...)
	for i, v := range x {
		d.Data[i] = tensor.Float(v)
	}
	return grad.Const(d)
}

func column(x ...float64) *grad.Var { return vars([]int{len(x), 1}, x...) }
