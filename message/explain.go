package message

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
)

// Explain says in words how UpdateAll(g, m, rs...) will run, or without
// reducers ApplyEdges(g, m). What did run is among [grad.Tape.Operations].
func Explain(g *graph.Graph, m Msg, rs ...Reducer) string {
	if name := kernelOf(g, &m, rs); name != "" {
		return "kernel: " + name + "\n"
	}
	p := planned("message.Explain", g, &m, rs)
	var b strings.Builder
	fit, most := p.tileEdges(false)
	fmt.Fprintf(&b, "tiles: %d edges at a time, %d elements of scratch an edge (forward)\n", fit, p.width)
	for i := range p.steps {
		s := &p.steps[i]
		fmt.Fprintf(&b, "  %2d %-14s %v%s\n", i, s.describe(), s.shape, s.operands())
	}
	switch {
	case p.scored:
		fmt.Fprintf(&b, "  in one walk of each destination's edges; with scores above %d, or backward more than %d edges, in tiles\n", simd.ScoredTame, simd.ScoredMost)
	case p.lazy:
		fmt.Fprintf(&b, "  summed onto %d destinations by reading U where it stands\n", g.NumDst())
	case len(rs) > 0:
		fmt.Fprintf(&b, "  reduced by %v onto %d destinations\n", rs, g.NumDst())
	default:
		fmt.Fprintf(&b, "  stored for %d edges\n", g.NumEdges())
	}
	p.explainBackward(&b)
	if k := p.nStat; k > 0 {
		fmt.Fprintf(&b, "each step across the in-edges keeps two numbers a column for every destination: %d numbers\n", 2*k*g.NumDst())
	}
	if w := widest(g); w > most {
		fmt.Fprintf(&b, "destinations with more than %d edges, up to %d, run in parts\n", most, w)
	}
	return b.String()
}

// explainBackward says what backward does again, and how gradients travel.
func (p *plan) explainBackward(b *strings.Builder) {
	if !p.out().needs {
		return
	}
	again, scatters, stays := 0, "", ""
	for i := range p.steps {
		s := &p.steps[i]
		if !s.dead {
			again++
		}
		switch {
		case s.kind > leafW || !s.needs:
		case s.gathers():
			scatters += " " + s.describe()
		default:
			stays += " " + s.describe()
		}
	}
	fit, _ := p.tileEdges(true)
	fmt.Fprintf(b, "backward: one traversal by destination, %d edges at a time, computes %d of the %d steps again\n",
		fit, again, len(p.steps))
	if p.both >= 0 {
		fmt.Fprintf(b, "  the rows that are summed are those that are scored: backward reads them once for both\n")
	}
	if stays != "" {
		fmt.Fprintf(b, "  gradients added where they arise:%s\n", stays)
	}
	if scatters != "" {
		fmt.Fprintf(b, "  gradients gathered by source through a window of edges:%s\n", scatters)
	}
}

func (s *step) describe() string {
	switch s.kind {
	case leafU, leafV, leafE, leafW:
		if s.taken {
			return leafNames[s.kind] + " picked"
		}
		return leafNames[s.kind]
	case unary:
		return s.un.String()
	case binary:
		return s.bin.String()
	}
	return kindNames[s.kind]
}

func (s *step) operands() string {
	switch {
	case s.kind == score:
		return fmt.Sprintf(": Dot of LeakyReLU(%d + %d) with %d, which stay where they are", s.ends.u, s.ends.v, s.ends.w)
	case s.kind == affine:
		return fmt.Sprintf(": %d, which stays where it is, times %d, plus %d", s.ends.u, s.b, s.ends.v)
	case s.kind == matMul:
		return fmt.Sprintf(" of %d by %d, which stays where it is", s.a, s.ends.w)
	case s.b >= 0:
		return fmt.Sprintf(" of %d, %d", s.a, s.b)
	case s.a >= 0:
		return fmt.Sprintf(" of %d", s.a)
	}
	return ""
}

// widest returns the largest number of edges into one destination.
func widest(g *graph.Graph) int {
	most := 0
	for v := range g.NumDst() {
		most = max(most, g.InDegree(v))
	}
	return most
}

var kindNames = [...]string{expand: "stretch", dotLast: "Dot", sumLast: "SumLast", maxLast: "MaxLast",
	logSumExpLast: "LogSumExpLast", pick: "Pick", dropout: "Dropout", softmax: "Softmax", logSoftmax: "LogSoftmax",
	scaleBy: "Mul by runs", score: "U+V score", affine: "U times + V", matMul: "MatMul", gumbel: "draw", normalise: "Normalise", topK: "TopK"}
