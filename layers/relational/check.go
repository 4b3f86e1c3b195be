package relational

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// typesOf returns the types of nodes in order, so that a seed gives the same Params.
func typesOf(in map[string]int) []string { return slices.Sorted(maps.Keys(in)) }

// linears returns a layer for each type of node.
func linears(rng *rand.Rand, in map[string]int, out int, noBias bool) map[string]*layers.Linear {
	ls := map[string]*layers.Linear{}
	for _, name := range typesOf(in) {
		ls[name] = &layers.Linear{In: in[name], Out: out, NoBias: noBias}
		ls[name].Init(rng)
	}
	return ls
}

// wantHeads panics unless the width of the result can be cut into the heads, and the
// ends of the relations are types of nodes.
func wantHeads(op string, in map[string]int, out, heads int, rels []hetero.Rel) {
	if out%heads != 0 {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Out %d cannot be cut into %d Heads", out, heads)})
	}
	for _, r := range rels {
		for _, end := range []string{r.Src, r.Dst} {
			if _, ok := in[end]; !ok {
				panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("relation %v: In has no width for the type %s", r, end)})
			}
		}
	}
}

// wantNodes panics unless h has the relations, and x the features of the types.
func wantNodes(op string, in map[string]int, rels []hetero.Rel, h *hetero.Graph, x map[string]*grad.Var) {
	if h == nil {
		panic(&grad.TapeError{Op: op, Why: "the graph is nil"})
	}
	for _, name := range typesOf(in) {
		if x[name] == nil {
			panic(&grad.TapeError{Op: op, Why: "there are no features of the type " + name})
		}
		compose.WantMatrix(op, "x of "+name, x[name])
		compose.WantWidth(op, "x of "+name, x[name], in[name], "In of it")
		if n := h.NumNodes(name); x[name].Dim(0) != n {
			compose.BadShape(op, x[name], fmt.Sprintf("x of %s has %d rows, and the graph %d nodes of it", name, x[name].Dim(0), n))
		}
	}
	for _, r := range rels {
		if h.Graph(r) == nil {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("the graph has no relation %v", r)})
		}
	}
}

// destinations returns the rows of x, the nodes of a type, that are destinations: of a block the
// first ones.
func destinations(h *hetero.Graph, of string, x *grad.Var) *grad.Var {
	n := h.NumDst(of)
	switch {
	case n == x.Dim(0):
		return x
	case x.IsSparse():
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i)
		}
		return x.Rows(rows)
	}
	return x.RowRange(0, n)
}

// onlySends reports whether a block has nodes of a type, none of which is a destination: nothing is
// computed into them.
func onlySends(h *hetero.Graph, of string) bool { return h.NumDst(of) == 0 && h.NumNodes(of) > 0 }
