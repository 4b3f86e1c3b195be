package mistake

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Panic panics in the name of op, a function, about a shape, or nil if it is not a shape that is wrong.
func Panic(op string, shape []int, format string, args ...any) {
	e := &tensor.ShapeError{Op: op, Why: fmt.Sprintf(format, args...)}
	if shape != nil {
		e.Shapes = [][]int{shape}
	}
	panic(e)
}

// sided is *graph.Graph, which this package does not import.
type sided interface {
	comparable
	Bipartite() bool
	NumSrc() int
	NumDst() int
}

// Nil panics if g is nil.
func Nil[G comparable](op string, g G) {
	var none G
	if g == none {
		Panic(op, nil, "the graph is nil")
	}
}

// Homogeneous panics if g is nil, or bipartite, where op has no meaning.
func Homogeneous[G sided](op string, g G) {
	Nil(op, g)
	if g.Bipartite() {
		Panic(op, []int{g.NumSrc(), g.NumDst()}, "the graph is bipartite, want the same nodes on both sides")
	}
}

// Length panics unless a list has one entry for each of some things: "3 kinds for 4 edges".
func Length(op, list string, got int, things string, want int) {
	if got != want {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{got}, {want}}, Why: fmt.Sprintf("%d %s for %d %s, want one of each", got, list, want, things)})
	}
}

// NotNegative panics if n, a number of some things, is negative.
func NotNegative(op, things string, n int) {
	if n < 0 {
		Panic(op, []int{n}, "the number of %s is negative", things)
	}
}

// Counts returns an error if int32 numbers do not suffice for the nodes and edges of a graph.
func Counts[E int | int64](nSrc, nDst int, edges E) error {
	for _, c := range []struct {
		n    int64
		what string
	}{{int64(nSrc), "source nodes"}, {int64(nDst), "destination nodes"}, {int64(edges), "edges"}} {
		if c.n > math.MaxInt32 {
			return fmt.Errorf("graph: too many %s: %d, at most %d", c.what, c.n, math.MaxInt32)
		}
	}
	return nil
}

// Range returns the range of n numbers, for messages.
func Range(n int) string {
	if n == 0 {
		return "an empty range"
	}
	return fmt.Sprintf("0..%d", n-1)
}
