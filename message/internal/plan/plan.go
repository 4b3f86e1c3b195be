package plan

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
)

// Plan is a program made ready to run on any graph: its operations in an order in
// which operands come first, each with its shape and its place in scratch.
type Plan struct {
	Program *ir.Program
	Steps   []Step
	Result  Result // how messages become results

	// ScoreIsValue is, of a result that is a [SumWithoutMessage], the score that
	// reads the rows that are summed, as in GATv2; −1: none does. Backward reads
	// these rows once for the score and for the gradients of the weights.
	ScoreIsValue int

	Width     int // scratch elements that an edge needs where values make room for later ones
	BackWidth int // for the values and gradients of backward; without backward, for all values
	NearWidth int // elements of the rows that an edge's steps read where they stand
	TurnWidth int // elements of the matrices that backward reads turned

	Stats      int  // columns of the steps across the in-edges, of which each has statistics for every destination
	StatsEdges bool // a statistic is an edge, or a number of edges
	KeptFloats int  // numbers that the reducers keep beside the result, of each element of a message
	KeptEdges  int  // and edges
}

// Result is how the messages of a tile become results.
type Result uint8

// The ways.
const (
	Stored            Result = iota // a row for each edge
	Reduced                         // by several reducers, or one that looks at each message
	SumOfMessages                   // a sum or a mean
	SumWithoutMessage               // the sum of U times a number for each run; the product is never made
	CommonFactor                    // a sum or a mean of products with what all edges share: it multiplies the sums
)

// Step is one operation of a plan.
type Step struct {
	ops.Step

	Var       int  // of a leaf: which array it reads
	Picked    bool // of a leaf: an edge reads one row of it, the one that a Pick chooses
	PickFrom  int  // of what picks: how many rows there are to choose from
	Attribute int  // where its rows or its mask are
	A, B      int  // the operands' steps; −1: none
	Near      Near // of a Score, an Affine and a MatMul: the leaves that are read where they stand
	Stat      int  // across the in-edges: where its statistics begin in a destination's
	Turned    int  // of a MatMul: where its matrix is kept turned

	Needs   bool // its gradient is wanted
	Fixed   bool // its values are the same on every edge
	InPlace bool // of a leaf: no step reads a copy of it
	Uses    int  // by later steps

	At      int  // where its values begin in an edge's scratch
	BackAt  int  // and in that of backward
	GradAt  int  // where its gradient begins there; −1: has no place
	Skipped bool // backward does not need its values
}

// Near are the leaves' steps that a joined step reads.
type Near struct{ U, V, W int }

// Out is the step that is the message.
func (p *Plan) Out() *Step { return &p.Steps[len(p.Steps)-1] }

// Reducers are the program's.
func (p *Plan) Reducers() []*ops.Reducer { return p.Program.Reducers }

// Plain reports whether the reducer is a plain one, such as Sum, alone: its gradient is the same
// row for every message.
func (p *Plan) Plain() bool { return p.Result >= SumOfMessages }

// Computed is the number of steps whose values are computed.
func (p *Plan) Computed() int {
	if p.Result == SumWithoutMessage || p.Result == CommonFactor {
		return len(p.Steps) - 1
	}
	return len(p.Steps)
}

// Factors returns the operands of the last step of a plan with a common factor: what
// edges differ in, and what is the same on all.
func (p *Plan) Factors() (x, f int) {
	s := p.Out()
	if p.Steps[s.A].Fixed {
		return s.B, s.A
	}
	return s.A, s.B
}

// Operand returns the step of an operand, 0 or 1, of which Op.Reads speaks.
func (p *Plan) Operand(s *Step, k int) int {
	switch {
	case k == 1 && s.Kind.Op().Whole:
		return s.Near.W
	case k == 1:
		return s.B
	case s.Kind == ops.Affine:
		return s.Near.U
	}
	return s.A
}

// InArray reports whether a leaf's values are read where they stand.
func (s *Step) InArray() bool { return s.Kind == ops.LeafE && !s.Picked || s.InPlace }

// Picks reports whether a step takes one of several rows for each edge.
func (s *Step) Picks() bool { return s.Picked || s.Kind.Op().Extra == ops.Choice }

// Gathers reports whether the rows that a leaf reads lie anywhere, so that two
// chunks may want to add to one of them.
func (s *Step) Gathers() bool { return s.Kind == ops.LeafU || s.Kind == ops.LeafW && s.Picked }

// Sums reports whether chunks may have to add to the same row of a leaf, each for a
// run of its edges: W to its one row, V to that of a destination in parts.
func (s *Step) Sums() bool { return s.Kind == ops.LeafV || s.Kind == ops.LeafW && !s.Picked }

// String returns the name of what a step does.
func (s *Step) String() string {
	switch {
	case s.Kind.IsLeaf() && s.Picked:
		return s.Kind.String() + " picked"
	case s.Kind == ops.Unary:
		return s.Unary.String()
	case s.Kind == ops.Binary:
		return s.Binary.String()
	}
	return s.Kind.String()
}

// Operands says which steps a step works on.
func (s *Step) Operands() string {
	switch {
	case s.Kind == ops.Score:
		return fmt.Sprintf(": Dot of LeakyReLU(%d + %d) with %d, which stay where they are", s.Near.U, s.Near.V, s.Near.W)
	case s.Kind == ops.Affine:
		return fmt.Sprintf(": %d, which stays where it is, times %d, plus %d", s.Near.U, s.B, s.Near.V)
	case s.Kind == ops.MatMul:
		return fmt.Sprintf(" of %d by %d, which stays where it is", s.A, s.Near.W)
	case s.B >= 0:
		return fmt.Sprintf(" of %d, %d", s.A, s.B)
	case s.A >= 0:
		return fmt.Sprintf(" of %d", s.A)
	}
	return ""
}
