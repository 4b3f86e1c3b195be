package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Unary is a function of one element, which may take a constant c. [Named] finds
// it by its name, which String prints: Scale (c·x), Shift (x + c), Neg, ReLU,
// LeakyReLU (c·x where x is not above 0), ELU (c·(eˣ − 1) there), Sigmoid, Tanh,
// Softplus, SiLU, Exp, Log, Sqrt, Abs, Sign, Square, Reciprocal, GELU, GELUTanh,
// SELU, Sin, Cos and Pow (xᶜ).
type Unary uint8

func (f Unary) String() string { return vec.Unary(f).String() }

// Binary is a function of two elements. [Named] finds it by its name, which String
// prints: Add, Sub, Mul, Div, Min and Max.
type Binary uint8

func (f Binary) String() string { return vec.Binary(f).String() }

// Named returns the function of a name, for [Apply] and [Combine]:
//
//	exp, err := tensor.Named[tensor.Unary]("Exp")
func Named[F Unary | Binary](name string) (F, error) {
	var none F
	names := vec.BinaryNames()
	what := "two elements"
	if _, one := any(none).(Unary); one {
		names, what = vec.UnaryNames(), "one element"
	}
	i := slices.Index(names, name)
	if i < 0 {
		return none, fmt.Errorf("tensor: no function of %s is called %q; there are %s", what, name, strings.Join(names, ", "))
	}
	return F(i), nil
}
