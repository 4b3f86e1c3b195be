package plan

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/message/internal/ir"
)

// String returns the name of what a step does.
func (s *Step) String() string {
	switch {
	case s.Kind.IsLeaf() && s.Picked:
		return s.Kind.String() + " picked"
	case s.Kind == ir.Unary:
		return s.Unary.String()
	case s.Kind == ir.Binary:
		return s.Binary.String()
	}
	return s.Kind.String()
}

// Operands says which steps a step works on.
func (s *Step) Operands() string {
	switch {
	case s.Kind == ir.Score:
		return fmt.Sprintf(": Dot of LeakyReLU(%d + %d) with %d, which stay where they are", s.Near.U, s.Near.V, s.Near.W)
	case s.Kind == ir.Affine:
		return fmt.Sprintf(": %d, which stays where it is, times %d, plus %d", s.Near.U, s.B, s.Near.V)
	case s.Kind == ir.MatMul:
		return fmt.Sprintf(" of %d by %d, which stays where it is", s.A, s.Near.W)
	case s.B >= 0:
		return fmt.Sprintf(" of %d, %d", s.A, s.B)
	case s.A >= 0:
		return fmt.Sprintf(" of %d", s.A)
	}
	return ""
}
