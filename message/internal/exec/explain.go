package exec

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// Explain says in words how [Run] will run a call.
func Explain(c *Call, walk bool) string {
	p, g := c.Plan, c.Graph
	var b strings.Builder
	fit, most := tileEdges(p, false)
	fmt.Fprintf(&b, "tiles: %d edges at a time, %d elements of scratch an edge (forward)\n", fit, p.Width)
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "  %2d %-14s %v%s%s\n", i, s, s.Shape, s.Operands(), byOffset(c, s))
	}
	switch {
	case walk:
		fmt.Fprintf(&b, "  in one walk of each destination's edges; with scores above %d, or backward more than %d edges, in tiles\n", attend.GATv2InRange, attend.GATv2Most)
	case p.Result == plan.SumWithoutMessage:
		fmt.Fprintf(&b, "  summed onto %d destinations by reading U where it stands\n", g.NumDst())
	case p.Result == plan.Stored:
		fmt.Fprintf(&b, "  stored for %d edges\n", g.NumEdges())
	default:
		fmt.Fprintf(&b, "  reduced by %v onto %d destinations\n", p.Reducers(), g.NumDst())
	}
	explainBackward(&b, p)
	if k := p.Stats; k > 0 {
		fmt.Fprintf(&b, "each step across the in-edges keeps two numbers a column for every destination: %d numbers\n", 2*k*g.NumDst())
	}
	if w := widest(g); w > most {
		fmt.Fprintf(&b, "destinations with more than %d edges, up to %d, run in parts\n", most, w)
	}
	return b.String()
}

// byOffset says how a step picks that has no list of kinds.
func byOffset(c *Call, s *plan.Step) string {
	if !s.Picks() || !c.Attributes[s.Attribute].ByOffset {
		return ""
	}
	x := &c.Attributes[s.Attribute]
	return fmt.Sprintf(", by offset from %d to %d", x.Lo, x.Hi)
}

// explainBackward says what backward does again, and how gradients travel.
func explainBackward(b *strings.Builder, p *plan.Plan) {
	if !p.Out().Needs {
		return
	}
	again, scatters, stays := 0, "", ""
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Skipped {
			again++
		}
		switch {
		case !s.Kind.IsLeaf() || !s.Needs:
		case s.Gathers():
			scatters += " " + s.String()
		default:
			stays += " " + s.String()
		}
	}
	fit, _ := tileEdges(p, true)
	fmt.Fprintf(b, "backward: one traversal by destination, %d edges at a time, computes %d of the %d steps again\n",
		fit, again, len(p.Steps))
	if p.ScoreIsValue >= 0 {
		fmt.Fprintf(b, "  the rows that are summed are those that are scored: backward reads them once for both\n")
	}
	if stays != "" {
		fmt.Fprintf(b, "  gradients added where they arise:%s\n", stays)
	}
	if scatters != "" {
		fmt.Fprintf(b, "  gradients gathered by source through a window of edges:%s\n", scatters)
	}
}

// widest returns the largest number of edges into one destination.
func widest(g *graph.Graph) int {
	most := 0
	for v := range g.NumDst() {
		most = max(most, g.InDegree(v))
	}
	return most
}
