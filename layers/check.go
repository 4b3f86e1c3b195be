package layers

import (
	"cmp"
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// wants is what a layer wants of its inputs. Errors name the layer, op.
type wants struct {
	op       string
	own      bool        // it reads the destinations' features: without In.Dst these are sources
	source   bool        // it reads them as those of sources, and no In.Dst
	hops     int         // how many times in a row what it returns is read again
	src      *grad.Param // multiplies the sources' features; nil: they may have any width
	srcField string      // the field that says how wide these are; empty: In
	width    *int        // how wide these are, where src does not say it; nil: any
	dst      *grad.Param // multiplies the destinations'; nil: they are as wide as the sources'
	dstField string      // the field that says how wide these are
	edge     int         // width of the edges' features; 0: there are none
}

// check panics unless the inputs are there, with a row for each node or edge of g
// and as wide as the layer's Params want them.
func (in In) check(g *graph.Graph, w wants) {
	compose.WantGraph(w.op, g)
	switch {
	case in.Src == nil:
		panic(&grad.TapeError{Op: w.op, Why: "there are no features: x, or In.Src, is nil"})
	case w.hops < 0:
		panic(&grad.TapeError{Op: w.op, Why: fmt.Sprintf("it has %d hops; want 0 or more", w.hops)})
	case w.hops > 1 && g.Bipartite():
		compose.BadGraph(w.op, g, fmt.Sprintf("%d hops leave the bipartite graph after the first; take the seeds' Neighbourhood of as many hops", w.hops))
	case w.own && in.Dst == nil && g.DstRows() == nil:
		compose.BadGraph(w.op, g, "the destinations of the graph are none of its sources, so In.Dst is needed")
	case w.source && g.DstRows() == nil:
		compose.BadGraph(w.op, g, "the destinations of the graph are none of its sources, whose features the layer reads; take a block or a view of a graph")
	}
	w.rows("x", in.Src, g.NumSrc(), "sources")
	if w.src != nil || w.width != nil {
		compose.WantMatrix(w.op, "x", in.Src)
	}
	width := in.Src.Dim(-1)
	switch {
	case w.src != nil:
		compose.WantWidth(w.op, "x", in.Src, w.src.Value.Dim(0), cmp.Or(w.srcField, "In"))
	case w.width != nil:
		compose.WantWidth(w.op, "x", in.Src, *w.width, cmp.Or(w.srcField, "In"))
	}
	switch {
	case in.Dst == nil && w.own && w.dst != nil && w.dst.Value.Dim(0) != width:
		compose.BadShape(w.op, in.Src, fmt.Sprintf("x has %d columns, %s is %d: give In.Dst, or let the two agree", width, w.dstField, w.dst.Value.Dim(0)))
	case in.Dst != nil:
		w.rows("In.Dst", in.Dst, g.NumDst(), "destinations")
		field := w.dstField
		if w.dst != nil {
			width = w.dst.Value.Dim(0)
		} else {
			field = "the width of x"
		}
		compose.WantWidth(w.op, "In.Dst", in.Dst, width, field)
	}
	in.checkEdges(g, w)
}

// checkEdges is check of what the edges carry.
func (in In) checkEdges(g *graph.Graph, w wants) {
	switch {
	case in.Edge == nil && w.edge > 0:
		compose.BadShape(w.op, in.Src, fmt.Sprintf("EdgeIn is %d, so In.Edge is needed", w.edge))
	case in.Edge != nil && w.edge == 0:
		compose.BadShape(w.op, in.Edge, "In.Edge is given, but EdgeIn is 0")
	case in.Edge != nil:
		w.rows("In.Edge", in.Edge, g.NumEdges(), "edges")
		compose.WantWidth(w.op, "In.Edge", in.Edge, w.edge, "EdgeIn")
	}
	if in.Weight != nil {
		w.rows("In.Weight", in.Weight, g.NumEdges(), "edges")
	}
}

func (w wants) rows(name string, x *grad.Var, want int, what string) {
	if n := x.Dim(0); n != want {
		compose.BadShape(w.op, x, fmt.Sprintf("%s has %d rows, and the graph %d %s", name, n, want, what))
	}
}
