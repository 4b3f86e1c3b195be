package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Shape is the width of a kernel's rows: heads of some columns each.
type Shape struct{ Heads, Dim int }

// Width is that of all heads together.
func (s Shape) Width() int { return s.Heads * s.Dim }

func (s Shape) String() string {
	if s.Heads == 1 {
		return strconv.Itoa(s.Dim)
	}
	return fmt.Sprintf("%dx%d", s.Heads, s.Dim)
}

// Case is where something is timed unless the command line says otherwise: a graph of
// graphSizes and a width.
type Case struct {
	graph string
	Shape
}

// At returns one width on the graphs of some names.
func At(heads, dim int, graphs ...string) []Case {
	var out []Case
	for _, g := range graphs {
		out = append(out, Case{g, Shape{heads, dim}})
	}
	return out
}

// Place is a graph and a width.
type Place struct {
	Graph *Graph
	Shape Shape
}

// GraphOr returns the graph that was chosen, or the one of a name.
func (c *Choice) GraphOr(name string) *Graph { return cmp.Or(c.Graph, known[name]) }

// Cases returns where something is timed, each place once.
func (c *Choice) Cases(on []Case) []Place {
	var out []Place
	for _, at := range on {
		shape := at.Shape
		if c.Heads > 0 {
			shape = Shape{c.Heads, max(1, shape.Width()/c.Heads)}
		}
		dims := c.Dims
		if dims == nil {
			dims = []int{shape.Dim}
		}
		for _, dim := range dims {
			if p := (Place{c.GraphOr(at.graph), Shape{shape.Heads, dim}}); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}
